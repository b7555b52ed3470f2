import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseLocation } from "@quoin/backup";
import { expect } from "chai";
import { temporaryDirectory } from "../../test/harness/index.ts";
import { deriveCheaply, refused } from "../../test/index.ts";
import { Access, createFounding, generateApiKey } from "../access/index.ts";
import { DEFAULT_REPLICA_LIMITS, Member, type Replica, systemClock, systemScheduler } from "../replica/index.ts";
import { type CoordinationError, getKey, readProgress, type StateReader } from "../state/index.ts";
import { measureDisk } from "../storage/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { memberBackup, noteIgnoredBackup } from "./member-restore.ts";

const GOLDEN = fileURLToPath(new URL("../../test/golden/0.1.0/backup/plain", import.meta.url));
const FORMER_ID = "60000000-0000-4000-8000-00000000601d";
const NEW_ID = "11111111-2222-4333-8444-555555555555";
/** A key that belongs to another user in the backup. */
const TAKEN_API_KEY = `qk_goldAnna_${"A".repeat(43)}`;
const DEADLINE_MS = 30_000;
const MEMBER = { name: "q-0", clusterName: "restored" };
const LOGGER = createLogger("silent", MEMBER.name);

describe("a member that founds its cluster from a backup", function () {
  this.timeout(60_000);
  const members: Member[] = [];
  let directory: string;
  let store: string;

  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
    store = join(temporaryDirectory(), "store");
  });
  afterEach(() => Promise.all(members.splice(0).map((member) => member.stop())));

  function configurationOf() {
    return {
      location: parseLocation(store),
      keyFile: null,
      allowsUnencrypted: false,
      clusterId: null,
      snapshotId: null,
      point: { kind: "latest" } as const,
      revisionJump: 1_000_000,
      keepsSigningKeys: false,
    };
  }

  async function open(foundingBackup = memberBackup(configurationOf(), systemClock, LOGGER)): Promise<Member> {
    const member = await Member.open({
      ...MEMBER,
      directory,
      version: "0.1.0",
      acceptMissingFence: false,
      clock: systemClock,
      scheduler: systemScheduler,
      limits: DEFAULT_REPLICA_LIMITS,
      peering: null,
      record: null,
      measureDisk,
      hasReserve: false,
      log: LOGGER,
      foundingBackup,
      onRole: () => undefined,
      onFatal: (error) => {
        throw error;
      },
      onEnd: (_end, reason) => {
        throw new Error(reason);
      },
      onDiskStuck: () => undefined,
    });
    members.push(member);
    return member;
  }

  async function bootstrap(member: Member, apiKey = generateApiKey(), clusterId = NEW_ID): Promise<number> {
    const request = {
      clusterId,
      clusterName: MEMBER.clusterName,
      memberName: MEMBER.name,
      incarnation: Buffer.from(member.incarnation, "hex"),
      address: { peerEndpoint: "", grpcEndpoint: "127.0.0.1:7400", httpEndpoint: "" },
      owner: { email: "new-owner@quoin.example", password: "a long new password", apiKey },
    };
    return member.bootstrap(await createFounding(request, deriveCheaply));
  }

  function failureOf(member: Member, apiKey?: string, clusterId?: string): Promise<CoordinationError> {
    return refused(() => bootstrap(member, apiKey, clusterId));
  }

  function replicaOf({ replica }: Member): Replica {
    return replica ?? expect.fail("the member serves nothing");
  }

  function read<Value>(replica: Replica, look: (state: StateReader) => Value): Promise<Value> {
    return new Promise((resolve, reject) => {
      const deadlineMs = systemClock.monotonicMs() + DEADLINE_MS;
      replica.readBarrier(deadlineMs, (error) => (error === null ? resolve(look(replica.state)) : reject(error)));
    });
  }

  it("serves the data of the backup, with the owner of the founding besides the existing users", async () => {
    cpSync(GOLDEN, store, { recursive: true });
    const member = await open();
    const apiKey = generateApiKey();
    const memberId = await bootstrap(member, apiKey);
    expect([member.state, member.clusterId, member.memberId]).to.deep.equal(["RUNNING", NEW_ID, memberId]);
    const replica = replicaOf(member);
    const { value } = await read(replica, (state) => getKey(state, "golden", Buffer.from("behind the mark")));
    expect(Buffer.from(value).toString()).to.equal("value");
    expect(readProgress(replica.state).revision).to.be.above(1_000_000);
    const access = new Access(replica, systemClock);
    for (const key of [apiKey, TAKEN_API_KEY]) {
      const deadlineMs = systemClock.monotonicMs() + DEADLINE_MS;
      expect(await access.exchangeApiKey(key, null, deadlineMs), key).to.not.equal(null);
    }
    // A repeated call gets the first answer, after a restart too, and nothing is restored again.
    expect(await bootstrap(member)).to.equal(memberId);
    await member.stop();
    const again = await open();
    expect(await bootstrap(again)).to.equal(memberId);
    expect((await refused(() => bootstrap(again, undefined, FORMER_ID))).reason).to.equal("NOT_EMPTY");
    const lines: string[] = [];
    const logger = { ...LOGGER, info: (_fields: object, message: string) => lines.push(message) };
    noteIgnoredBackup(configurationOf(), again, logger as unknown as typeof LOGGER);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.contain("--restore-from is ignored");
  });

  it("stays empty and reports the reason if the backup is not usable, and takes another call", async () => {
    const member = await open();
    const missing = await failureOf(member);
    expect([missing.code, missing.reason]).to.deep.equal(["UNAVAILABLE", "BACKUP_STORE_UNAVAILABLE"]);
    expect(missing.message).to.contain("no cluster was founded").and.to.contain("there is no such directory");
    mkdirSync(store);
    const empty = await failureOf(member);
    expect([empty.code, empty.reason]).to.deep.equal(["FAILED_PRECONDITION", "BACKUP_REFUSED"]);
    expect([member.state, member.clusterId, member.replica]).to.deep.equal(["EMPTY", "", null]);
    expect(member.reason).to.contain("has no backup. Check the location");
    cpSync(GOLDEN, store, { recursive: true });
    const former = await failureOf(member, undefined, FORMER_ID);
    expect(former.reason).to.equal("BACKUP_REFUSED");
    expect(former.message).to.contain("The new cluster needs an id that no cluster had");
    const taken = await failureOf(member, TAKEN_API_KEY);
    expect([taken.reason, taken.details.get("field")]).to.deep.equal(["BAD_FIELD", "owner.api_key"]);
    expect(readdirSync(directory).filter((name) => name.startsWith("successor"))).to.deep.equal(["successor-lock"]);
    await bootstrap(member);
    expect(member.state).to.equal("RUNNING");
    expect(readdirSync(directory).filter((name) => name.startsWith("successor"))).to.deep.equal([]);
  });

  it("gives the restore up when it must stop, and starts again after its restart", async () => {
    cpSync(GOLDEN, store, { recursive: true });
    const backup = memberBackup(configurationOf(), systemClock, LOGGER) ?? expect.fail("a backup is named");
    let stopped: Promise<void> | null = null;
    const member: Member = await open({
      restore: (restoration, founding, told) =>
        backup.restore(restoration, founding, (progress) => {
          stopped ??= member.stop();
          told(progress);
        }),
    });
    expect((await failureOf(member)).reason).to.equal("SHUTTING_DOWN");
    await stopped;
    const again = await open();
    await bootstrap(again);
    expect(again.state).to.equal("RUNNING");
  });
});
