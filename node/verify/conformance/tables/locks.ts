/** LockService, exclusive locks: creation, acquisition, renewal, release, force, expiry and lock-delay. */

import { LockState, ReadConsistency, RWMode } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  createLock,
  createRWLock,
  deleteLock,
  describeLock,
  expectFields,
  forceReleaseLock,
  isAbove,
  isAtLeast,
  isPositive,
  isUnixMs,
  isWithinSeconds,
  putKey,
  releaseLock,
  setLockValue,
  succeeded,
  type Table,
  type TestContext,
  until,
} from "../harness/index.ts";

const NAME_BYTES_MAX = 256;
const TTL_SECONDS_MAX = 86_400n;
const DELAY_SECONDS_MAX = 60n;
const TTL_SECONDS_DEFAULT = 30n;
const MS_PER_SECOND = 1_000;

/** A text of this many bytes, with some characters of several bytes. */
function textOfBytes(context: TestContext, bytes: number): string {
  const name = `${context.name()}/ä`;
  return name + "n".repeat(bytes - Buffer.byteLength(name));
}

const creating: Table = {
  name: "CreateLock",
  entries: {
    "answers name, time and revision, and everybody sees a free lock": async (context) => {
      const lock = { namespace: context.namespace, name: context.name() };
      const created = await context.ask(createLock, lock);
      expectFields(created, { name: lock.name, createdAtMs: isUnixMs, revision: isPositive });
      expectFields(await context.askElsewhere(describeLock, lock), {
        name: lock.name,
        state: LockState.FREE,
        holder: undefined,
        waiters: 0,
        ttlSeconds: TTL_SECONDS_DEFAULT,
        lockDelaySeconds: 0n,
        lastFencingToken: 0n,
        createdAtMs: created.createdAtMs,
        revision: isAtLeast(created.revision),
      });
      await context.refuses(createLock, lock, "LOCK_EXISTS");
      await context.refuses(createLock, { ...lock, ttlSeconds: 5n }, "LOCK_EXISTS", { connection: context.elsewhere });
    },
    "gives read-write locks names of their own": async (context) => {
      const lock = { namespace: context.namespace, name: context.name() };
      await context.ask(createRWLock, lock);
      await context.refuses(describeLock, lock, "LOCK_NOT_FOUND");
      await context.ask(createLock, lock);
    },
    "takes names of 256 bytes, lives of a day and delays of a minute, not of one more": async (context) => {
      const { namespace } = context;
      const name = textOfBytes(context, NAME_BYTES_MAX);
      const limits = { ttlSeconds: TTL_SECONDS_MAX, lockDelaySeconds: DELAY_SECONDS_MAX };
      await context.ask(createLock, { namespace, name, ...limits });
      const { ttlSeconds, lockDelaySeconds } = await context.askElsewhere(describeLock, { namespace, name });
      expect({ ttlSeconds, lockDelaySeconds }).to.deep.equal(limits);
      const other = { namespace, name: context.name() };
      const longer = { namespace, name: `${name}n` };
      await context.refuses(createLock, longer, "TOO_LARGE", { field: "name", limit: NAME_BYTES_MAX });
      for (const value of [TTL_SECONDS_MAX + 1n, -1n]) {
        await context.refuses(createLock, { ...other, ttlSeconds: value }, "BAD_FIELD", { field: "ttl_seconds" });
      }
      for (const value of [DELAY_SECONDS_MAX + 1n, -1n]) {
        const fields = { ...other, lockDelaySeconds: value };
        await context.refuses(createLock, fields, "BAD_FIELD", { field: "lock_delay_seconds" });
      }
    },
  },
};

/**
 * Returns a lock with a hold that was renewed, and the first life of the hold. A busy machine may be too slow for a
 * short life: the renewal then comes after the end of the hold, and the next attempt has a longer life.
 */
