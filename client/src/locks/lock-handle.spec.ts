import { spawn } from "node:child_process";
import { once } from "node:events";
import { LockState } from "@quoin/proto";
import { expect } from "chai";
import { FakeRuntime, failure, type Refusal, refuse, ScriptedMember, until } from "../../test/index.ts";
import { type Client, createClient, type LockHandle, type QuoinError } from "../index.ts";

const TTL_MS = 30_000;
const NO_LEADER: Refusal = { code: "UNAVAILABLE", reason: "NO_LEADER", outcome: "not-executed" };

function granted(fencingToken: bigint, expiresInMs = BigInt(TTL_MS)) {
  return { acquired: true, fencingToken, ttlSeconds: expiresInMs / 1_000n, expiresInMs, state: LockState.HELD };
}

describe("LockHandle", function () {
  // Usually milliseconds, and half a second for a child: a limit for a busy machine.
  this.timeout(60_000);

  let member: ScriptedMember;
  let client: Client;
  let runtime: FakeRuntime;
  const losses: QuoinError[] = [];
  const cleanups: (() => unknown)[] = [];

  beforeEach(async () => {
    losses.length = 0;
    runtime = new FakeRuntime();
    member = await ScriptedMember.start({
      acquireLock: () => granted(7n),
      releaseLock: () => ({ released: true }),
    });
    client = createClient({ endpoints: [member.endpoint], credentials: { token: "t" }, runtime });
    cleanups.push(
      () => client.close(),
      () => member.stop(),
    );
  });

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) {
      await cleanup();
    }
  });

  async function hold(of = client): Promise<LockHandle> {
    const handle = await of.locks.hold("n", "l");
    handle.on("lost", (error) => losses.push(error));
    return handle;
  }

  function requests(method: "acquireLock" | "releaseLock") {
    return member.callsOf(method).map((call) => call.request as { fencingToken: bigint; owner: string });
  }

  it("waits for the lock, and holds it under a random owner, which is the same in the whole process", async () => {
    const [one, other] = [await hold(), await hold()];
    expect(one).to.include({ namespace: "n", name: "l", token: 7, deadlineMs: runtime.nowMs + TTL_MS, isHeld: true });
    expect(one.guard).to.deep.equal({ lockName: "l", fencingToken: 7 });
    expect(one.owner).to.match(/^[0-9a-f-]{36}$/);
    expect(other.owner).to.equal(one.owner);
    expect(requests("acquireLock")[0]).to.deep.include({ owner: one.owner, waitMs: 30_000n, fencingToken: 0n });
  });

  it("is not created if others hold the lock for the whole wait", async () => {
    member.scripts.acquireLock = () => ({ acquired: false, holder: { owner: "somebody" }, state: LockState.HELD });
    const error = await failure(client.locks.hold("n", "l", { waitMs: 0 }));
    expect(error).to.include({ code: "FAILED_PRECONDITION", reason: "NOT_ACQUIRED", outcome: "not-executed" });
    expect(error.message).to.equal("lock n/l was not acquired: somebody holds it");
  });

  it("is renewed, with its token, whenever a third of its life has passed", async () => {
    const handle = await hold();
    for (const round of [1, 2, 3]) {
      expect(runtime.nextTimerMs).to.equal(TTL_MS / 3);
      runtime.advance(TTL_MS / 3);
      await until("a renewal", () => handle.remainingMs === TTL_MS);
      expect(requests("acquireLock")).to.have.length(round + 1);
      expect(requests("acquireLock").at(-1)).to.deep.include({ fencingToken: 7n, owner: handle.owner, waitMs: 0n });
    }
    const ids = member.calls.map((call) => call.requestId[0]);
    expect(new Set(ids), "each renewal is a separate request").to.have.property("size", ids.length);
  });

  it("S30: repeats its request while there is no leader, with one request id, and is renewed as soon as there is one", async () => {
    const handle = await hold();
    member.scripts.acquireLock = () => (member.calls.length <= 20 ? refuse(NO_LEADER) : granted(7n));
    runtime.advance(TTL_MS / 3);
    await until("a renewal", () => member.calls.length > 20 && handle.remainingMs === TTL_MS);
    const renewals = member.callsOf("acquireLock").slice(1);
    expect(new Set(renewals.map((call) => call.requestId[0]))).to.have.property("size", 1);
    expect(losses).to.deep.equal([]);
  });

  it("S30: is lost at its deadline and not before when no leader is found until then", async () => {
    const handle = await hold();
    const { deadlineMs } = handle;
    let heldUntilMs = 0;
    member.scripts.acquireLock = () => {
      if (handle.isHeld) {
        heldUntilMs = runtime.nowMs;
      }
      return refuse(NO_LEADER);
    };
    const aborted = once(handle.signal, "abort");
    runtime.advance(TTL_MS / 3);
    // Between two rounds of tries, with timers for the next round and the end, time passes as usual.
    await until("the loss", () => {
      if (runtime.timers > 1) {
        runtime.advance(runtime.nextTimerMs ?? 0);
      }
      return losses.length > 0;
    });
    await aborted;
    expect(heldUntilMs).to.be.greaterThan(deadlineMs - 3_000);
    expect(losses).to.have.length(1);
    expect(losses[0]).to.include({ code: "FAILED_PRECONDITION", reason: "LOCK_LOST" });
    // The last try may have had too little time left to be refused.
    expect((losses[0]?.cause as QuoinError | undefined)?.reason).to.be.oneOf(["NO_LEADER", "DEADLINE"]);
    expect(handle).to.include({ isHeld: false, remainingMs: 0 });
    expect(handle.signal.reason).to.equal(losses[0]);
  });

  it("S30: ends what waits for its signal combined with another one, with the loss as the reason", async () => {
    const handle = await hold();
    const signal = AbortSignal.any([handle.signal, new AbortController().signal]);
    const aborted = once(signal, "abort");
    runtime.nowMs = handle.deadlineMs;
    // A combined signal has no clock; the look at the signal of the hold aborts both.
    expect([signal.aborted, handle.signal.aborted, signal.aborted]).to.deep.equal([false, true, true]);
    await aborted;
    expect(signal.reason).to.equal(handle.signal.reason);
    expect(signal.reason).to.include({ reason: "LOCK_LOST" });
  });

  it("S30: shows its loss at once to a process that was busy beyond the deadline, before any timer", async () => {
    const looks: readonly ((signal: AbortSignal) => unknown)[] = [
      (signal) => signal.aborted,
      (signal) => signal.reason !== undefined,
      (signal) => {
        try {
          signal.throwIfAborted();
          return false;
        } catch (error) {
          return (error as QuoinError).reason === "LOCK_LOST";
        }
      },
    ];
    for (const look of looks) {
      losses.length = 0;
      const handle = await hold();
      const { signal } = handle;
      let events = 0;
      signal.addEventListener("abort", () => events++);
      runtime.nowMs = handle.deadlineMs - 1;
      expect(look(signal)).to.equal(false);
      runtime.nowMs = handle.deadlineMs;
      expect(look(signal), String(look)).to.equal(true);
      expect([signal.aborted, handle.isHeld, events]).to.deep.equal([true, false, 1]);
      await until("the event", () => losses.length > 0);
      expect(losses).to.deep.equal([signal.reason]);
      expect(await handle.release()).to.equal(false);
    }
  });

  it("asks another member when one takes a renewal and does not answer", async () => {
    const mute = await ScriptedMember.start({ acquireLock: () => granted(7n, 3_000n) });
    const fit = await ScriptedMember.start({ acquireLock: () => granted(7n, 3_000n) });
    runtime.chance = 0;
    const both = createClient({ endpoints: [mute.endpoint, fit.endpoint], credentials: { token: "t" }, runtime });
    cleanups.push(
      () => both.close(),
      () => mute.stop(),
      () => fit.stop(),
    );
    const handle = await hold(both);
    mute.scripts.acquireLock = () => new Promise(() => undefined);
    runtime.advance(1_000);
    await until("a renewal", () => handle.remainingMs === 3_000);
    const [renewal, ...others] = fit.callsOf("acquireLock");
    expect(others).to.deep.equal([]);
    expect(renewal?.requestId).to.deep.equal(mute.callsOf("acquireLock")[1]?.requestId);
  });

  for (const reason of ["LOCK_LOST", "NOT_LOCK_HOLDER"] as const) {
    it(`is lost at once if a renewal is refused as ${reason}`, async () => {
      const handle = await hold();
      member.scripts.acquireLock = () => refuse({ code: "FAILED_PRECONDITION", reason });
      runtime.advance(TTL_MS / 3);
      await until("the loss", () => losses.length > 0);
      expect(handle.signal.aborted).to.equal(true);
      expect(runtime.nextTimerMs, "no timer is left").to.equal(undefined);
      expect(await handle.release(), "there is nothing to give back").to.equal(false);
      expect(requests("releaseLock")).to.have.length(0);
    });
  }

  it("survives renewals that are refused for a while", async () => {
    const handle = await hold();
    const refusals: Refusal[] = [
      { code: "UNAUTHENTICATED", reason: "TOKEN_EXPIRED" },
      { code: "RESOURCE_EXHAUSTED", reason: "STORAGE_FULL" },
    ];
    let answered = 0;
    member.scripts.acquireLock = () => {
      const refusal = refusals[answered];
      answered += 1;
      return refusal === undefined ? granted(7n) : refuse(refusal);
    };
    for (const round of [1, 2, 3]) {
      await until("the next try to be planned", () => runtime.timers === 2);
      expect(runtime.nextTimerMs).to.be.closeTo(handle.remainingMs / 3, 1);
      runtime.advance(runtime.nextTimerMs ?? 0);
      await until("an answer", () => answered === round && runtime.timers === 2);
    }
    expect(handle.remainingMs).to.equal(TTL_MS);
    expect(losses).to.deep.equal([]);
  });

  it("does not retry an unretryable refusal, and is lost at its deadline", async () => {
    const handle = await hold();
    member.scripts.acquireLock = () => refuse({ code: "PERMISSION_DENIED", reason: "ACCESS_DENIED" });
    runtime.advance(TTL_MS / 3);
    await until("the refusal", () => requests("acquireLock").length === 2);
    // Answered after the refusal, on the same connection.
    await failure(client.locks.describe("n", "l"));
    expect(runtime.timers, "only the deadline is left").to.equal(1);
    expect(handle.isHeld).to.equal(true);
    runtime.advance(handle.remainingMs);
    await until("the loss", () => losses.length === 1);
    expect((losses[0]?.cause as QuoinError | undefined)?.reason).to.equal("ACCESS_DENIED");
    expect(requests("acquireLock")).to.have.length(2);
  });

  describe("release", () => {
    it("releases the lock by its token, once, and ends the renewals", async () => {
      const handle = await hold();
      expect(await Promise.all([handle.release(), handle.release()])).to.deep.equal([true, true]);
      expect(await handle.release()).to.equal(true);
      expect(requests("releaseLock")).to.have.length(1);
      expect(requests("releaseLock")[0]).to.deep.include({ fencingToken: 7n, owner: handle.owner });
      expect(runtime.nextTimerMs).to.equal(undefined);
      expect(handle.isHeld).to.equal(false);
      expect(handle.signal.aborted).to.equal(false);
      expect(losses).to.deep.equal([]);
    });

    it("reports if the hold had already ended, and emits the loss", async () => {
      const handle = await hold();
      member.scripts.releaseLock = () => refuse({ code: "FAILED_PRECONDITION", reason: "NOT_LOCK_HOLDER" });
      expect(await handle.release()).to.equal(false);
      await until("the loss", () => losses.length === 1);
      expect(handle.signal.aborted).to.equal(true);
    });

    it("can be called again, with the same request id, when no member answered", async () => {
      const handle = await hold();
      member.scripts.releaseLock = () => refuse(NO_LEADER);
      expect((await failure(handle.release())).reason).to.equal("NO_LEADER");
      expect(handle.isHeld, "it is no longer renewed").to.equal(false);
      member.scripts.releaseLock = () => ({ released: true });
      expect(await handle.release()).to.equal(true);
      const ids = member.callsOf("releaseLock").map((call) => call.requestId[0]);
      expect(new Set(ids)).to.have.property("size", 1);
    });

    it("ends a renewal that is under way", async () => {
      const handle = await hold();
      let underWay = false;
      member.scripts.acquireLock = () => {
        underWay = true;
        return new Promise(() => undefined);
      };
      runtime.advance(TTL_MS / 3);
      await until("the renewal to begin", () => underWay);
      expect(await handle.release()).to.equal(true);
      expect(losses).to.deep.equal([]);
    });

    it("happens at the end of an await using, also without an answer", async () => {
      {
        await using handle = await hold();
        expect(handle.isHeld).to.equal(true);
      }
      expect(requests("releaseLock")).to.have.length(1);
      member.scripts.releaseLock = () => refuse(NO_LEADER);
      {
        await using _handle = await hold();
      }
    });
  });

  describe("withLock", () => {
    it("returns what the work returns, and releases the lock", async () => {
      expect(await client.locks.withLock("n", "l", ({ token }) => token + 1)).to.equal(8);
      expect(requests("releaseLock")).to.have.length(1);
    });

    it("throws what the work throws, and releases the lock", async () => {
      const problem = new Error("no luck");
      const work = client.locks.withLock("n", "l", () => Promise.reject(problem));
      expect(await work.catch((error: unknown) => error)).to.equal(problem);
      expect(requests("releaseLock")).to.have.length(1);
    });

    it("throws LOCK_LOST when the hold ended before the work", async () => {
      member.scripts.acquireLock = (request) =>
        request.fencingToken === 0n ? granted(7n) : refuse({ code: "FAILED_PRECONDITION", reason: "LOCK_LOST" });
      const work = client.locks.withLock("n", "l", async (handle) => {
        runtime.advance(TTL_MS / 3);
        await until("the loss", () => handle.signal.aborted);
        return "this is not a result under the lock";
      });
      expect((await failure(work)).reason).to.equal("LOCK_LOST");
    });
  });

  it("does not keep an otherwise idle process alive", async () => {
    const index = new URL("../index.ts", import.meta.url).href;
    const program = `
      import { createClient } from ${JSON.stringify(index)};
      const client = createClient({ endpoints: [${JSON.stringify(member.endpoint)}], credentials: { token: "t" } });
      await client.locks.hold("n", "l");
    `;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "ignore" });
    cleanups.push(() => child.kill("SIGKILL"));
    const [code] = await once(child, "exit");
    expect(code).to.equal(0);
    expect(requests("acquireLock")).to.have.length(1);
  });
});
