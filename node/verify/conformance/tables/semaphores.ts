/** LockService, semaphores: permits, order of grants, changes of their number, release, force and deletion. */

import { LockState, ReadConsistency, RWMode } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  acquireSemaphore,
  createLock,
  createRWLock,
  createSemaphore,
  deleteLock,
  deleteSemaphore,
  describeLock,
  describeSemaphore,
  expectFields,
  forceReleaseLock,
  isAbove,
  isAtLeast,
  isPositive,
  isUnixMs,
  isWithinSeconds,
  listLocks,
  listLockWaits,
  putKey,
  releaseSemaphore,
  type Table,
  until,
  updateSemaphore,
} from "../harness/index.ts";

const NAME_BYTES_MAX = 256;
const TTL_SECONDS_MAX = 86_400n;
const TTL_SECONDS_DEFAULT = 30n;
const PERMITS_MAX = 10_000;
/** What no semaphore may have. */
const WRONG_PERMITS = [0, -1, PERMITS_MAX + 1];

const creating: Table = {
  name: "CreateSemaphore",
  entries: {
    "answers name, time and revision, and everybody sees a free semaphore": async (context) => {
      const semaphore = { namespace: context.namespace, name: context.name() };
      const created = await context.ask(createSemaphore, { ...semaphore, permits: PERMITS_MAX, ttlSeconds: 7n });
      expectFields(created, { name: semaphore.name, createdAtMs: isUnixMs, revision: isPositive });
      expectFields(await context.askElsewhere(describeSemaphore, semaphore), {
        name: semaphore.name,
        state: LockState.FREE,
        permits: PERMITS_MAX,
        heldPermits: 0,
        holders: [],
        waiters: 0,
        ttlSeconds: 7n,
        lastFencingToken: 0n,
        createdAtMs: created.createdAtMs,
        revision: isAtLeast(created.revision),
      });
    },
    "takes 1 to 10,000 permits, names of 256 bytes and lives of a day": async (context) => {
      const { namespace } = context;
      const name = context.name().padEnd(NAME_BYTES_MAX, "n");
      await context.ask(createSemaphore, { namespace, name, permits: 1, ttlSeconds: TTL_SECONDS_MAX });
      const longer = { namespace, name: `${name}n`, permits: 1 };
      await context.refuses(createSemaphore, longer, "TOO_LARGE", { field: "name", limit: NAME_BYTES_MAX });
      const other = { namespace, name: context.name() };
      for (const permits of WRONG_PERMITS) {
        const details = { field: "permits", limit: PERMITS_MAX };
        await context.refuses(createSemaphore, { ...other, permits }, "BAD_FIELD", details);
      }
      for (const ttlSeconds of [TTL_SECONDS_MAX + 1n, -1n]) {
        const fields = { ...other, permits: 1, ttlSeconds };
        await context.refuses(createSemaphore, fields, "BAD_FIELD", { field: "ttl_seconds" });
      }
    },
    "shares the names of exclusive locks, not those of read-write locks": async (context) => {
      const semaphore = await context.semaphore(1);
      await context.refuses(createSemaphore, { ...semaphore, permits: 1 }, "LOCK_EXISTS");
      await context.refuses(createLock, semaphore, "LOCK_EXISTS");
      await context.ask(createRWLock, semaphore);
      const lock = await context.lock();
      await context.refuses(createSemaphore, { ...lock, permits: 1 }, "LOCK_EXISTS");
    },
    "makes nothing that calls about exclusive locks find, and the other way round": async (context) => {
      const semaphore = await context.semaphore(1);
      await context.refuses(describeLock, semaphore, "LOCK_NOT_FOUND");
      await context.refuses(acquireLock, semaphore, "LOCK_NOT_FOUND");
      await context.refuses(deleteLock, semaphore, "LOCK_NOT_FOUND");
      const lock = await context.lock();
      await context.refuses(describeSemaphore, lock, "LOCK_NOT_FOUND");
      await context.refuses(acquireSemaphore, { ...lock, permits: 1 }, "LOCK_NOT_FOUND");
      await context.refuses(updateSemaphore, { ...lock, permits: 1 }, "LOCK_NOT_FOUND");
      await context.refuses(deleteSemaphore, lock, "LOCK_NOT_FOUND");
    },
  },
};