async function renewedLock(context: TestContext) {
  for (let ttlSeconds = 2n; ; ttlSeconds *= 2n) {
    const lock = await context.lock();
    const sentMs = performance.now();
    const { fencingToken } = await context.ask(acquireLock, { ...lock, ttlSeconds });
    const renewed = await context.here.call(acquireLock, { ...lock, ttlSeconds: 600n, fencingToken });
    const wasLate = performance.now() - sentMs >= Number(ttlSeconds) * MS_PER_SECOND;
    if (renewed.code === "OK" || !wasLate) {
      succeeded(renewed);
      return { lock, fencingToken, ttlSeconds };
    }
  }
}

const describing: Table = {
  name: "DescribeLock",
  entries: {
    "answers who holds it, and what remains": async (context) => {
      const lock = await context.lock({ ttlSeconds: 60n, lockDelaySeconds: 1n });
      const { fencingToken } = await context.askElsewhere(acquireLock, { ...lock, owner: "somebody" });
      const described = await context.ask(describeLock, lock);
      const { holder } = described;
      expectFields(described, {
        name: lock.name,
        state: LockState.HELD,
        holder: (value: object) => value === holder,
        waiters: 0,
        ttlSeconds: 60n,
        lockDelaySeconds: 1n,
        lastFencingToken: fencingToken,
        createdAtMs: isUnixMs,
        revision: isAtLeast(fencingToken),
      });
      expectFields(holder as NonNullable<typeof holder>, {
        owner: "somebody",
        subject: context.testRun.claims.sub,
        fencingToken,
        acquiredAtMs: isUnixMs,
        permits: 0,
        value: Buffer.alloc(0),
        sessionId: 0n,
        expiresInMs: isWithinSeconds(60n),
        mode: RWMode.RW_MODE_UNSPECIFIED,
      });
    },
    "SERIALIZABLE comes to see it": async (context) => {
      const lock = await context.lock();
      await context.askElsewhere(acquireLock, lock);
      await until("the member to have applied it", async () => {
        const fields = { ...lock, consistency: ReadConsistency.SERIALIZABLE };
        return (await context.here.call(describeLock, fields)).response?.state === LockState.HELD;
      });
    },
  },
};

