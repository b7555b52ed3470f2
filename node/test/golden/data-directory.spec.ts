import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { Access, accountName, Logins } from "../../src/access/index.ts";
import { invariant } from "../../src/primitives/index.ts";
import { entryIndex, entryPayload } from "../../src/raft/index.ts";
import { DEFAULT_REPLICA_LIMITS, Member, type Replica, systemClock, systemScheduler } from "../../src/replica/index.ts";
import {
  type ClientRequest,
  CoordinationError,
  decodeCommand,
  expiredKeys,
  getKey,
  readProgress,
  type StateReader,
} from "../../src/state/index.ts";
import { measureDisk, type StoreError } from "../../src/storage/index.ts";
import { until } from "../harness/index.ts";
import { putOf, unqueuedHashing } from "../index.ts";
import { unpackDirectory } from "./directory-archive.ts";
import { ANNA, ANNA_API_KEY, ANNA_PASSWORD, idBytes, OWNER, OWNER_EMAIL, OWNER_PASSWORD } from "./identities.ts";
import type { GoldenEntry } from "./log-file.ts";
import { broken } from "./promises.ts";
import { recordedReads } from "./recorded-reads.ts";
import { replay } from "./state-at.ts";
import { OPENING, openMember } from "./stopped-member.ts";
import { DIRECTORY_FILE, goldenVersions } from "./versions.ts";

/** Far enough for everything that is to be answered. */
const DEADLINE_MS = 30_000;
const HOUR_MS = 3_600_000;

const deadline = () => systemClock.monotonicMs() + DEADLINE_MS;

/** Reads after a read barrier, in the same turn. */
function read<Value>(replica: Replica, look: (state: StateReader) => Value): Promise<Value> {
  return new Promise((resolve, reject) => {
    replica.readBarrier(deadline(), (error) => (error === null ? resolve(look(replica.state)) : reject(error)));
  });
}

/** Asks for it, and returns what it came to in a word. */
function propose(replica: Replica, request: ClientRequest): Promise<string> {
  return new Promise((resolve) => {
    replica.propose(request, deadline(), (error, outcome) => {
      const answer = error ?? outcome?.answer;
      resolve(answer instanceof CoordinationError ? answer.reason : `replayed: ${outcome?.replayed}`);
    });
  });
}

/** The last request of a client in the log that was a retry. */
function lastRetry(entries: readonly GoldenEntry[]): ClientRequest {
  const retry = entries.findLast(({ outcome }) => outcome === "put-key again");
  const command = decodeCommand(entryPayload(retry?.bytes ?? expect.fail("the golden log has a retry")));
  invariant(command.principal !== null && command.request !== null, "a client puts keys");
  return command as ClientRequest;
}

const NEW: ClientRequest = {
  principal: OWNER,
  request: { requestId: idBytes(9_001) },
  operation: putOf("new", "by the version of today", { namespace: "golden" }),
};