const describing: Table = {
  name: "DescribeSemaphore",
  entries: {
    "answers who has how many permits, and how many wait; listings show the same": async (context) => {
      const semaphore = await context.semaphore(5, 60n);
      const one = await context.askElsewhere(acquireSemaphore, { ...semaphore, permits: 1, owner: "a" });
      const two = await context.ask(acquireSemaphore, { ...semaphore, permits: 3, owner: "b" });
      await context.queueSemaphore(context.here, { ...semaphore, permits: 4, owner: "c" }, 0);
      const described = await context.ask(describeSemaphore, semaphore);
      const { holders } = described;
      expectFields(described, {
        name: semaphore.name,
        state: LockState.HELD,
        permits: 5,
        heldPermits: 4,
        holders: (value: object) => value === holders,
        waiters: 1,
        ttlSeconds: 60n,
        lastFencingToken: two.fencingToken,
        createdAtMs: isUnixMs,
        revision: isAtLeast(two.revision),
      });
      expect(holders).to.have.lengthOf(2);
      for (const [at, { fencingToken }] of [one, two].entries()) {
        expectFields(holders[at] as (typeof holders)[number], {
          owner: at === 0 ? "a" : "b",
          subject: context.testRun.claims.sub,
          fencingToken,
          mode: RWMode.RW_MODE_UNSPECIFIED,
          permits: at === 0 ? 1 : 3,
          value: Buffer.alloc(0),
          sessionId: 0n,
          acquiredAtMs: isUnixMs,
          expiresInMs: isWithinSeconds(60n),
        });
      }
      const { namespace, name: namePrefix } = semaphore;
      const { locks } = await context.ask(listLocks, { namespace, namePrefix, waitsMax: 1 });
      const [listed] = locks;
      expect([listed?.permits, listed?.heldPermits, listed?.holderCount, listed?.rw]).to.deep.equal([5, 4, 2, false]);
      expect(listed?.holders.map(({ permits }) => permits)).to.deep.equal([1, 3]);
      expect([listed?.waitingWriters, listed?.waits[0]?.permits, listed?.waits[0]?.owner]).to.deep.equal([1, 4, "c"]);
      const { waits } = await context.askElsewhere(listLockWaits, semaphore);
      expect(waits.map(({ permits }) => permits)).to.deep.equal([4]);
      const names = await context.ask(listLocks, { namespace, namePrefix, namesOnly: true });
      expect(names.locks.map(({ permits }) => permits)).to.deep.equal([5]);
    },
    "SERIALIZABLE comes to see it": async (context) => {
      const semaphore = await context.semaphore(2);
      await context.askElsewhere(acquireSemaphore, { ...semaphore, permits: 2 });
      await until("the member to have applied it", async () => {
        const fields = { ...semaphore, consistency: ReadConsistency.SERIALIZABLE };
        return (await context.here.call(describeSemaphore, fields)).response?.heldPermits === 2;
      });
    },
  },
};

