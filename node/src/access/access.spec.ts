import { expect } from "chai";
import { SingleReplica } from "../../test/harness/index.ts";
import { FoundedCluster, refused, secrets } from "../../test/index.ts";
import { CoordinationError, type RequiredAccess, type Role, readCluster, readSigningKeys } from "../state/index.ts";
import { Access } from "./access.ts";
import { generateApiKey } from "./api-key.ts";
import type { Caller } from "./caller.ts";
import { type Claims, claimsOf } from "./claims.ts";
import { generateSigningKey, SigningRing } from "./signing-ring.ts";
import { signToken, verifySignature } from "./token.ts";

const DEADLINE_MS = 15_000;
const NO_LEADER = new CoordinationError("NO_LEADER", "no leader is known");

describe("Access", () => {
  let cluster: FoundedCluster;
  let access: Access;

  beforeEach(() => {
    cluster = new FoundedCluster();
    access = new Access(cluster, cluster.clock);
  });

  /** Signs a token like a member of the cluster. */
  async function token(changes: Partial<Claims> = {}): Promise<string> {
    const [key] = readSigningKeys(cluster.state);
    const issuedAtSecs = Math.floor(cluster.clock.wall / 1000);
    const claims: Claims = {
      subject: cluster.ownerId,
      issuedAtSecs,
      expiresAtSecs: issuedAtSecs + 60,
      namespaces: ["*"],
      access: ["read", "write", "admin"],
      role: "owner",
      tokenId: "0b7c",
      apiKeyId: cluster.apiKeyId,
      passwordVersion: 0,
      ...changes,
    };
    return sign(claims, key ?? expect.fail("there is a signing key"));
  }

  async function sign(claims: Claims, key: { kid: string; publicKey: Uint8Array; privateKey: Uint8Array }) {
    const privateKey = await new SigningRing().privateKey({ ...key, createdAtMs: 0 });
    return signToken(claims, readCluster(cluster.state)?.clusterId ?? "", key.kid, privateKey);
  }

  async function header(changes: Partial<Claims> = {}): Promise<readonly string[]> {
    return [`Bearer ${await token(changes)}`];
  }

  /** A token that this member has seen before. */
  async function known(changes: Partial<Claims> = {}): Promise<readonly string[]> {
    const values = await header(changes);
    await access.authenticate(values, DEADLINE_MS);
    expect(access.authenticate(values, DEADLINE_MS)).not.to.be.instanceOf(Promise);
    cluster.barriers.length = 0;
    return values;
  }

  async function caller(changes: Partial<Claims> = {}): Promise<Caller> {
    return access.authenticate(await header(changes), DEADLINE_MS);
  }

  describe("authenticate", () => {
    it("returns user, API key and claims, without a barrier; the second time at once", async () => {
      const values = await header({ namespaces: ["a"] });
      const first = access.authenticate(values, DEADLINE_MS);
      expect(first).to.be.instanceOf(Promise);
      const { principal, claims } = await first;
      expect(principal).to.deep.equal({ subject: cluster.ownerId, apiKeyId: cluster.apiKeyId });
      expect(claims.namespaces).to.deep.equal(["a"]);
      expect(access.authenticate(values, DEADLINE_MS)).to.equal(await first);
      expect(cluster.barriers).to.deep.equal([]);
    });

    it("reports every caller with a valid token or API key, and no other", async () => {
      const uses: string[] = [];
      access = new Access(cluster, cluster.clock, ({ apiKeyId }) => uses.push(apiKeyId));
      const values = await header();
      await access.authenticate(values, DEADLINE_MS);
      await access.authenticate(values, DEADLINE_MS);
      await access.exchangeApiKey(secrets.apiKey, null, DEADLINE_MS);
      expect(uses).to.deep.equal(Array(3).fill(cluster.apiKeyId));
      cluster.changeApiKey({ revokedAtMs: 1 });
      await refused(() => access.authenticate(values, DEADLINE_MS));
      expect(await access.exchangeApiKey(secrets.apiKey, null, DEADLINE_MS)).to.equal(null);
      expect(uses).to.have.length(3);
    });

    it("refuses text that cannot be a token before any other check", async () => {
      const good = await token();
      for (const values of [[], [`Bearer ${good}`, `Bearer ${good}`], [`Bearer ${good} `], [`Token ${good}`]]) {
        const error = await refused(() => access.authenticate(values, DEADLINE_MS));
        expect([error.code, error.reason]).to.deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
      }
    });

    it("takes the scheme in lower case", async () => {
      const { principal } = await access.authenticate([`bearer ${await token()}`], DEADLINE_MS);
      expect(principal.subject).to.equal(cluster.ownerId);
    });

    it("refuses a known token from the second of its expiry on (S41)", async () => {
      const values = await known({ expiresAtSecs: Math.floor(cluster.clock.wall / 1000) + 1 });
      cluster.clock.wall += 749;
      expect(access.authenticate(values, DEADLINE_MS)).not.to.be.instanceOf(Promise);
      cluster.clock.wall += 1;
      expect((await refused(() => access.authenticate(values, DEADLINE_MS))).reason).to.equal("TOKEN_EXPIRED");
      expect(cluster.barriers).to.deep.equal([]);
    });

    it("refuses a token of another cluster that shares the signing key", async () => {
      const otherId = "11111111-2222-4333-8444-555555555555";
      const other = new FoundedCluster({ ...secrets.founding, clusterId: otherId });
      const error = await refused(async () => {
        return new Access(other, other.clock).authenticate(await header(), DEADLINE_MS);
      });
      expect(error.reason).to.equal("TOKEN_INVALID");
      expect(error.message).to.include('"aud"');
    });

    it("refuses claims of the wrong type, although the signature is valid (S40)", async () => {
      const values = await header({ namespaces: "prod-eu" as unknown as string[] });
      const error = await refused(() => access.authenticate(values, DEADLINE_MS));
      expect([error.reason, error.message]).to.deep.equal([
        "TOKEN_INVALID",
        'the token\'s claim "namespaces" must be a list of texts',
      ]);
    });

    it("refuses an unknown signing key only after a barrier", async () => {
      const stranger = await generateSigningKey();
      const values = [`Bearer ${await sign((await caller()).claims, stranger)}`];
      const error = await refused(() => access.authenticate(values, DEADLINE_MS));
      expect(error.reason).to.equal("TOKEN_INVALID");
      expect(cluster.barriers).to.deep.equal([DEADLINE_MS]);
    });

    it("takes a signing key that arrives with the barrier", async () => {
      const values = await header();
      const [key] = readSigningKeys(cluster.state);
      const restore = cluster.removeRowOf(key?.kid ?? "");
      cluster.onBarrier = (done) => {
        restore();
        done(null);
      };
      expect((await access.authenticate(values, DEADLINE_MS)).principal.subject).to.equal(cluster.ownerId);
      expect(cluster.barriers.length).to.equal(1);
    });

    const gone: readonly (readonly [string, () => () => void])[] = [
      ["a user that is not there", () => cluster.removeRowOf(cluster.ownerId)],
      ["an API key that is not there", () => cluster.removeRowOf(cluster.apiKeyId)],
      [
        "a disabled user",
        () => {
          cluster.changeOwner({ status: "disabled" });
          return () => cluster.changeOwner({ status: "active" });
        },
      ],
      [
        "a revoked API key",
        () => {
          cluster.changeApiKey({ revokedAtMs: 1 });
          return () => cluster.changeApiKey({ revokedAtMs: 0 });
        },
      ],
      [
        "an API key of another user",
        () => {
          cluster.changeApiKey({ userId: "somebody" });
          return () => cluster.changeApiKey({ userId: cluster.ownerId });
        },
      ],
    ];
    for (const [name, take] of gone) {
      for (const seen of [true, false]) {
        const which = seen ? "a known token" : "a new token";
        it(`refuses ${which} of ${name}, after a barrier`, async () => {
          const values = seen ? await known() : await header();
          take();
          const error = await refused(() => access.authenticate(values, DEADLINE_MS));
          expect([error.code, error.reason]).to.deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
          expect(cluster.barriers).to.deep.equal([DEADLINE_MS]);
        });

        it(`takes ${which} of ${name} if the barrier brings a better record`, async () => {
          const values = seen ? await known() : await header();
          const restore = take();
          cluster.onBarrier = (done) => {
            restore();
            done(null);
          };
          expect((await access.authenticate(values, DEADLINE_MS)).principal.subject).to.equal(cluster.ownerId);
          expect(cluster.barriers.length).to.equal(1);
        });
      }
    }

    it("refuses the tokens of an API key that has expired", async () => {
      const values = await known();
      cluster.changeApiKey({ expiresAtMs: cluster.clock.wall });
      expect((await refused(() => access.authenticate(values, DEADLINE_MS))).reason).to.equal("TOKEN_EXPIRED");
    });

    it("answers NO_LEADER instead of a refusal from a state that may be old", async () => {
      const values = await known();
      cluster.changeApiKey({ revokedAtMs: 1 });
      cluster.onBarrier = (done) => done(NO_LEADER);
      expect(await refused(() => access.authenticate(values, DEADLINE_MS))).to.equal(NO_LEADER);
      const stranger = [`Bearer ${await sign((await caller({ apiKeyId: "" })).claims, await generateSigningKey())}`];
      expect(await refused(() => access.authenticate(stranger, DEADLINE_MS))).to.equal(NO_LEADER);
    });

    it("does not need an API key for the tokens of a login", async () => {
      cluster.changeApiKey({ revokedAtMs: 1 });
      expect((await caller({ apiKeyId: "" })).principal).to.deep.equal({ subject: cluster.ownerId, apiKeyId: "" });
    });
  });

  describe("authorize and recheck", () => {
    const write = (namespace: string): RequiredAccess => ({ access: "write", namespace });

    async function decide(who: Caller, need: RequiredAccess | null): Promise<string> {
      const decisions = [() => access.authorize(who, need, DEADLINE_MS), () => access.recheck(who, need)].map(
        async (decision) => {
          try {
            await decision();
            return "allowed";
          } catch (error) {
            return error instanceof CoordinationError ? error.reason : expect.fail(String(error));
          }
        },
      );
      const [first, second] = await Promise.all(decisions);
      expect(first).to.equal(second);
      return first as string;
    }

    const decisions: readonly (readonly [
      string,
      Partial<Claims>,
      Role,
      readonly string[],
      RequiredAccess | null,
      string,
    ])[] = [
      ["everything allowed", {}, "owner", ["*"], write("a"), "allowed"],
      ["no need", { namespaces: [], access: [] }, "viewer", [], null, "allowed"],
      ["a token for the namespace", { namespaces: ["a"] }, "owner", ["*"], write("a"), "allowed"],
      ["a token for another one", { namespaces: ["b"] }, "owner", ["*"], write("a"), "NAMESPACE_DENIED"],
      [
        "S40: a token for a longer name",
        { namespaces: ["prod-eu"] },
        "owner",
        ["*"],
        write("prod"),
        "NAMESPACE_DENIED",
      ],
      ["a token for none", { namespaces: [] }, "owner", ["*"], write("a"), "NAMESPACE_DENIED"],
      ["a user without the namespace", {}, "admin", ["b"], write("a"), "NAMESPACE_DENIED"],
      ["a user with it", {}, "member", ["b", "a"], write("a"), "allowed"],
      ["a token to read", { access: ["read"] }, "owner", ["*"], write("a"), "ACCESS_DENIED"],
      ["a token that may administrate", { access: ["admin"] }, "owner", ["*"], write("a"), "allowed"],
      ["a viewer", {}, "viewer", ["*"], write("a"), "ACCESS_DENIED"],
      ["a viewer who reads", {}, "viewer", ["*"], { access: "read", namespace: "a" }, "allowed"],
      ["a member who administrates", {}, "member", ["*"], { access: "admin", namespace: "a" }, "ACCESS_DENIED"],
      [
        "no namespace in particular",
        { namespaces: ["b"] },
        "admin",
        ["c"],
        { access: "admin", namespace: null },
        "allowed",
      ],
      ["a namespace called __proto__", { namespaces: ["a"] }, "owner", ["*"], write("__proto__"), "NAMESPACE_DENIED"],
    ];
    for (const [name, claims, role, namespaces, need, expected] of decisions) {
      it(`decide the same about ${name}: ${expected}`, async () => {
        cluster.changeOwner({ role, namespaces });
        expect(await decide(await caller(claims), need)).to.equal(expected);
      });
    }

    it("return at once if the applied state allows it", async () => {
      const who = await caller();
      expect(access.authorize(who, write("a"), DEADLINE_MS)).to.equal(undefined);
      expect(cluster.barriers).to.deep.equal([]);
    });

    it("need no barrier if the token itself does not allow it", async () => {
      const who = await caller({ namespaces: ["b"] });
      cluster.onBarrier = (done) => done(NO_LEADER);
      const error = await refused(() => access.authorize(who, write("a"), DEADLINE_MS));
      expect([error.code, error.reason]).to.deep.equal(["PERMISSION_DENIED", "NAMESPACE_DENIED"]);
      expect(error.message).to.equal("the token does not cover the namespace of the request");
      const whole = await refused(() => access.authorize(who, { access: "admin", namespace: "*" }, DEADLINE_MS));
      expect(whole.message).to.include("a user with admin access to the whole cluster: with the namespace *");
      expect(cluster.barriers).to.deep.equal([]);
    });

    it("refuse by the records after a barrier, unless the barrier brings the grant", async () => {
      const who = await caller();
      cluster.changeOwner({ role: "member", namespaces: ["b"] });
      const error = await refused(() => access.authorize(who, write("a"), DEADLINE_MS));
      expect(error.reason).to.equal("NAMESPACE_DENIED");
      expect(cluster.barriers).to.deep.equal([DEADLINE_MS]);
      cluster.onBarrier = (done) => {
        cluster.changeOwner({ namespaces: ["b", "a"] });
        done(null);
      };
      await access.authorize(who, write("a"), DEADLINE_MS);
      expect(cluster.barriers.length).to.equal(2);
    });

    it("answer NO_LEADER instead of a refusal from a state that may be old", async () => {
      const who = await caller();
      cluster.changeOwner({ role: "viewer" });
      cluster.onBarrier = (done) => done(NO_LEADER);
      expect(await refused(() => access.authorize(who, write("a"), DEADLINE_MS))).to.equal(NO_LEADER);
    });

    it("recheck decides from the applied state only, and sees a demotion, a revocation and an expiry", async () => {
      const who = await caller();
      cluster.onBarrier = () => expect.fail("recheck needs no barrier");
      access.recheck(who, write("a"));
      cluster.changeOwner({ role: "viewer" });
      expect((await refused(() => access.recheck(who, write("a")))).reason).to.equal("ACCESS_DENIED");
      cluster.changeApiKey({ revokedAtMs: 1 });
      expect((await refused(() => access.recheck(who, write("a")))).reason).to.equal("TOKEN_REVOKED");
      cluster.clock.wall += 60_000;
      expect((await refused(() => access.recheck(who, null))).reason).to.equal("TOKEN_EXPIRED");
    });

    it("do not repeat a namespace that is not validated yet", async () => {
      const who = await caller({ namespaces: ["b"] });
      const error = await refused(() => access.authorize(who, write("x".repeat(100_000)), DEADLINE_MS));
      expect(error.message.length).to.be.lessThan(200);
    });
  });

  describe("exchangeApiKey", () => {
    async function claimsFor(expiresInSecs: number | null): Promise<{ claims: Claims; expiresInSecs: number }> {
      const issued = await access.exchangeApiKey(secrets.apiKey, expiresInSecs, DEADLINE_MS);
      const [key] = readSigningKeys(cluster.state);
      if (issued === null || key === undefined) {
        return expect.fail("no token was issued");
      }
      const publicKey = await new SigningRing().publicKey(key);
      const payload = await verifySignature(issued.accessToken, async () => publicKey, cluster.clock.wall);
      const claims = claimsOf(payload, secrets.founding.clusterId, cluster.clock.wall);
      return { claims, expiresInSecs: issued.expiresInSecs };
    }

    it("issues a token for an hour with the present rights of the user", async () => {
      cluster.changeOwner({ role: "member", namespaces: ["a", "b"] });
      const { claims, expiresInSecs } = await claimsFor(null);
      const issuedAtSecs = Math.floor(cluster.clock.wall / 1000);
      expect(expiresInSecs).to.equal(3600);
      expect({ ...claims, tokenId: "" }).to.deep.equal({
        subject: cluster.ownerId,
        issuedAtSecs,
        expiresAtSecs: issuedAtSecs + 3600,
        namespaces: ["a", "b"],
        access: ["read", "write"],
        role: "member",
        tokenId: "",
        apiKeyId: cluster.apiKeyId,
        passwordVersion: 0,
      });
      expect(claims.tokenId).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(cluster.barriers).to.deep.equal([DEADLINE_MS]);
    });

    it("issues tokens that authenticate, each with its own id", async () => {
      const first = await access.exchangeApiKey(secrets.apiKey, null, DEADLINE_MS);
      const second = await access.exchangeApiKey(secrets.apiKey, null, DEADLINE_MS);
      const { principal, claims } = await access.authenticate([`Bearer ${first?.accessToken}`], DEADLINE_MS);
      expect(principal).to.deep.equal({ subject: cluster.ownerId, apiKeyId: cluster.apiKeyId });
      expect(claims.access).to.deep.equal(["read", "write", "admin"]);
      const other = await access.authenticate([`Bearer ${second?.accessToken}`], DEADLINE_MS);
      expect(other.claims.tokenId).not.to.equal(claims.tokenId);
    });

    for (const [asked, given] of [
      [1, 1],
      [60, 60],
      [86_400, 86_400],
      [86_401, 86_400],
      [1e300, 86_400],
    ] as const) {
      it(`gives ${given} s for ${asked} s`, async () => {
        const { claims, expiresInSecs } = await claimsFor(asked);
        expect(expiresInSecs).to.equal(given);
        expect(claims.expiresAtSecs - claims.issuedAtSecs).to.equal(given);
      });
    }

    it("uses the setting without a requested lifetime, up to the maximum", async () => {
      const values = [{ name: "token.lifetime_secs", value: "120" }];
      new SingleReplica(cluster).lead({ kind: "put-settings", values, ifRevision: 0, subject: "admin", request: null });
      expect((await claimsFor(null)).expiresInSecs).to.equal(120);
      expect((await claimsFor(3600)).expiresInSecs).to.equal(3600);
    });

    it("never exceeds the remaining lifetime of the key", async () => {
      cluster.changeApiKey({ expiresAtMs: cluster.clock.wall + 90_000 });
      const { claims, expiresInSecs } = await claimsFor(3600);
      expect(expiresInSecs).to.equal(90);
      expect(claims.expiresAtSecs * 1000).to.be.at.most(cluster.clock.wall + 90_000);
    });

    for (const asked of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      it(`refuses ${asked} s`, async () => {
        const error = await refused(() => access.exchangeApiKey(secrets.apiKey, asked, DEADLINE_MS));
        expect([error.reason, error.details.get("field")]).to.deep.equal(["BAD_FIELD", "expires_in_seconds"]);
      });
    }

    const useless: readonly (readonly [string, () => string])[] = [
      ["a text that is no key", () => "hello"],
      ["an unknown key", () => generateApiKey()],
      ["a key with the right public part only", () => `${secrets.apiKey.slice(0, 12)}${"0".repeat(43)}`],
      [
        "a revoked key",
        () => {
          cluster.changeApiKey({ revokedAtMs: 1 });
          return secrets.apiKey;
        },
      ],
      [
        "an expired key",
        () => {
          cluster.changeApiKey({ expiresAtMs: cluster.clock.wall });
          return secrets.apiKey;
        },
      ],
      [
        "a key in its last second",
        () => {
          cluster.changeApiKey({ expiresAtMs: cluster.clock.wall + 100 });
          return secrets.apiKey;
        },
      ],
      [
        "a key of a disabled user",
        () => {
          cluster.changeOwner({ status: "disabled" });
          return secrets.apiKey;
        },
      ],
      [
        "a key of a user who is gone",
        () => {
          cluster.removeRowOf(cluster.ownerId);
          return secrets.apiKey;
        },
      ],
    ];
    for (const [name, arrange] of useless) {
      it(`gives no token for ${name}`, async () => {
        expect(await access.exchangeApiKey(arrange(), null, DEADLINE_MS)).to.equal(null);
      });
    }

    it("decides from the state after the barrier, and not at all if the barrier fails", async () => {
      cluster.onBarrier = (done) => {
        cluster.changeApiKey({ revokedAtMs: 1 });
        done(null);
      };
      expect(await access.exchangeApiKey(secrets.apiKey, null, DEADLINE_MS)).to.equal(null);
      cluster.onBarrier = (done) => done(NO_LEADER);
      expect(await refused(() => access.exchangeApiKey(secrets.apiKey, null, DEADLINE_MS))).to.equal(NO_LEADER);
    });
  });
});
