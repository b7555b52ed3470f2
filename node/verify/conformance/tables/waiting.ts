/** Waiting for locks: open calls, order, all ways of cancelling, and continuing after a retry. */

import { randomUUID } from "node:crypto";
import { LockState } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  bytesOf,
  describeLock,
  forceReleaseLock,
  framed,
  type Origin,
  openCall,
  rawCall,
  releaseLock,
  succeeded,
  type Table,
  type TestContext,
  until,
} from "../harness/index.ts";

/** The deadline of calls that name none, in milliseconds. */
const DEADLINE_DEFAULT_MS = 5_000;

function untilWaiters(
  context: TestContext,
  lock: { namespace: string; name: string },
  waiters: number,
): Promise<unknown> {
  return until(`${waiters} to wait`, async () => (await context.askElsewhere(describeLock, lock)).waiters === waiters);
}

function originOf({ testRun, here }: TestContext): Origin {
  return testRun.originOf(here.endpoint);
}

function headersOf({ testRun }: TestContext): Record<string, string> {
  return { authorization: `Bearer ${testRun.target.token}`, "api-version": "v1", "request-id": randomUUID() };
}

export const waiting: Table = {
  name: "AcquireLock, waiting",
  entries: {
    "hands the lock over in the order of asking, through whatever member": async (context) => {
      const lock = await context.lock();
      const first = await context.ask(acquireLock, { ...lock, owner: "0" });
      const queue: Awaited<ReturnType<TestContext["queue"]>>[] = [];
      for (let at = 1; at <= 4; at++) {
        const connection = at % 2 === 0 ? context.here : context.elsewhere;
        queue.push(await context.queue(connection, { ...lock, owner: String(at) }, at - 1));
      }
      let before = first;
      for (const [at, waiter] of queue.entries()) {
        await context.ask(releaseLock, { ...lock, owner: String(at), fencingToken: before.fencingToken });
        const granted = await waiter.granted();
        expect([granted.acquired, granted.holder?.owner, granted.queueLength]).to.deep.equal([
          ...[true, String(at + 1), queue.length - at - 1],
        ]);
        expect(granted.fencingToken > before.fencingToken).to.equal(true);
        expect(granted.revision).to.equal(granted.fencingToken);
        before = granted;
      }
    },
    "counts the life of the hold from its grant, and says how long it waited": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      const sentMs = performance.now();
      const waiter = await context.queue(context.here, { ...lock, owner: "w", ttlSeconds: 20n }, 0);
      // Only now: a hold with a short life could end before the request waits.
      await context.ask(acquireLock, { ...lock, fencingToken, ttlSeconds: 1n });
      const granted = await waiter.granted();
      const tookMs = performance.now() - sentMs;
      expect(tookMs, "milliseconds until the grant").to.be.at.least(1_000);
      expect([granted.ttlSeconds, granted.expiresInMs]).to.deep.equal([20n, 20_000n]);
      expect(granted.waitedMs > 0n && granted.waitedMs <= BigInt(Math.ceil(tookMs))).to.equal(true);
    },
    "is held open for longer than calls without a deadline otherwise are": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      const sentMs = performance.now();
      const waiter = await context.queue(context.here, { ...lock, owner: "w" }, 0);
      await context.ask(acquireLock, { ...lock, fencingToken, ttlSeconds: 6n });
      expect((await waiter.granted()).acquired).to.equal(true);
      expect(performance.now() - sentMs).to.be.above(DEADLINE_DEFAULT_MS);
    },
    "when the wait ends first, answers who holds the lock, and leaves the queue": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      const sentMs = performance.now();
      const answer = await context.ask(acquireLock, { ...lock, owner: "w", waitMs: 300n });
      expect(performance.now() - sentMs, "milliseconds that it waited").to.be.at.least(300);
      expect([answer.acquired, answer.fencingToken, answer.state, answer.queueLength]).to.deep.equal([
        ...[false, 0n, LockState.HELD, 0],
      ]);
      expect(answer.holder?.fencingToken).to.equal(fencingToken);
      await untilWaiters(context, lock, 0);
    },
    "when the deadline ends first, is DEADLINE_EXCEEDED, and leaves the queue": async (context) => {
      const lock = await context.lock();
      await context.ask(acquireLock, lock);
      const body = framed(bytesOf(acquireLock, { ...lock, waitMs: 60_000n }));
      const headers = { ...headersOf(context), "grpc-timeout": "400m" };
      const answer = await rawCall(originOf(context), acquireLock.method.path, headers, body);
      await context.expectRefusal(answer, "DEADLINE");
      await untilWaiters(context, lock, 0);
      await context.ask(releaseLock, lock);
      expect((await context.ask(describeLock, lock)).state).to.equal(LockState.FREE);
    },
    "S25: a call that is cancelled leaves the queue, and the next one moves up": async (context) => {
      const lock = await context.lock();
      await context.ask(acquireLock, lock);
      const first = await context.queue(context.here, { ...lock, owner: "1" }, 0);
      const second = await context.queue(context.elsewhere, { ...lock, owner: "2" }, 1);
      first.cancel();
      expect((await first.answer).code).to.equal("CANCELLED");
      await untilWaiters(context, lock, 1);
      await context.ask(releaseLock, lock);
      expect((await second.granted()).holder?.owner).to.equal("2");
      await untilWaiters(context, lock, 0);
    },
    "S25: a connection that breaks takes its waiters along": async (context) => {
      const lock = await context.lock();
      await context.ask(acquireLock, lock);
      const body = framed(bytesOf(acquireLock, { ...lock, waitMs: 60_000n }));
      const connection = openCall(originOf(context), acquireLock.method.path, headersOf(context), body);
      try {
        await untilWaiters(context, lock, 1);
      } finally {
        connection.break();
      }
      await untilWaiters(context, lock, 0);
    },
    "S24: a retry at another member has the place of the first call, and what becomes of that undoes nothing": async (
      context,
    ) => {
      const lock = await context.lock();
      await context.ask(acquireLock, lock);
      const options = { metadata: { "request-id": randomUUID() } };
      const fields = { ...lock, owner: "1", waitMs: 40_000n };
      const first = await context.queue(context.here, fields, 0, options);
      const second = await context.queue(context.here, { ...lock, owner: "2" }, 1);
      const again = context.elsewhere.call(acquireLock, fields, options);
      await context.ask(releaseLock, lock);
      const granted = succeeded(await again);
      expect([granted.acquired, granted.holder?.owner]).to.deep.equal([true, "1"]);
      first.cancel();
      await first.answer;
      const { waiters, holder } = await context.askElsewhere(describeLock, lock);
      expect([waiters, holder?.fencingToken]).to.deep.equal([1, granted.fencingToken]);
      await context.ask(releaseLock, { ...lock, owner: "1" });
      expect((await second.granted()).holder?.owner).to.equal("2");
    },
    "S24: a retry of a request that was granted answers the same token, and LOCK_LOST once it is gone": async (
      context,
    ) => {
      const lock = await context.lock();
      await context.ask(acquireLock, lock);
      const options = { metadata: { "request-id": randomUUID() } };
      const fields = { ...lock, owner: "w", waitMs: 40_000n };
      const waiter = await context.queue(context.here, fields, 0, options);
      await context.ask(releaseLock, lock);
      const granted = await waiter.granted();
      const again = await context.elsewhere.call(acquireLock, fields, options);
      expect(again.response?.fencingToken).to.equal(granted.fencingToken);
      expect(again.headers.get("replayed")).to.deep.equal(["true"]);
      const { expiresInMs } = again.response ?? { expiresInMs: 0n };
      expect(expiresInMs > 0n && expiresInMs <= granted.expiresInMs, "S23: what remains by now").to.equal(true);
      await context.ask(forceReleaseLock, lock);
      await context.refuses(acquireLock, fields, "LOCK_LOST", options);
    },
    "S24: after it was cancelled, the same request queues again at the tail": async (context) => {
      const lock = await context.lock();
      await context.ask(acquireLock, lock);
      const options = { metadata: { "request-id": randomUUID() } };
      const fields = { ...lock, owner: "1", waitMs: 40_000n };
      const first = await context.queue(context.here, fields, 0, options);
      const second = await context.queue(context.elsewhere, { ...lock, owner: "2" }, 1);
      first.cancel();
      await untilWaiters(context, lock, 1);
      const again = await context.queue(context.here, fields, 1, options);
      await context.ask(releaseLock, lock);
      expect((await second.granted()).holder?.owner).to.equal("2");
      await context.ask(releaseLock, { ...lock, owner: "2" });
      expect((await again.granted()).holder?.owner).to.equal("1");
    },
    "is refused with another payload under the same request id, and keeps its place": async (context) => {
      const lock = await context.lock();
      await context.ask(acquireLock, lock);
      const options = { metadata: { "request-id": randomUUID() } };
      const waiter = await context.queue(context.here, { ...lock, owner: "w", waitMs: 40_000n }, 0, options);
      const other = { ...lock, owner: "w", waitMs: 40_001n };
      await context.refuses(acquireLock, other, "REQUEST_ID_REUSED", { ...options, connection: context.elsewhere });
      await context.ask(releaseLock, lock);
      expect((await waiter.granted()).acquired).to.equal(true);
    },
  },
};