const acquiring: Table = {
  name: "AcquireLock",
  entries: {
    "answers the winner of a lock with its token and hold, and all others with the holder": async (context) => {
      const lock = await context.lock();
      const got = await context.ask(acquireLock, lock);
      const { fencingToken } = got;
      expectFields(got, {
        acquired: true,
        fencingToken: isPositive,
        ttlSeconds: TTL_SECONDS_DEFAULT,
        expiresInMs: isWithinSeconds(TTL_SECONDS_DEFAULT),
        holder: (value: unknown) => value !== undefined,
        queueLength: 0,
        state: LockState.HELD,
        waitedMs: 0n,
        revision: fencingToken,
      });
      const subject = context.testRun.claims.sub;
      expectFields(got.holder as NonNullable<typeof got.holder>, {
        owner: subject,
        subject,
        fencingToken,
        mode: RWMode.RW_MODE_UNSPECIFIED,
        acquiredAtMs: isUnixMs,
        permits: 0,
        value: Buffer.alloc(0),
        sessionId: 0n,
        expiresInMs: got.expiresInMs,
      });
      const refused = await context.askElsewhere(acquireLock, { ...lock, owner: "another" });
      expectFields(refused, {
        acquired: false,
        fencingToken: 0n,
        ttlSeconds: 0n,
        expiresInMs: 0n,
        holder: (value: typeof got.holder) => value?.fencingToken === fencingToken && value.owner === subject,
        queueLength: 0,
        state: LockState.HELD,
        waitedMs: 0n,
        revision: isAtLeast(fencingToken),
      });
    },
    "S27: gives the same subject and owner no second hold without a token": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, { ...lock, owner: "o" });
      const again = await context.ask(acquireLock, { ...lock, owner: "o" });
      expect([again.acquired, again.holder?.fencingToken]).to.deep.equal([false, fencingToken]);
    },
    "renews by token, for its own owner alone": async (context) => {
      const lock = await context.lock({ ttlSeconds: 20n });
      const { fencingToken } = await context.ask(acquireLock, { ...lock, owner: "o" });
      const renewed = await context.askElsewhere(acquireLock, { ...lock, owner: "o", fencingToken, ttlSeconds: 100n });
      expectFields(renewed, {
        acquired: true,
        fencingToken,
        ttlSeconds: 100n,
        expiresInMs: (value: bigint) => value > 20_000n && value <= 100_000n,
        holder: (value: typeof renewed.holder) => value?.fencingToken === fencingToken && value.owner === "o",
        queueLength: 0,
        state: LockState.HELD,
        waitedMs: 0n,
        revision: isAbove(fencingToken),
      });
      const { ttlSeconds } = await context.ask(acquireLock, { ...lock, fencingToken });
      expect(ttlSeconds, "a renewal without a life has the lock's").to.equal(20n);
      const other = { ...lock, owner: "p", fencingToken };
      await context.refuses(acquireLock, other, "NOT_LOCK_HOLDER");
      await context.ask(releaseLock, { ...lock, owner: "o" });
      await context.refuses(acquireLock, { ...lock, owner: "o", fencingToken }, "LOCK_LOST");
      const next = await context.ask(acquireLock, lock);
      await context.refuses(acquireLock, { ...lock, owner: "o", fencingToken }, "LOCK_LOST");
      expect(next.fencingToken > fencingToken).to.equal(true);
    },
    "S21, S28: a hold ends when its life is over, never early, and the next has a greater token": async (context) => {
      const lock = await context.lock();
      const sentMs = performance.now();
      const first = await context.ask(acquireLock, { ...lock, ttlSeconds: 1n });
      const second = await until("the lock to be free", async () => {
        const answer = await context.askElsewhere(acquireLock, lock);
        return answer.acquired ? answer : null;
      });
      expect(performance.now() - sentMs, "milliseconds that it was held").to.be.at.least(1_000);
      expect(second.fencingToken > first.fencingToken).to.equal(true);
      await context.refuses(acquireLock, { ...lock, fencingToken: first.fencingToken }, "LOCK_LOST");
    },
    "a renewal keeps a hold beyond its first life": async (context) => {
      const { lock, fencingToken, ttlSeconds } = await renewedLock(context);
      const bystander = await context.lock();
      await context.ask(acquireLock, { ...bystander, ttlSeconds });
      await until("a hold of the same first life to end", async () => {
        return (await context.ask(describeLock, bystander)).state === LockState.FREE;
      });
      expect((await context.askElsewhere(describeLock, lock)).holder?.fencingToken).to.equal(fencingToken);
    },
    "takes lives of a day, and owners of 256 bytes, not of one more": async (context) => {
      const lock = await context.lock();
      const owner = textOfBytes(context, NAME_BYTES_MAX);
      const got = await context.ask(acquireLock, { ...lock, owner, ttlSeconds: TTL_SECONDS_MAX });
      expect([got.ttlSeconds, got.holder?.owner]).to.deep.equal([TTL_SECONDS_MAX, owner]);
      await context.refuses(acquireLock, { ...lock, owner: `${owner}n` }, "TOO_LARGE", {
        field: "owner",
        limit: NAME_BYTES_MAX,
      });
      const name = textOfBytes(context, NAME_BYTES_MAX + 1);
      await context.refuses(acquireLock, { ...lock, name }, "TOO_LARGE", { field: "name", limit: NAME_BYTES_MAX });
      for (const ttlSeconds of [TTL_SECONDS_MAX + 1n, -1n]) {
        await context.refuses(acquireLock, { ...lock, ttlSeconds }, "BAD_FIELD", { field: "ttl_seconds" });
      }
      await context.refuses(acquireLock, { ...lock, waitMs: -1n }, "BAD_FIELD", { field: "wait_ms" });
      await context.refuses(acquireLock, { ...lock, fencingToken: -1n }, "BAD_FIELD", { field: "fencing_token" });
    },
  },
};

