import { type AcquireLockRequest, LockEvent_Action } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember, type ScriptedStream, until } from "../../test/index.ts";
import { type Client, createClient, type Election, type Leader } from "../index.ts";

/** A hold that shows a value. */
function held(value: string, fencingToken: number) {
  const times = { acquiredAtMs: 1n, expiresInMs: 30_000n };
  return { owner: "o", subject: "s", ...times, fencingToken: BigInt(fencingToken), value: Buffer.from(value) };
}

describe("Election", function () {
  // Usually milliseconds: a limit for a busy machine.
  this.timeout(20_000);

  let member: ScriptedMember;
  let client: Client;
  let election: Election;
  let runtime: FakeRuntime;
  let locks: ScriptedStream<"watchLocks">[];

  beforeEach(async () => {
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
      setLockValue: () => ({ revision: 9n }),
      describeLock: () => ({ revision: 10n }),
    });
    member.streams.watchLocks = (_request, stream) => {
      locks.push(stream);
      stream.send({ created: true, revision: 8n });
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
    it("creates the lock, and waits for it with the value", async () => {
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
      expect(leadership.guard).to.deep.equal({ lockName: "e", fencingToken: 7 });
      expect(methods()).to.deep.equal(["acquireLock", "createLock", "acquireLock"]);
      const asked = member.calls[2]?.request as AcquireLockRequest;
      expect(asked).to.include({ ttlSeconds: 5n, waitMs: 3_000_000n });
      expect(Buffer.from(asked.value).toString()).to.equal("here");
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
  });

  describe("leadership", () => {
    it("can change its value, and renews the hold without one", async () => {
      const leadership = await election.campaign("here");
      await leadership.proclaim("there");
      const { owner } = leadership.hold;
      expect(member.request).to.deep.equal({
        namespace: "n",
        name: "e",
        fencingToken: 7n,
        owner,
        value: Buffer.from("there"),
      });
      runtime.advance(10_000);
      await until("a renewal", () => member.callsOf("acquireLock").length === 2);
      expect(member.callsOf("acquireLock")[1]?.request).to.deep.include({ fencingToken: 7n, value: Buffer.alloc(0) });
      expect(await leadership.resign()).to.equal(true);
      expect(methods().at(-1)).to.equal("releaseLock");
      expect(leadership.signal.aborted).to.equal(false);
    });

    it("ends with an await using, also when no member answers", async () => {
      member.scripts.releaseLock = () => refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" });
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
    it("is the one whose hold has the lock", async () => {
      member.scripts.describeLock = () => ({ holder: held("here", 7) });
      expect(await election.leader()).to.deep.equal({ value: "here", fencingToken: 7 });
    });

    it("is undefined if the lock is free or missing", async () => {
      expect(await election.leader()).to.equal(undefined);
      member.scripts.describeLock = () => refuse({ code: "NOT_FOUND", reason: "LOCK_NOT_FOUND" });
      expect(await election.leader()).to.equal(undefined);
      member.scripts.describeLock = () => refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" });
      expect((await failure(election.leader())).reason).to.equal("ACCESS_DENIED");
    });
  });

  describe("observe", () => {
    const { ACQUIRED, RELEASED } = LockEvent_Action;

    function send(action: LockEvent_Action, token: number, revision: bigint, more: object = {}): void {
      const { value } = held("", token);
      const event = { lockKey: "e", action, fencingToken: BigInt(token), revision, value, ...more };
      locks.at(-1)?.send({ events: [event], revision });
    }

    const showing = (value: string) => ({ value: Buffer.from(value) });

    async function nextOf(observation: AsyncIterator<Leader | undefined>): Promise<Leader | undefined | "end"> {
      const { done, value } = await observation.next();
      return done === true ? "end" : value;
    }

    it("yields the leaders in the order of the elections", async () => {
      member.scripts.describeLock = () => ({ holder: held("one", 7), revision: 10n });
      await using observation = election.observe();
      expect(await nextOf(observation)).to.deep.equal({ value: "one", fencingToken: 7 });
      const following = nextOf(observation);
      // Other locks, what was before the description, and events that change nothing.
      send(ACQUIRED, 99, 11n, { ...showing("somebody"), lockKey: "e2" });
      send(ACQUIRED, 99, 11n, { ...showing("somebody"), rw: true });
      send(ACQUIRED, 99, 11n, { permits: 1 });
      send(ACQUIRED, 5, 10n, showing("former"));
      send(RELEASED, 5, 12n);
      send(RELEASED, 7, 13n);
      expect(await following).to.equal(undefined);
      send(ACQUIRED, 14, 14n, showing("two"));
      expect(await nextOf(observation)).to.deep.equal({ value: "two", fencingToken: 14 });
      send(ACQUIRED, 14, 16n, showing("two, elsewhere"));
      expect(await nextOf(observation)).to.deep.equal({ value: "two, elsewhere", fencingToken: 14 });
      send(RELEASED, 14, 20n);
      expect(await nextOf(observation)).to.equal(undefined);
    });

    it("begins with undefined if there is no lock, and sees its first leader", async () => {
      member.scripts.describeLock = () => refuse({ code: "NOT_FOUND", reason: "LOCK_NOT_FOUND" });
      await using observation = election.observe();
      expect(await nextOf(observation)).to.equal(undefined);
      expect(member.callsOf("watchLocks")[0]?.request).to.include({ namePrefix: "e", startRevision: 0n });
      send(ACQUIRED, 9, 9n, showing("one"));
      expect(await nextOf(observation)).to.deep.equal({ value: "one", fencingToken: 9 });
    });

    it("reads the state again if the history is gone", async () => {
      await using observation = election.observe();
      expect(await nextOf(observation)).to.equal(undefined);
      const following = nextOf(observation);
      member.scripts.describeLock = () => ({ holder: held("one", 7), revision: 500n });
      locks[0]?.fail({ code: "OUT_OF_RANGE", reason: "COMPACTED" });
      expect(await following).to.deep.equal({ value: "one", fencingToken: 7 });
    });

    it("ends the watch with return, even while it waits, and fails with the signal", async () => {
      const observation = election.observe();
      expect(await nextOf(observation)).to.equal(undefined);
      const waiting = nextOf(observation);
      await observation.return();
      expect(await waiting).to.equal("end");
      await until("the watch to end", () => member.callsOf("watchLocks").every((call) => call.cancelled.aborted));
      const controller = new AbortController();
      const cancelled = election.observe({ signal: controller.signal });
      await cancelled.next();
      const next = failure(cancelled.next());
      controller.abort();
      expect((await next).code).to.equal("CANCELLED");
    });

    it("fails when the watch is refused", async () => {
      const observation = election.observe();
      await observation.next();
      const next = failure(observation.next());
      locks[0]?.fail({ code: "PERMISSION_DENIED", reason: "NAMESPACE_DENIED" });
      expect((await next).reason).to.equal("NAMESPACE_DENIED");
    });
  });
});