for (const { version, directory: golden, entries, expected } of goldenVersions()) {
  describe(`golden data directory of ${version}`, () => {
    const rows = entries.map(({ bytes }) => bytes);
    const wallMs = expected.atEnd.progress.wallMs + HOUR_MS;
    const clock = { ...systemClock, wallMs: () => wallMs };
    let directory: string;
    let members: Member[];
    let problems: string[];

    beforeEach(() => {
      directory = join(temporaryDirectory(), "data");
      unpackDirectory(join(golden, DIRECTORY_FILE), directory);
      members = [];
      problems = [];
    });
    afterEach(() => Promise.all(members.map((member) => member.stop())));

    /** Starts the member as the program does, but for its ports. */
    async function start(): Promise<{ readonly member: Member; readonly replica: Replica }> {
      const note = (problem: string) => problems.push(problem);
      const member = await Member.open({
        ...OPENING,
        directory,
        clock,
        scheduler: systemScheduler,
        limits: DEFAULT_REPLICA_LIMITS,
        version,
        peering: null,
        record: null,
        measureDisk,
        hasReserve: false,
        log: { info: () => undefined, warn: () => undefined },
        onRole: () => undefined,
        onFatal: (error: StoreError) => note(error.message),
        onEnd: (end, reason) => note(`${end}: ${reason}`),
        onDiskStuck: () => note("stuck"),
      });
      members.push(member);
      const { replica, reason } = member;
      if (replica === null) {
        throw new Error(`${broken(version, "Files of the data directory")} The member says: ${reason}`);
      }
      return { member, replica };
    }

    it("opens: the log is whole, and the state has come to the mark", async () => {
      const data = await openMember(directory);
      try {
        const { last } = data.log.bounds;
        expect(last, broken(version, "Bounds of the log")).to.equal(entries.length);
        const stored = Array.from({ length: last }, (_, at) => data.log.entries(at + 1, at + 1, 1)[0] ?? []);
        expect(
          stored.map((row) => Buffer.from(row).toString("hex")),
          broken(version, "Entries in the log"),
        ).to.deep.equal(rows.map((row) => Buffer.from(row).toString("hex")));
        expect(recordedReads(data.state), broken(version, "Rows of the state")).to.deep.equal(expected.atMark);
      } finally {
        await data.close();
      }
    });

    it("is served by a member that leads, applies the rest, and goes on from there", async () => {
      const { member, replica } = await start();
      const reads = await read(replica, recordedReads);
      const first = await read(replica, (state) => getKey(state, "golden", Buffer.from("behind the mark")));
      expect(Buffer.from(first.value).toString()).to.equal("value");
      await member.stop();
      const data = await openMember(directory);
      const { appliedIndex } = reads.progress;
      const added = data.log.entries(entries.length + 1, data.log.bounds.last, Number.MAX_SAFE_INTEGER);
      const before = added.filter((row) => entryIndex(row) <= appliedIndex).map((row) => row.slice());
      await data.close();
      // What this member has logged itself comes behind the golden log.
      expect(before.length).to.be.greaterThan(0);
      const { store } = replay([...rows, ...before]);
      const promise = broken(version, "Digest or contents of the state behind the log");
      expect(reads, promise).to.deep.equal(recordedReads(store));
      expect(problems).to.deep.equal([]);
    });

    it("answers a retry from before it stopped, writes, and has everything after a restart", async () => {
      const { member, replica } = await start();
      // The leader lets keys expire whose time was up already; what is read behind that stays.
      await until("what is due has expired", async () => {
        return read(replica, (state) => expiredKeys(state, readProgress(state).tickMs, 1).length === 0);
      });
      const before = await read(replica, recordedReads);
      expect(await propose(replica, lastRetry(entries)), broken(version, "Stored answers")).to.equal("replayed: yes");
      expect(await propose(replica, NEW)).to.equal("replayed: no");
      await member.stop();
      const again = await start();
      expect(await propose(again.replica, NEW)).to.equal("replayed: yes");
      const state = await read(again.replica, recordedReads);
      const isNew = ({ key }: { readonly key: string }) => key === Buffer.from("new").toString("hex");
      expect(state.keys.filter((key) => !isNew(key))).to.deep.equal(before.keys);
      expect(state.keys.filter(isNew)).to.have.length(1);
      for (const part of ["locks", "regions", "logs", "users", "apiKeys", "settings"]) {
        expect(state[part], broken(version, `The ${part}`)).to.deep.equal(before[part]);
      }
      expect(readProgress(again.replica.state).revision).to.be.greaterThan(readProgress(replay(rows).store).revision);
      expect(problems).to.deep.equal([]);
    });

    it("lets its users in: by password, by API key, and by the token that they get", async () => {
      const { replica } = await start();
      const access = new Access(replica, clock);
      const logins = new Logins(replica, clock, unqueuedHashing);
      const order = { client: "spec", account: accountName(OWNER_EMAIL), deadlineMs: deadline() };
      const login = await logins.login(OWNER_EMAIL, OWNER_PASSWORD, order);
      expect(login.kind, broken(version, "Hashes of passwords")).to.equal("accepted");
      expect((await logins.login(OWNER_EMAIL, ANNA_PASSWORD, order)).kind).to.equal("invalid-credentials");
      const issued = await access.exchangeApiKey(ANNA_API_KEY, null, deadline());
      const promise = broken(version, "API keys or signing keys");
      expect(issued, promise).not.to.equal(null);
      const caller = await access.authenticate([`Bearer ${issued?.accessToken}`], deadline());
      expect(caller.principal.subject, promise).to.equal(ANNA.subject);
    });
  });
}