const acquiring: Table = {
  name: "AcquireSemaphore",
  entries: {
    "gives out permits until none are left, each hold with a greater token": async (context) => {
      const semaphore = await context.semaphore(3);
      const first = await context.ask(acquireSemaphore, { ...semaphore, permits: 1, owner: "a" });
      expectFields(first, {
        acquired: true,
        fencingToken: isPositive,
        ttlSeconds: TTL_SECONDS_DEFAULT,
        expiresInMs: isWithinSeconds(TTL_SECONDS_DEFAULT),
        permits: 3,
        heldPermits: 1,
        holders: (value: readonly unknown[]) => value.length === 1,
        queueLength: 0,
        state: LockState.HELD,
        waitedMs: 0n,
        revision: first.fencingToken,
      });
      const second = await context.askElsewhere(acquireSemaphore, { ...semaphore, permits: 2, owner: "b" });
      expect(second.fencingToken > first.fencingToken).to.equal(true);
      expect(second.holders.map(({ owner, permits }) => [owner, permits])).to.deep.equal([
        ["a", 1],
        ["b", 2],
      ]);
      const refused = await context.ask(acquireSemaphore, { ...semaphore, permits: 1, owner: "c" });
      expectFields(refused, {
        acquired: false,
        fencingToken: 0n,
        ttlSeconds: 0n,
        expiresInMs: 0n,
        permits: 3,
        heldPermits: 3,
        holders: (value: readonly unknown[]) => value.length === 2,
        queueLength: 0,
        state: LockState.HELD,
        waitedMs: 0n,
        revision: isAtLeast(second.revision),
      });
    },
    "S29: a request for many permits is not overtaken by those for few": async (context) => {
      const semaphore = await context.semaphore(4);
      await context.ask(acquireSemaphore, { ...semaphore, permits: 2, owner: "a" });
      await context.ask(acquireSemaphore, { ...semaphore, permits: 1, owner: "b" });
      const large = await context.queueSemaphore(context.elsewhere, { ...semaphore, permits: 3, owner: "large" }, 0);
      const late = await context.ask(acquireSemaphore, { ...semaphore, permits: 1, owner: "late" });
      expect([late.acquired, late.heldPermits], "one permit is free").to.deep.equal([false, 3]);
      const small = await context.queueSemaphore(context.here, { ...semaphore, permits: 1, owner: "small" }, 1);
      await context.ask(releaseSemaphore, { ...semaphore, owner: "a" });
      const [first, second] = [await large.granted(), await small.granted()];
      expect([first.acquired, second.acquired]).to.deep.equal([true, true]);
      expect(second.fencingToken > first.fencingToken, "in the order of asking").to.equal(true);
    },
    "renews a hold, which keeps its permits": async (context) => {
      const semaphore = await context.semaphore(3);
      const fields = { ...semaphore, permits: 2, owner: "o" };
      const { fencingToken } = await context.ask(acquireSemaphore, fields);
      const renewal = { ...semaphore, owner: "o", fencingToken, ttlSeconds: 100n };
      const renewed = await context.askElsewhere(acquireSemaphore, renewal);
      expect([renewed.acquired, renewed.fencingToken, renewed.heldPermits]).to.deep.equal([true, fencingToken, 2]);
      expect([renewed.ttlSeconds, renewed.revision > fencingToken]).to.deep.equal([100n, true]);
      await context.ask(acquireSemaphore, { ...renewal, permits: 2 });
      await context.refuses(acquireSemaphore, { ...renewal, permits: 1 }, "BAD_FIELD", { field: "permits" });
      await context.refuses(acquireSemaphore, { ...renewal, owner: "p" }, "NOT_LOCK_HOLDER");
      await context.ask(releaseSemaphore, { ...semaphore, owner: "o" });
      await context.refuses(acquireSemaphore, renewal, "LOCK_LOST");
    },
    "the end of one hold's life frees its permits alone": async (context) => {
      const semaphore = await context.semaphore(3);
      await context.ask(acquireSemaphore, { ...semaphore, permits: 2, owner: "short", ttlSeconds: 1n });
      await context.ask(acquireSemaphore, { ...semaphore, permits: 1, owner: "long" });
      await until("one hold to be left", async () => {
        const { holders, heldPermits } = await context.askElsewhere(describeSemaphore, semaphore);
        return holders.map(({ owner }) => owner).join() === "long" && heldPermits === 1;
      });
    },
    "names the field and the rule of what it refuses": async (context) => {
      const semaphore = await context.semaphore(3);
      for (const permits of WRONG_PERMITS) {
        await context.refuses(acquireSemaphore, { ...semaphore, permits }, "BAD_FIELD", { field: "permits" });
      }
      const many = { ...semaphore, permits: 4, waitMs: 5_000n };
      const { message } = await context.refuses(acquireSemaphore, many, "BAD_FIELD", { field: "permits" });
      expect(message).to.include("must be 1 to 3");
      const fields = { ...semaphore, permits: 1 };
      const limit = NAME_BYTES_MAX;
      const longer = "o".repeat(NAME_BYTES_MAX + 1);
      await context.refuses(acquireSemaphore, { ...fields, owner: longer }, "TOO_LARGE", { field: "owner", limit });
      for (const ttlSeconds of [TTL_SECONDS_MAX + 1n, -1n]) {
        await context.refuses(acquireSemaphore, { ...fields, ttlSeconds }, "BAD_FIELD", { field: "ttl_seconds" });
      }
      await context.refuses(acquireSemaphore, { ...fields, waitMs: -1n }, "BAD_FIELD", { field: "wait_ms" });
      await context.refuses(acquireSemaphore, { ...fields, fencingToken: -1n }, "BAD_FIELD", {
        field: "fencing_token",
      });
      expect((await context.ask(describeSemaphore, semaphore)).heldPermits).to.equal(0);
    },
    "guards writes with the token of each live hold": async (context) => {
      const semaphore = await context.semaphore(2);
      const { namespace, name: lockName } = semaphore;
      const key = { namespace, key: context.name(), value: Buffer.from("v") };
      const one = await context.ask(acquireSemaphore, { ...semaphore, permits: 1 });
      const two = await context.ask(acquireSemaphore, { ...semaphore, permits: 1 });
      const guardOf = (fencingToken: bigint) => ({ lockName, fencingToken, rw: false });
      await context.ask(putKey, { ...key, guard: guardOf(one.fencingToken) });
      await context.askElsewhere(putKey, { ...key, guard: guardOf(two.fencingToken) });
      await context.ask(releaseSemaphore, { ...semaphore, fencingToken: one.fencingToken });
      await context.refuses(putKey, { ...key, guard: guardOf(one.fencingToken) }, "FENCED");
      await context.ask(putKey, { ...key, guard: guardOf(two.fencingToken) });
    },
  },
};