const releasing: Table = {
  name: "ReleaseLock",
  entries: {
    "gives the lock back by token, or by subject and owner": async (context) => {
      const lock = await context.lock();
      const { fencingToken, ...first } = await context.ask(acquireLock, lock);
      const released = await context.askElsewhere(releaseLock, { ...lock, fencingToken });
      expectFields(released, { released: true, revision: isAbove(first.revision) });
      const described = await context.ask(describeLock, lock);
      expect([described.state, described.holder, described.lastFencingToken]).to.deep.equal([
        ...[LockState.FREE, undefined, fencingToken],
      ]);
      await context.ask(acquireLock, { ...lock, owner: "o" });
      await context.ask(releaseLock, { ...lock, owner: "o" });
      const last = await context.ask(acquireLock, lock);
      await context.ask(releaseLock, lock);
      expect(last.fencingToken > released.revision).to.equal(true);
    },
    "S26: leaves the lock alone when asked by another owner, or with an old token": async (context) => {
      const lock = await context.lock();
      await context.refuses(releaseLock, lock, "NOT_LOCK_HOLDER");
      const { fencingToken: old } = await context.ask(acquireLock, { ...lock, owner: "o" });
      await context.ask(releaseLock, { ...lock, owner: "o", fencingToken: old });
      await context.refuses(releaseLock, { ...lock, owner: "o", fencingToken: old }, "NOT_LOCK_HOLDER");
      const { fencingToken } = await context.ask(acquireLock, { ...lock, owner: "o" });
      for (const fields of [{ owner: "o", fencingToken: old }, { owner: "p", fencingToken }, { owner: "p" }, {}]) {
        await context.refuses(releaseLock, { ...lock, ...fields }, "NOT_LOCK_HOLDER");
      }
      expect((await context.askElsewhere(describeLock, lock)).holder?.fencingToken).to.equal(fencingToken);
    },
    "S26: gives another subject nothing, whatever it knows": async (context) => {
      const { sub } = context.testRun.claims;
      const token = context.otherToken(
        "of another subject with the access write to all namespaces",
        (claims) => claims.sub !== sub && claims.access.includes("write") && claims.namespaces.includes("*"),
      );
      const connection = context.testRun.at(context.here.endpoint, token);
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, { ...lock, owner: "o" });
      await context.refuses(releaseLock, { ...lock, owner: "o", fencingToken }, "NOT_LOCK_HOLDER", { connection });
      await context.refuses(acquireLock, { ...lock, owner: "o", fencingToken }, "NOT_LOCK_HOLDER", { connection });
    },
    "takes names and owners of 256 bytes, not of one more": async (context) => {
      const lock = await context.lock();
      const owner = textOfBytes(context, NAME_BYTES_MAX);
      await context.refuses(releaseLock, { ...lock, owner }, "NOT_LOCK_HOLDER");
      const limit = NAME_BYTES_MAX;
      await context.refuses(releaseLock, { ...lock, owner: `${owner}n` }, "TOO_LARGE", { field: "owner", limit });
      const name = textOfBytes(context, NAME_BYTES_MAX + 1);
      await context.refuses(releaseLock, { ...lock, name }, "TOO_LARGE", { field: "name", limit });
      await context.refuses(releaseLock, { ...lock, fencingToken: -1n }, "BAD_FIELD", { field: "fencing_token" });
    },
  },
};

