import { type AcquireLockRequest, KeyEvent_Type, LockEvent_Action, type PutKeyRequest } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember, type ScriptedStream, until } from "../../test/index.ts";
import { type Client, createClient, type Election, type Leader } from "../index.ts";

const HELD = { owner: "o", subject: "s", acquiredAtMs: 1n, expiresInMs: 30_000n };

function stored(value: string, fencingToken: number, key = "e") {
  const text = JSON.stringify({ fencing_token: fencingToken, value });
  return { key, value: Buffer.from(text), createRevision: 1n, modRevision: 1n, version: 1n };
}

describe("Election", function () {
  // Usually milliseconds: a limit for a busy machine.
  this.timeout(20_000);

  let member: ScriptedMember;
  let client: Client;
  let election: Election;
  let runtime: FakeRuntime;
  let keys: ScriptedStream<"watchKeys">[];
  let locks: ScriptedStream<"watchLocks">[];

  beforeEach(async () => {
    keys = [];
    locks = [];
    runtime = new FakeRuntime();
    runtime.chance = 0;
    member = await ScriptedMember.start({
      acquireLock: ({ fencingToken }) => ({
        acquired: true,
        fencingToken: fencingToken || 7n,
        ttlSeconds: 30n,
        expiresInMs: 30_000n,
      }),
      releaseLock: () => ({ released: true }),
      putKey: () => ({}),
      deleteKey: () => ({ deleted: true }),
      describeLock: () => ({}),
      listKeys: () => ({ items: [], revision: 10n }),
    });
    member.streams.watchKeys = ({ startRevision }, stream) => {
      keys.push(stream);
      stream.send({ created: true, revision: startRevision - 1n });
    };
    member.streams.watchLocks = ({ startRevision }, stream) => {
      locks.push(stream);
      stream.send({ created: true, revision: startRevision - 1n });
    };
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" }, runtime });
    election = client.election("n", "e");
  });

  afterEach(() => {
    client.close();
    member.stop();
  });

  function methods(): string[] {
    return member.calls.map(({ method }) => method);
  }

  describe("campaign", () => {
    it("creates the lock, waits for it, and proclaims the leader under its guard", async () => {
      let exists = false;
      member.scripts.createLock = ({ name }) => {
        exists = true;
        return { name };
      };
      const acquire = member.scripts.acquireLock!;
      member.scripts.acquireLock = (request, call) =>
        exists ? acquire(request, call) : refuse({ code: "NOT_FOUND", reason: "LOCK_NOT_FOUND" });
      const leadership = await election.campaign("here", { ttlSeconds: 5 });
      expect(leadership.token).to.equal(7);
      expect(methods()).to.deep.equal(["acquireLock", "createLock", "acquireLock", "putKey"]);
      const asked = member.calls[2]?.request as AcquireLockRequest;
      expect(asked).to.include({ ttlSeconds: 5n, waitMs: 3_000_000n });
      const put = member.calls[3]?.request as PutKeyRequest;
      expect(put).to.deep.include({ namespace: "n", key: "e", guard: { lockName: "e", fencingToken: 7n, rw: false } });
      expect(JSON.parse(Buffer.from(put.value).toString())).to.deep.equal({ fencing_token: 7, value: "here" });
    });

    it("does not mind who creates the lock", async () => {
      let refusals = 0;
      const acquire = member.scripts.acquireLock!;
      member.scripts.acquireLock = (request, call) => {
        refusals += 1;
        return refusals === 1 ? refuse({ code: "NOT_FOUND", reason: "LOCK_NOT_FOUND" }) : acquire(request, call);
      };
      member.scripts.createLock = () => refuse({ code: "ALREADY_EXISTS", reason: "LOCK_EXISTS" });
      expect((await election.campaign("here")).token).to.equal(7);
    });

    it("keeps waiting while others lead, unless its time is limited", async () => {
      let turns = 0;
      const acquire = member.scripts.acquireLock!;
      member.scripts.acquireLock = (request, call) => {
        turns += 1;
        if (turns === 2) {
          refuse({ code: "FAILED_PRECONDITION", reason: "LOCK_LOST" });
        }
        return turns < 3 ? { acquired: false } : acquire(request, call);
      };
      await election.campaign("here");
      expect(turns).to.equal(3);
      turns = 0;
      expect((await failure(election.campaign("here", { waitMs: 50 }))).reason).to.equal("NOT_ACQUIRED");
      expect(turns).to.equal(1);
    });

    it("starts again if the lock was lost before the proclamation", async () => {
      let puts = 0;
      member.scripts.putKey = () => {
        puts += 1;
        return puts === 1 ? refuse({ code: "ABORTED", reason: "FENCED" }) : {};
      };
      let token = 6n;
      member.scripts.acquireLock = () => {
        token += 1n;
        return { acquired: true, fencingToken: token, ttlSeconds: 30n, expiresInMs: 30_000n };
      };
      expect((await election.campaign("here")).token).to.equal(8);
    });

    it("gives the lock back when the leader cannot be proclaimed", async () => {
      member.scripts.putKey = () => refuse({ code: "RESOURCE_EXHAUSTED", reason: "QUOTA" });
      expect((await failure(election.campaign("here"))).reason).to.equal("QUOTA");
      expect(methods()).to.include("releaseLock");
    });
  });

  describe("leadership", () => {
    it("can change its value, and deletes the key before it releases the lock", async () => {
      const leadership = await election.campaign("here");
      await leadership.proclaim("there");
      expect(member.calls.at(-1)?.request).to.deep.include({ guard: { lockName: "e", fencingToken: 7n, rw: false } });
      expect(await leadership.resign()).to.equal(true);
      expect(methods().slice(-2)).to.deep.equal(["deleteKey", "releaseLock"]);
      expect(leadership.signal.aborted).to.equal(false);
    });

    it("ends with an await using, also when the key is gone", async () => {
      member.scripts.deleteKey = () => refuse({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND" });
      {
        await using leadership = await election.campaign("here");
        expect(leadership.hold.isHeld).to.equal(true);
      }
      expect(methods().at(-1)).to.equal("releaseLock");
    });

    it("is lost with the hold", async () => {
      const leadership = await election.campaign("here");
      member.scripts.acquireLock = () => refuse({ code: "FAILED_PRECONDITION", reason: "LOCK_LOST" });
      runtime.advance(10_000);
      await until("the loss", () => leadership.signal.aborted);
      member.calls.length = 0;
      expect(await leadership.resign()).to.equal(false);
      expect(methods()).to.deep.equal([]);
    });
  });

  describe("leader", () => {
    it("is the one that was proclaimed with the token that holds the lock", async () => {
      member.scripts.describeLock = () => ({ holder: { ...HELD, fencingToken: 7n } });
      member.scripts.listKeys = () => ({ items: [stored("here", 7)], revision: 10n });
      expect(await election.leader()).to.deep.equal({ value: "here", fencingToken: 7 });
    });

    it("is undefined if the lock is free or missing, or the key is stale, absent or invalid", async () => {
      member.scripts.listKeys = () => ({ items: [stored("here", 7)], revision: 10n });
      expect(await election.leader()).to.equal(undefined);
      member.scripts.describeLock = () => refuse({ code: "NOT_FOUND", reason: "LOCK_NOT_FOUND" });
      expect(await election.leader()).to.equal(undefined);
      member.scripts.describeLock = () => ({ holder: { ...HELD, fencingToken: 8n } });
      for (const items of [
        [],
        [stored("here", 7)],
        [stored("here", 8, "e2")],
        [{ ...stored("", 8), value: Buffer.from("not JSON") }],
        [{ ...stored("", 8), value: Buffer.from('{"value":"x"}') }],
      ]) {
        member.scripts.listKeys = () => ({ items, revision: 10n });
        expect(await election.leader()).to.equal(undefined);
      }
    });

    it("is read again if another one came between the two reads", async () => {
      const tokens = [7n, 8n];
      member.scripts.describeLock = () => ({ holder: { ...HELD, fencingToken: tokens.shift() ?? 8n } });
      member.scripts.listKeys = () => ({ items: [stored("next", 8)], revision: 10n });
      expect(await election.leader()).to.deep.equal({ value: "next", fencingToken: 8 });
    });
  });

  describe("observe", () => {
    function proclaim(value: string, token: number, revision: bigint, key = "e"): void {
      keys.at(-1)?.send({ events: [{ type: KeyEvent_Type.PUT, kv: stored(value, token, key) }], revision });
    }

    function endHold(fencingToken: bigint, revision: bigint, lockKey = "e", rw = false): void {
      const event = { lockKey, rw, action: LockEvent_Action.RELEASED, fencingToken, revision };
      locks.at(-1)?.send({ events: [event], revision });
    }

    async function nextOf(observation: AsyncIterator<Leader | undefined>): Promise<Leader | undefined | "end"> {
      const { done, value } = await observation.next();
      return done === true ? "end" : value;
    }

    it("yields the leaders in the order of the elections, however far the watches are", async () => {
      member.scripts.describeLock = () => ({ holder: { ...HELD, fencingToken: 7n }, lastFencingToken: 7n });
      member.scripts.listKeys = () => ({ items: [stored("one", 7)], revision: 10n });
      await using observation = election.observe();
      expect(await nextOf(observation)).to.deep.equal({ value: "one", fencingToken: 7 });
      const following = nextOf(observation);
      // Other keys, and events that change nothing.
      proclaim("somebody", 99, 11n, "e2");
      endHold(99n, 11n, "e2");
      endHold(99n, 11n, "e", true);
      proclaim("one", 7, 12n);
      endHold(7n, 13n);
      expect(await following).to.equal(undefined);
      proclaim("two", 14, 15n);
      expect(await nextOf(observation)).to.deep.equal({ value: "two", fencingToken: 14 });
      proclaim("two, elsewhere", 14, 16n);
      expect(await nextOf(observation)).to.deep.equal({ value: "two, elsewhere", fencingToken: 14 });
      proclaim("three", 20, 21n);
      expect(await nextOf(observation)).to.deep.equal({ value: "three", fencingToken: 20 });
      endHold(14n, 19n);
      keys.at(-1)?.send({ events: [{ type: KeyEvent_Type.DELETE, kv: stored("three", 20) }], revision: 22n });
      expect(await nextOf(observation)).to.equal(undefined);
    });

    it("begins with undefined if the lock is free, whatever the value of the key", async () => {
      member.scripts.describeLock = () => ({ lastFencingToken: 7n });
      member.scripts.listKeys = () => ({ items: [stored("dead", 7)], revision: 10n });
      await using observation = election.observe();
      expect(await nextOf(observation)).to.equal(undefined);
      expect(member.callsOf("watchKeys")[0]?.request).to.include({ prefix: "e", startRevision: 11n });
      expect(member.callsOf("watchLocks")[0]?.request).to.include({ namePrefix: "e", startRevision: 11n });
    });

    it("reads the state again if the history is gone", async () => {
      await using observation = election.observe();
      expect(await nextOf(observation)).to.equal(undefined);
      const following = nextOf(observation);
      member.scripts.describeLock = () => ({ holder: { ...HELD, fencingToken: 7n }, lastFencingToken: 7n });
      member.scripts.listKeys = () => ({ items: [stored("one", 7)], revision: 500n });
      locks[0]?.fail({ code: "OUT_OF_RANGE", reason: "COMPACTED" });
      expect(await following).to.deep.equal({ value: "one", fencingToken: 7 });
    });

    it("ends both watches with return, even while it waits, and fails with the signal", async () => {
      const observation = election.observe();
      expect(await nextOf(observation)).to.equal(undefined);
      const waiting = nextOf(observation);
      await observation.return();
      expect(await waiting).to.equal("end");
      await until("the watches to end", () =>
        [...member.callsOf("watchKeys"), ...member.callsOf("watchLocks")].every((call) => call.cancelled.aborted),
      );
      const controller = new AbortController();
      const cancelled = election.observe({ signal: controller.signal });
      await cancelled.next();
      const next = failure(cancelled.next());
      controller.abort();
      expect((await next).code).to.equal("CANCELLED");
    });

    it("fails when a watch is refused", async () => {
      const observation = election.observe();
      await observation.next();
      const next = failure(observation.next());
      keys[0]?.fail({ code: "PERMISSION_DENIED", reason: "NAMESPACE_DENIED" });
      expect((await next).reason).to.equal("NAMESPACE_DENIED");
    });
  });
});