const releasing: Table = {
  name: "ReleaseSemaphore",
  entries: {
    "gives back one hold by its token": async (context) => {
      const semaphore = await context.semaphore(3);
      const one = await context.ask(acquireSemaphore, { ...semaphore, permits: 2 });
      const two = await context.ask(acquireSemaphore, { ...semaphore, permits: 1 });
      const release = { ...semaphore, fencingToken: one.fencingToken };
      const released = await context.askElsewhere(releaseSemaphore, release);
      expectFields(released, { released: true, revision: isAbove(two.revision) });
      expect((await context.ask(describeSemaphore, semaphore)).heldPermits).to.equal(1);
      await context.refuses(releaseSemaphore, release, "NOT_LOCK_HOLDER");
    },
    "without a token, gives back the only hold that matches": async (context) => {
      const semaphore = await context.semaphore(3);
      await context.refuses(releaseSemaphore, semaphore, "NOT_LOCK_HOLDER");
      for (const owner of ["a", "b", "b"]) {
        await context.ask(acquireSemaphore, { ...semaphore, permits: 1, owner });
      }
      await context.refuses(releaseSemaphore, { ...semaphore, owner: "b" }, "AMBIGUOUS_HOLD");
      await context.refuses(releaseSemaphore, { ...semaphore, owner: "c" }, "NOT_LOCK_HOLDER");
      await context.ask(releaseSemaphore, { ...semaphore, owner: "a" });
      const { holders } = await context.askElsewhere(describeSemaphore, semaphore);
      expect(holders.map(({ owner }) => owner)).to.deep.equal(["b", "b"]);
    },
    "finds no hold of an exclusive lock": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      await context.refuses(releaseSemaphore, { ...lock, fencingToken }, "NOT_LOCK_HOLDER");
    },
    "ForceReleaseLock takes all holds, or the one with the token": async (context) => {
      const semaphore = await context.semaphore(3);
      const tokens: bigint[] = [];
      for (const owner of ["a", "b", "c"]) {
        tokens.push((await context.ask(acquireSemaphore, { ...semaphore, permits: 1, owner })).fencingToken);
      }
      const second = await context.askElsewhere(forceReleaseLock, { ...semaphore, fencingToken: tokens[1] ?? 0n });
      expect([second.released, second.previous?.owner, second.previous?.permits]).to.deep.equal([true, "b", 1]);
      const all = await context.ask(forceReleaseLock, semaphore);
      expect([all.released, all.previous?.owner]).to.deep.equal([true, "a"]);
      expect((await context.ask(describeSemaphore, semaphore)).heldPermits).to.equal(0);
    },
  },
};