const forcing: Table = {
  name: "ForceReleaseLock",
  entries: {
    "takes the lock away from its holder, and returns the holder": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.askElsewhere(acquireLock, { ...lock, owner: "o" });
      const forced = await context.ask(forceReleaseLock, { ...lock, reason: "the holder is gone" });
      expectFields(forced, {
        released: true,
        previous: (value: unknown) => value !== undefined,
        revision: isAbove(fencingToken),
      });
      expectFields(forced.previous as NonNullable<typeof forced.previous>, {
        owner: "o",
        subject: context.testRun.claims.sub,
        fencingToken,
        mode: RWMode.RW_MODE_UNSPECIFIED,
        acquiredAtMs: isUnixMs,
        permits: 0,
        value: Buffer.alloc(0),
        sessionId: 0n,
        expiresInMs: isWithinSeconds(TTL_SECONDS_DEFAULT),
      });
      await context.refuses(releaseLock, { ...lock, owner: "o", fencingToken }, "NOT_LOCK_HOLDER");
      await context.refuses(acquireLock, { ...lock, owner: "o", fencingToken }, "LOCK_LOST");
    },
    "is no error where there is nothing to take, or not that hold": async (context) => {
      const lock = await context.lock();
      const nothing = await context.ask(forceReleaseLock, lock);
      expectFields(nothing, { released: false, previous: undefined, revision: isPositive });
      const { fencingToken } = await context.ask(acquireLock, lock);
      const old = await context.ask(forceReleaseLock, { ...lock, fencingToken: fencingToken - 1n });
      expect([old.released, old.previous]).to.deep.equal([false, undefined]);
      expect((await context.ask(forceReleaseLock, { ...lock, fencingToken })).released).to.equal(true);
    },
    "takes names and reasons of 256 bytes, not of one more": async (context) => {
      const lock = await context.lock();
      const reason = textOfBytes(context, NAME_BYTES_MAX);
      await context.ask(forceReleaseLock, { ...lock, reason });
      const limit = NAME_BYTES_MAX;
      await context.refuses(forceReleaseLock, { ...lock, reason: `${reason}n` }, "TOO_LARGE", {
        field: "reason",
        limit,
      });
      const name = textOfBytes(context, NAME_BYTES_MAX + 1);
      await context.refuses(forceReleaseLock, { ...lock, name }, "TOO_LARGE", { field: "name", limit });
      await context.refuses(forceReleaseLock, { ...lock, fencingToken: -1n }, "BAD_FIELD", { field: "fencing_token" });
    },
    "lock-delay: a forced release delays the next grant, which goes to a waiting request": async (context) => {
      const lock = await context.lock({ lockDelaySeconds: 1n });
      await context.ask(acquireLock, lock);
      const waiting = await context.queue(context.here, { ...lock, owner: "w" }, 0);
      const sentMs = performance.now();
      await context.ask(forceReleaseLock, lock);
      const refused = await context.askElsewhere(acquireLock, { ...lock, owner: "x" });
      if (performance.now() - sentMs < 1_000) {
        expect([refused.acquired, refused.state, refused.holder]).to.deep.equal([
          ...[false, LockState.COOLDOWN, undefined],
        ]);
      }
      const granted = await waiting.granted();
      expect(performance.now() - sentMs, "milliseconds until the next grant").to.be.at.least(1_000);
      expect([granted.acquired, granted.holder?.owner]).to.deep.equal([true, "w"]);
    },
    "lock-delay: passes after an expired hold, and not after one that was given back": async (context) => {
      const lock = await context.lock({ lockDelaySeconds: 60n });
      await context.ask(acquireLock, lock);
      await context.ask(releaseLock, lock);
      const { acquired } = await context.ask(acquireLock, { ...lock, ttlSeconds: 1n });
      expect(acquired).to.equal(true);
      await until("the hold to end", async () => {
        const { state } = await context.askElsewhere(describeLock, lock);
        expect(state).to.be.oneOf([LockState.HELD, LockState.COOLDOWN]);
        return state === LockState.COOLDOWN;
      });
      const refused = await context.ask(acquireLock, lock);
      expectFields(refused, {
        acquired: false,
        fencingToken: 0n,
        ttlSeconds: 0n,
        expiresInMs: 0n,
        holder: undefined,
        queueLength: 0,
        state: LockState.COOLDOWN,
        waitedMs: 0n,
        revision: isPositive,
      });
    },
  },
};

