import { expect } from "chai";
import { cheapHashing, deriveCheaply, FoundedCluster, refused, secrets } from "../../test/index.ts";
import { CoordinationError } from "../state/index.ts";
import { Access } from "./access.ts";
import type { HashJob } from "./hash-queue.ts";
import { accountName, Logins } from "./login.ts";
import type { Derive } from "./password.ts";
import type { HashLane } from "./password-hashing.ts";

const DEADLINE_MS = 15_000;

describe("Logins", () => {
  let cluster: FoundedCluster;
  let logins: Logins;

  beforeEach(() => {
    cluster = new FoundedCluster();
    logins = new Logins(cluster, cluster.clock, cheapHashing);
  });

  function orderOf(email: string, client = "192.0.2.1"): HashJob {
    return { client, account: accountName(email), deadlineMs: DEADLINE_MS };
  }

  async function kindOf(password: string, email = secrets.email): Promise<string> {
    return (await logins.login(email, password, orderOf(email))).kind;
  }

  it("give a valid token, with the default lifetime and without an API key", async () => {
    const outcome = await logins.login(secrets.email, secrets.password, orderOf(secrets.email));
    if (outcome.kind !== "accepted") {
      return expect.fail(outcome.kind);
    }
    expect(outcome.user).include({ userId: cluster.ownerId, email: secrets.email, role: "owner" });
    expect(outcome.issued.expiresInSecs).equal(3_600);
    const access = new Access(cluster, cluster.clock);
    const { principal, claims } = await access.authenticate([`Bearer ${outcome.issued.accessToken}`], DEADLINE_MS);
    expect(principal).deep.equal({ subject: cluster.ownerId, apiKeyId: "" });
    expect(claims).deep.include({ role: "owner", namespaces: ["*"], access: ["read", "write", "admin"] });
    expect(cluster.barriers).deep.equal([DEADLINE_MS]);
  });

  it("find the address in any case, and refuse every other password in the same way", async () => {
    expect(await kindOf(secrets.password, secrets.email.toUpperCase())).equal("accepted");
    for (const password of ["", secrets.password.toUpperCase(), `${secrets.password} `, "x".repeat(2_000)]) {
      expect(await kindOf(password), password.slice(0, 40)).equal("invalid-credentials");
    }
  });

  it("refuse an unknown address, even one that is a property of every object", async () => {
    for (const email of ["nobody@quoin.local", "", "__proto__", "owner"]) {
      expect(await kindOf(secrets.password, email), email).equal("invalid-credentials");
    }
  });

  it("hash as long for an unknown address as for a known one", async () => {
    // The cost of a hash follows from its parameters, and from the lengths of salt and key.
    const costs: unknown[] = [];
    const derive: Derive = async (password, salt, bytes, parameters) => {
      const hash = await deriveCheaply(password, salt, bytes, parameters);
      costs.push({ saltBytes: salt.length, bytes, ...parameters });
      return hash;
    };
    logins = new Logins(cluster, cluster.clock, { run: (_lane, _order, use) => use(derive) });
    expect(await kindOf("a wrong password")).equal("invalid-credentials");
    expect(costs).deep.equal([{ saltBytes: 16, bytes: 32, ln: 15, r: 8, p: 3 }]);
    expect(await kindOf("a wrong password", "nobody@quoin.local")).equal("invalid-credentials");
    expect(costs).deep.equal([costs[0], costs[0]]);
  });

  it("report an unverified address only to callers with the right password", async () => {
    cluster.changeOwner({ status: "unverified" });
    expect(await kindOf(secrets.password)).equal("email-not-verified");
    expect(await kindOf("a wrong password")).equal("invalid-credentials");
  });

  it("refuse a disabled user, and one without a password", async () => {
    cluster.changeOwner({ status: "disabled" });
    expect(await kindOf(secrets.password)).equal("invalid-credentials");
    cluster.changeOwner({ status: "active", passwordHash: "" });
    expect(await kindOf(secrets.password)).equal("invalid-credentials");
    expect(await kindOf("")).equal("invalid-credentials");
  });

  it("refuse a user who was disabled, or got another password, while the password was hashed", async () => {
    for (const changes of [{ status: "disabled" }, { passwordHash: "another" }] as const) {
      const again = new FoundedCluster();
      const pending = new Logins(again, again.clock, cheapHashing).login(
        ...([secrets.email, secrets.password, orderOf(secrets.email)] as const),
      );
      await Promise.resolve();
      again.changeOwner(changes);
      expect((await pending).kind).equal("invalid-credentials");
    }
  });

  it("decide from the state after the barrier, and not at all if the barrier fails", async () => {
    cluster.onBarrier = (done) => {
      cluster.changeOwner({ status: "disabled" });
      done(null);
    };
    expect(await kindOf(secrets.password)).equal("invalid-credentials");
    cluster.onBarrier = (done) => done(new CoordinationError("NO_LEADER", "no leader is known"));
    expect((await refused(() => logins.login(secrets.email, secrets.password, orderOf(secrets.email)))).reason).equal(
      "NO_LEADER",
    );
  });

  it("are hashed as strangers until they succeed, then as familiar for that account and address", async () => {
    const lanes: HashLane[] = [];
    const hashing: typeof cheapHashing = {
      run: (lane, order, use) => {
        lanes.push(lane);
        return cheapHashing.run(lane, order, use);
      },
    };
    logins = new Logins(cluster, cluster.clock, hashing);
    const laneOf = async (email: string, password: string, client?: string): Promise<HashLane | undefined> => {
      await logins.login(email, password, orderOf(email, client));
      return lanes.at(-1);
    };
    const { email, password } = secrets;
    expect(await laneOf(email, "a wrong password")).equal("strangers");
    expect(await laneOf(email, password)).equal("strangers");
    expect(await laneOf(email.toUpperCase(), password)).equal("familiar");
    expect(await laneOf(email, "a wrong password")).equal("familiar");
    expect(await laneOf(email, password, "192.0.2.2")).equal("strangers");
    expect(await laneOf("nobody@quoin.local", password)).equal("strangers");
  });

  it("use the record as it is at their turn", async () => {
    let onTurn: () => void = () => undefined;
    const hashing: typeof cheapHashing = {
      run: (lane, order, use) => {
        onTurn();
        return cheapHashing.run(lane, order, use);
      },
    };
    logins = new Logins(cluster, cluster.clock, hashing);
    onTurn = () => cluster.changeOwner({ passwordHash: "" });
    expect(await kindOf(secrets.password)).equal("invalid-credentials");
    onTurn = () => cluster.changeOwner({ passwordHash: secrets.founding.owner.passwordHash });
    expect(await kindOf(secrets.password)).equal("accepted");
  });
});