const updating: Table = {
  name: "UpdateSemaphore",
  entries: {
    "may go below what is held: then nothing is granted until enough holds have ended": async (context) => {
      const semaphore = await context.semaphore(3);
      for (const owner of ["a", "b", "c"]) {
        await context.ask(acquireSemaphore, { ...semaphore, permits: 1, owner });
      }
      const { revision } = await context.ask(updateSemaphore, { ...semaphore, permits: 1 });
      const seen = await context.askElsewhere(describeSemaphore, semaphore);
      expect([seen.permits, seen.heldPermits, seen.revision >= revision]).to.deep.equal([1, 3, true]);
      const next = await context.queueSemaphore(context.elsewhere, { ...semaphore, permits: 1, owner: "d" }, 0);
      await context.ask(releaseSemaphore, { ...semaphore, owner: "a" });
      await context.ask(releaseSemaphore, { ...semaphore, owner: "b" });
      const waiting = await context.ask(describeSemaphore, semaphore);
      expect([waiting.heldPermits, waiting.waiters]).to.deep.equal([1, 1]);
      await context.ask(releaseSemaphore, { ...semaphore, owner: "c" });
      expect((await next.granted()).acquired).to.equal(true);
    },
    "lets in those who wait, and answers those who ask for more than there are now": async (context) => {
      const semaphore = await context.semaphore(3);
      await context.ask(acquireSemaphore, { ...semaphore, permits: 1, owner: "a" });
      const large = await context.queueSemaphore(context.here, { ...semaphore, permits: 3, owner: "large" }, 0);
      const small = await context.queueSemaphore(context.elsewhere, { ...semaphore, permits: 1, owner: "small" }, 1);
      await context.ask(updateSemaphore, { ...semaphore, permits: 2 });
      expect((await small.granted()).acquired).to.equal(true);
      await context.expectRefusal(await large.answer, "BAD_FIELD", { field: "permits" });
      const more = await context.queueSemaphore(context.elsewhere, { ...semaphore, permits: 1, owner: "b" }, 0);
      await context.ask(updateSemaphore, { ...semaphore, permits: 3 });
      expect((await more.granted()).heldPermits).to.equal(3);
    },
    "takes 1 to 10,000 permits": async (context) => {
      const semaphore = await context.semaphore(3);
      await context.ask(updateSemaphore, { ...semaphore, permits: PERMITS_MAX });
      for (const permits of WRONG_PERMITS) {
        const details = { field: "permits", limit: PERMITS_MAX };
        await context.refuses(updateSemaphore, { ...semaphore, permits }, "BAD_FIELD", details);
      }
    },
  },
};

const deleting: Table = {
  name: "DeleteSemaphore",
  entries: {
    "removes a free one; one in use needs force, and tokens are never repeated": async (context) => {
      const semaphore = await context.semaphore(2);
      const { fencingToken } = await context.ask(acquireSemaphore, { ...semaphore, permits: 2 });
      const next = await context.queueSemaphore(context.elsewhere, { ...semaphore, permits: 1 }, 0);
      await context.refuses(deleteSemaphore, semaphore, "NOT_EMPTY");
      await context.ask(deleteSemaphore, { ...semaphore, force: true });
      await context.expectRefusal(await next.answer, "LOCK_NOT_FOUND");
      await context.refuses(describeSemaphore, semaphore, "LOCK_NOT_FOUND");
      await context.ask(createSemaphore, { ...semaphore, permits: 1 });
      const again = await context.ask(acquireSemaphore, { ...semaphore, permits: 1 });
      expect(again.fencingToken > fencingToken).to.equal(true);
    },
  },
};

export const semaphores: readonly Table[] = [creating, describing, acquiring, releasing, updating, deleting];