const deleting: Table = {
  name: "DeleteLock",
  entries: {
    "deletes a free lock; created again, it gives greater tokens, and the former ones guard nothing": async (
      context,
    ) => {
      const lock = await context.lock();
      const { fencingToken: former } = await context.ask(acquireLock, lock);
      await context.ask(releaseLock, lock);
      await context.ask(deleteLock, lock);
      await context.refuses(describeLock, lock, "LOCK_NOT_FOUND");
      await context.refuses(deleteLock, lock, "LOCK_NOT_FOUND");
      await context.ask(createLock, lock);
      expect((await context.ask(acquireLock, lock)).fencingToken > former).to.equal(true);
      const guard = { lockName: lock.name, fencingToken: former, rw: false };
      await context.refuses(putKey, { namespace: context.namespace, key: context.name(), guard }, "FENCED");
    },
    "refuses a lock in use, and with force ends its holds and its waits": async (context) => {
      const lock = await context.lock({ lockDelaySeconds: 60n });
      const { fencingToken } = await context.ask(acquireLock, lock);
      await context.refuses(deleteLock, lock, "NOT_EMPTY");
      const waiting = await context.queue(context.here, { ...lock, owner: "w" }, 0);
      await context.askElsewhere(deleteLock, { ...lock, force: true });
      await context.expectRefusal(await waiting.answer, "LOCK_NOT_FOUND");
      await context.refuses(acquireLock, { ...lock, fencingToken }, "LOCK_NOT_FOUND");
    },
  },
};

const VALUE_BYTES_MAX = 1_024;

const values: Table = {
  name: "SetLockValue",
  entries: {
    "changes the value that AcquireLock gave the hold, and everybody sees it": async (context) => {
      const lock = await context.lock();
      const shown = async () => Buffer.from((await context.askElsewhere(describeLock, lock)).holder?.value ?? []);
      const first = Buffer.alloc(VALUE_BYTES_MAX, "1");
      const { fencingToken, holder } = await context.ask(acquireLock, { ...lock, value: first });
      expect([holder?.value, await shown()]).to.deep.equal([first, first]);
      const refused = await context.askElsewhere(acquireLock, { ...lock, owner: "other", value: Buffer.from("x") });
      expect([refused.acquired, refused.holder?.value]).to.deep.equal([false, first]);
      const changed = await context.askElsewhere(setLockValue, { ...lock, fencingToken, value: Buffer.from("2") });
      expectFields(changed, { revision: isAbove(fencingToken) });
      expect(await shown()).to.deep.equal(Buffer.from("2"));
      await context.ask(acquireLock, { ...lock, fencingToken, ttlSeconds: 100n });
      expect(await shown(), "after a renewal").to.deep.equal(Buffer.from("2"));
      await context.ask(setLockValue, { ...lock, fencingToken });
      expect(await shown()).to.deep.equal(Buffer.alloc(0));
    },
    "a request that waits gets its own value": async (context) => {
      const lock = await context.lock();
      await context.ask(acquireLock, { ...lock, owner: "a", value: Buffer.from("a") });
      const next = await context.queue(context.elsewhere, { ...lock, owner: "b", value: Buffer.from("b") }, 0);
      await context.ask(releaseLock, { ...lock, owner: "a" });
      expect((await next.granted()).holder?.value).to.deep.equal(Buffer.from("b"));
    },
    "is for the holder alone, with its token, and for values of 1,024 bytes": async (context) => {
      const lock = await context.lock();
      const value = Buffer.from("v");
      const { fencingToken } = await context.ask(acquireLock, { ...lock, owner: "o" });
      await context.refuses(setLockValue, { ...lock, fencingToken, owner: "p", value }, "NOT_LOCK_HOLDER");
      await context.refuses(setLockValue, { ...lock, fencingToken: fencingToken + 1n, value }, "LOCK_LOST");
      for (const token of [0n, -1n]) {
        const fields = { ...lock, fencingToken: token, value };
        await context.refuses(setLockValue, fields, "BAD_FIELD", { field: "fencing_token" });
      }
      const longer = Buffer.alloc(VALUE_BYTES_MAX + 1);
      const details = { field: "value", limit: VALUE_BYTES_MAX };
      await context.refuses(setLockValue, { ...lock, fencingToken, value: longer }, "TOO_LARGE", details);
      await context.refuses(acquireLock, { ...lock, value: longer }, "TOO_LARGE", details);
      await context.refuses(acquireLock, { ...lock, owner: "o", fencingToken, value }, "BAD_FIELD", { field: "value" });
      await context.ask(releaseLock, { ...lock, owner: "o" });
      await context.refuses(setLockValue, { ...lock, fencingToken, value }, "LOCK_LOST");
    },
  },
};

export const locks: readonly Table[] = [creating, describing, acquiring, releasing, forcing, deleting, values];
