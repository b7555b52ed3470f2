/** LockService, read-write locks: modes, order of grants, downgrade, upgrade, release and force. */

import { LockState, ReadConsistency, RWMode } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireRWLock,
  createLock,
  createRWLock,
  describeRWLock,
  expectFields,
  forceReleaseLock,
  isAbove,
  isAtLeast,
  isPositive,
  isUnixMs,
  isWithinSeconds,
  releaseRWLock,
  type Table,
  until,
} from "../harness/index.ts";

const { READ, WRITE, RW_MODE_UNSPECIFIED } = RWMode;
const NAME_BYTES_MAX = 256;
const TTL_SECONDS_MAX = 86_400n;
const DELAY_SECONDS_MAX = 60n;
const TTL_SECONDS_DEFAULT = 30n;
/** A mode that does not exist. */
const NO_MODE = 3 as RWMode;

const creating: Table = {
  name: "CreateRWLock",
  entries: {
    "answers name, time and revision, and everybody sees a free lock": async (context) => {
      const lock = { namespace: context.namespace, name: context.name() };
      const created = await context.ask(createRWLock, { ...lock, ttlSeconds: 7n, lockDelaySeconds: 2n });
      expectFields(created, { name: lock.name, createdAtMs: isUnixMs, revision: isPositive });
      expectFields(await context.askElsewhere(describeRWLock, lock), {
        name: lock.name,
        state: LockState.FREE,
        holders: [],
        waitingReaders: 0,
        waitingWriters: 0,
        ttlSeconds: 7n,
        lockDelaySeconds: 2n,
        lastFencingToken: 0n,
        createdAtMs: created.createdAtMs,
        revision: isAtLeast(created.revision),
      });
      await context.refuses(createRWLock, lock, "LOCK_EXISTS");
      await context.ask(createLock, lock);
    },
    "takes names of 256 bytes, lives of a day and delays of a minute, not of one more": async (context) => {
      const { namespace } = context;
      const name = context.name().padEnd(NAME_BYTES_MAX, "n");
      const limits = { ttlSeconds: TTL_SECONDS_MAX, lockDelaySeconds: DELAY_SECONDS_MAX };
      await context.ask(createRWLock, { namespace, name, ...limits });
      const longer = { namespace, name: `${name}n` };
      await context.refuses(createRWLock, longer, "TOO_LARGE", { field: "name", limit: NAME_BYTES_MAX });
      const other = { namespace, name: context.name() };
      for (const value of [TTL_SECONDS_MAX + 1n, -1n]) {
        await context.refuses(createRWLock, { ...other, ttlSeconds: value }, "BAD_FIELD", { field: "ttl_seconds" });
      }
      for (const value of [DELAY_SECONDS_MAX + 1n, -1n]) {
        const fields = { ...other, lockDelaySeconds: value };
        await context.refuses(createRWLock, fields, "BAD_FIELD", { field: "lock_delay_seconds" });
      }
    },
  },
};

const describing: Table = {
  name: "DescribeRWLock",
  entries: {
    "answers who holds it and how many wait, by mode": async (context) => {
      const lock = await context.readWriteLock({ ttlSeconds: 60n });
      const one = await context.askElsewhere(acquireRWLock, { ...lock, mode: READ, owner: "r1" });
      const two = await context.askElsewhere(acquireRWLock, { ...lock, mode: READ, owner: "r2" });
      await context.queueRW(context.here, { ...lock, mode: WRITE, owner: "w" }, 0);
      await context.queueRW(context.here, { ...lock, mode: READ, owner: "r3" }, 1);
      const described = await context.ask(describeRWLock, lock);
      const { holders } = described;
      expectFields(described, {
        name: lock.name,
        state: LockState.READ_HELD,
        holders: (value: object) => value === holders,
        waitingReaders: 1,
        waitingWriters: 1,
        ttlSeconds: 60n,
        lockDelaySeconds: 0n,
        lastFencingToken: two.fencingToken,
        createdAtMs: isUnixMs,
        revision: isAtLeast(two.revision),
      });
      expect(holders).to.have.lengthOf(2);
      for (const [at, { fencingToken }] of [one, two].entries()) {
        expectFields(holders[at] as (typeof holders)[number], {
          owner: `r${at + 1}`,
          subject: context.testRun.claims.sub,
          fencingToken,
          mode: READ,
          acquiredAtMs: isUnixMs,
          permits: 0,
          value: Buffer.alloc(0),
          sessionId: 0n,
          expiresInMs: isWithinSeconds(60n),
        });
      }
    },
    "SERIALIZABLE comes to see it": async (context) => {
      const lock = await context.readWriteLock();
      await context.askElsewhere(acquireRWLock, { ...lock, mode: WRITE });
      await until("the member to have applied it", async () => {
        const fields = { ...lock, consistency: ReadConsistency.SERIALIZABLE };
        return (await context.here.call(describeRWLock, fields)).response?.state === LockState.WRITE_HELD;
      });
    },
  },
};

const acquiring: Table = {
  name: "AcquireRWLock",
  entries: {
    "lets many read, each with its own token, and no other client write meanwhile": async (context) => {
      const lock = await context.readWriteLock();
      const first = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r1" });
      expectFields(first, {
        acquired: true,
        fencingToken: isPositive,
        mode: READ,
        ttlSeconds: TTL_SECONDS_DEFAULT,
        expiresInMs: isWithinSeconds(TTL_SECONDS_DEFAULT),
        holders: (value: readonly unknown[]) => value.length === 1,
        queueLength: 0,
        state: LockState.READ_HELD,
        waitedMs: 0n,
        revision: first.fencingToken,
      });
      const second = await context.askElsewhere(acquireRWLock, { ...lock, mode: READ, owner: "r2" });
      expect(second.fencingToken > first.fencingToken).to.equal(true);
      expect(second.holders.map(({ owner }) => owner)).to.deep.equal(["r1", "r2"]);
      const refused = await context.ask(acquireRWLock, { ...lock, mode: WRITE, owner: "w" });
      expectFields(refused, {
        acquired: false,
        fencingToken: 0n,
        mode: RW_MODE_UNSPECIFIED,
        ttlSeconds: 0n,
        expiresInMs: 0n,
        holders: (value: typeof second.holders) => value.map(({ mode }) => mode).join() === [READ, READ].join(),
        queueLength: 0,
        state: LockState.READ_HELD,
        waitedMs: 0n,
        revision: isAtLeast(second.revision),
      });
    },
    "lets one write, and excludes all others meanwhile": async (context) => {
      const lock = await context.readWriteLock();
      const { fencingToken, state } = await context.ask(acquireRWLock, { ...lock, mode: WRITE, owner: "w" });
      expect(state).to.equal(LockState.WRITE_HELD);
      for (const mode of [READ, WRITE]) {
        const refused = await context.askElsewhere(acquireRWLock, { ...lock, mode, owner: "o" });
        expect([refused.acquired, refused.state]).to.deep.equal([false, LockState.WRITE_HELD]);
        expect(refused.holders.map((hold) => [hold.fencingToken, hold.mode])).to.deep.equal([[fencingToken, WRITE]]);
      }
    },
    "S29: no reader overtakes a writer who waits, and readers in a row are let in together": async (context) => {
      const lock = await context.readWriteLock();
      await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r0" });
      const writer = await context.queueRW(context.elsewhere, { ...lock, mode: WRITE, owner: "w1" }, 0);
      const late = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r" });
      expect([late.acquired, late.queueLength], "a request that does not wait does not overtake either").to.deep.equal([
        false,
        1,
      ]);
      const readers = [
        await context.queueRW(context.here, { ...lock, mode: READ, owner: "r1" }, 1),
        await context.queueRW(context.elsewhere, { ...lock, mode: READ, owner: "r2" }, 2),
      ];
      const last = await context.queueRW(context.here, { ...lock, mode: WRITE, owner: "w2" }, 3);
      await context.ask(releaseRWLock, { ...lock, owner: "r0" });
      const written = await writer.granted();
      expect([written.acquired, written.mode, written.state]).to.deep.equal([true, WRITE, LockState.WRITE_HELD]);
      await context.ask(releaseRWLock, { ...lock, owner: "w1" });
      const [one, two] = await Promise.all(readers.map((reader) => reader.granted()));
      expect([one?.acquired, two?.acquired]).to.deep.equal([true, true]);
      const tokens = [written, one, two].map((granted) => granted?.fencingToken ?? 0n);
      expect(
        tokens.toSorted((a, b) => Number(a - b)),
        "tokens in the order of asking",
      ).to.deep.equal(tokens);
      expect((await context.ask(describeRWLock, lock)).waitingWriters).to.equal(1);
      await context.ask(releaseRWLock, { ...lock, owner: "r1" });
      await context.ask(releaseRWLock, { ...lock, owner: "r2" });
      expect((await last.granted()).acquired).to.equal(true);
    },
    "S29: a writer who gives up lets the readers behind it in": async (context) => {
      const lock = await context.readWriteLock();
      await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r0" });
      const writer = await context.queueRW(context.here, { ...lock, mode: WRITE, owner: "w" }, 0);
      const reader = await context.queueRW(context.elsewhere, { ...lock, mode: READ, owner: "r1" }, 1);
      writer.cancel();
      const granted = await reader.granted();
      expect(granted.holders.map(({ owner }) => owner)).to.deep.equal(["r0", "r1"]);
    },
    "S29: the end of one reader's life frees its hold alone": async (context) => {
      const lock = await context.readWriteLock();
      await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "short", ttlSeconds: 1n });
      await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "long" });
      await until("one hold to be left", async () => {
        const { holders, state } = await context.askElsewhere(describeRWLock, lock);
        expect(state).to.equal(LockState.READ_HELD);
        return holders.map(({ owner }) => owner).join() === "long";
      });
    },
    "renews a hold in its own mode": async (context) => {
      const lock = await context.readWriteLock();
      for (const mode of [READ, WRITE]) {
        const { fencingToken } = await context.ask(acquireRWLock, { ...lock, mode, owner: "o" });
        const renewal = { ...lock, mode, owner: "o", fencingToken, ttlSeconds: 100n };
        const renewed = await context.askElsewhere(acquireRWLock, renewal);
        expectFields(renewed, {
          acquired: true,
          fencingToken,
          mode,
          ttlSeconds: 100n,
          expiresInMs: (value: bigint) => value > 90_000n && value <= 100_000n,
          holders: (value: readonly unknown[]) => value.length === 1,
          queueLength: 0,
          state: mode === READ ? LockState.READ_HELD : LockState.WRITE_HELD,
          waitedMs: 0n,
          revision: isAbove(fencingToken),
        });
        await context.refuses(acquireRWLock, { ...renewal, owner: "p" }, "NOT_LOCK_HOLDER");
        await context.ask(releaseRWLock, { ...lock, fencingToken, owner: "o" });
        await context.refuses(acquireRWLock, renewal, "LOCK_LOST");
      }
    },
    "downgrades a writer at once, who keeps the token, and lets waiting readers in": async (context) => {
      const lock = await context.readWriteLock();
      const { fencingToken } = await context.ask(acquireRWLock, { ...lock, mode: WRITE, owner: "w" });
      const reader = await context.queueRW(context.elsewhere, { ...lock, mode: READ, owner: "r" }, 0);
      const down = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "w", fencingToken });
      expect([down.acquired, down.fencingToken, down.mode]).to.deep.equal([true, fencingToken, READ]);
      const granted = await reader.granted();
      expect(down.revision < granted.revision, "the downgrade has a revision of its own").to.equal(true);
      expect(granted.fencingToken > fencingToken).to.equal(true);
      expect((await context.ask(describeRWLock, lock)).holders.map(({ owner }) => owner)).to.deep.equal(["w", "r"]);
    },
    "upgrades the only reader, with a new token": async (context) => {
      const lock = await context.readWriteLock();
      const { fencingToken } = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r" });
      const up = await context.askElsewhere(acquireRWLock, { ...lock, mode: WRITE, owner: "r", fencingToken });
      expect([up.acquired, up.mode, up.state]).to.deep.equal([true, WRITE, LockState.WRITE_HELD]);
      expect(up.fencingToken > fencingToken).to.equal(true);
      expect(up.holders.map((hold) => [hold.fencingToken, hold.mode])).to.deep.equal([[up.fencingToken, WRITE]]);
      await context.refuses(acquireRWLock, { ...lock, mode: READ, owner: "r", fencingToken }, "LOCK_LOST");
    },
    "refuses an upgrade that others are in the way of, and changes nothing": async (context) => {
      const lock = await context.readWriteLock();
      const one = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r1" });
      const two = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r2" });
      for (const [owner, { fencingToken }] of [
        ["r1", one],
        ["r2", two],
      ] as const) {
        const upgrade = { ...lock, mode: WRITE, owner, fencingToken, waitMs: 5_000n };
        await context.refuses(acquireRWLock, upgrade, "UPGRADE_WOULD_DEADLOCK");
      }
      await context.ask(releaseRWLock, { ...lock, owner: "r2" });
      const waiter = await context.queueRW(context.elsewhere, { ...lock, mode: WRITE, owner: "w" }, 0);
      const upgrade = { ...lock, mode: WRITE, owner: "r1", fencingToken: one.fencingToken };
      await context.refuses(acquireRWLock, upgrade, "UPGRADE_WOULD_DEADLOCK");
      const { holders } = await context.askElsewhere(describeRWLock, lock);
      expect(holders.map((hold) => [hold.fencingToken, hold.mode])).to.deep.equal([[one.fencingToken, READ]]);
      await context.ask(releaseRWLock, { ...lock, owner: "r1" });
      expect((await waiter.granted()).acquired).to.equal(true);
    },
    "takes no mode but READ and WRITE, and the limits of exclusive locks": async (context) => {
      const lock = await context.readWriteLock();
      for (const mode of [RW_MODE_UNSPECIFIED, NO_MODE]) {
        await context.refuses(acquireRWLock, { ...lock, mode }, "BAD_FIELD", { field: "mode" });
      }
      const owner = "o".repeat(NAME_BYTES_MAX);
      const got = await context.ask(acquireRWLock, { ...lock, mode: READ, owner, ttlSeconds: TTL_SECONDS_MAX });
      expect([got.ttlSeconds, got.holders[0]?.owner]).to.deep.equal([TTL_SECONDS_MAX, owner]);
      const limit = NAME_BYTES_MAX;
      const longer = { ...lock, mode: READ, owner: `${owner}o` };
      await context.refuses(acquireRWLock, longer, "TOO_LARGE", { field: "owner", limit });
      const named = { ...lock, mode: READ, name: "n".repeat(NAME_BYTES_MAX + 1) };
      await context.refuses(acquireRWLock, named, "TOO_LARGE", { field: "name", limit });
      for (const ttlSeconds of [TTL_SECONDS_MAX + 1n, -1n]) {
        const fields = { ...lock, mode: READ, ttlSeconds };
        await context.refuses(acquireRWLock, fields, "BAD_FIELD", { field: "ttl_seconds" });
      }
      await context.refuses(acquireRWLock, { ...lock, mode: READ, waitMs: -1n }, "BAD_FIELD", { field: "wait_ms" });
      const negative = { ...lock, mode: READ, fencingToken: -1n };
      await context.refuses(acquireRWLock, negative, "BAD_FIELD", { field: "fencing_token" });
    },
    "lock-delay: a forced release delays writers, and readers unless others read": async (context) => {
      const lock = await context.readWriteLock({ lockDelaySeconds: 60n });
      await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r1" });
      const two = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r2" });
      await context.ask(forceReleaseLock, { ...lock, rw: true, fencingToken: two.fencingToken });
      const beside = await context.askElsewhere(acquireRWLock, { ...lock, mode: READ, owner: "r3" });
      expect([beside.acquired, beside.state], "beside live readers").to.deep.equal([true, LockState.READ_HELD]);
      await context.ask(releaseRWLock, { ...lock, owner: "r1" });
      await context.ask(releaseRWLock, { ...lock, owner: "r3" });
      const refused = await context.ask(acquireRWLock, { ...lock, mode: WRITE, owner: "w" });
      expect([refused.acquired, refused.state, refused.holders]).to.deep.equal([false, LockState.COOLDOWN, []]);
    },
  },
};

const releasing: Table = {
  name: "ReleaseRWLock",
  entries: {
    "gives back one hold by its token": async (context) => {
      const lock = await context.readWriteLock();
      const one = await context.ask(acquireRWLock, { ...lock, mode: READ });
      const two = await context.ask(acquireRWLock, { ...lock, mode: READ });
      const released = await context.askElsewhere(releaseRWLock, { ...lock, fencingToken: one.fencingToken });
      expectFields(released, { released: true, revision: isAbove(two.revision) });
      const { holders } = await context.ask(describeRWLock, lock);
      expect(holders.map(({ fencingToken }) => fencingToken)).to.deep.equal([two.fencingToken]);
      await context.refuses(releaseRWLock, { ...lock, fencingToken: one.fencingToken }, "NOT_LOCK_HOLDER");
    },
    "without a token, gives back the only hold that matches": async (context) => {
      const lock = await context.readWriteLock();
      await context.refuses(releaseRWLock, lock, "NOT_LOCK_HOLDER");
      await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "a" });
      await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "b" });
      await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "b" });
      await context.refuses(releaseRWLock, { ...lock, owner: "b" }, "AMBIGUOUS_HOLD");
      await context.refuses(releaseRWLock, { ...lock, owner: "b", mode: READ }, "AMBIGUOUS_HOLD");
      await context.refuses(releaseRWLock, { ...lock, owner: "c" }, "NOT_LOCK_HOLDER");
      await context.refuses(releaseRWLock, { ...lock, owner: "a", mode: WRITE }, "NOT_LOCK_HOLDER");
      await context.ask(releaseRWLock, { ...lock, owner: "a", mode: READ });
      const { holders } = await context.askElsewhere(describeRWLock, lock);
      expect(holders.map(({ owner }) => owner)).to.deep.equal(["b", "b"]);
    },
    "S26: leaves the holds alone when asked by another owner": async (context) => {
      const lock = await context.readWriteLock();
      const { fencingToken } = await context.ask(acquireRWLock, { ...lock, mode: WRITE, owner: "o" });
      await context.refuses(releaseRWLock, { ...lock, owner: "p", fencingToken }, "NOT_LOCK_HOLDER");
      await context.refuses(releaseRWLock, { ...lock, owner: "o", fencingToken: fencingToken - 1n }, "NOT_LOCK_HOLDER");
      expect((await context.askElsewhere(describeRWLock, lock)).state).to.equal(LockState.WRITE_HELD);
    },
    "takes no mode that does not exist, and the limits of exclusive locks": async (context) => {
      const lock = await context.readWriteLock();
      await context.refuses(releaseRWLock, { ...lock, mode: NO_MODE }, "BAD_FIELD", { field: "mode" });
      const owner = "o".repeat(NAME_BYTES_MAX);
      await context.refuses(releaseRWLock, { ...lock, owner }, "NOT_LOCK_HOLDER");
      const limit = NAME_BYTES_MAX;
      await context.refuses(releaseRWLock, { ...lock, owner: `${owner}o` }, "TOO_LARGE", { field: "owner", limit });
      await context.refuses(releaseRWLock, { ...lock, name: `${owner}o` }, "TOO_LARGE", { field: "name", limit });
      await context.refuses(releaseRWLock, { ...lock, fencingToken: -1n }, "BAD_FIELD", { field: "fencing_token" });
    },
  },
};

const forcing: Table = {
  name: "ForceReleaseLock, of a read-write lock",
  entries: {
    "takes all holds, or the one with the token, and returns the first holder": async (context) => {
      const lock = await context.readWriteLock();
      const one = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r1" });
      const two = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r2" });
      const three = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r3" });
      const second = await context.askElsewhere(forceReleaseLock, {
        ...lock,
        rw: true,
        fencingToken: two.fencingToken,
      });
      expect([second.released, second.previous?.owner, second.previous?.mode]).to.deep.equal([true, "r2", READ]);
      const { holders } = await context.ask(describeRWLock, lock);
      expect(holders.map(({ fencingToken }) => fencingToken)).to.deep.equal([one.fencingToken, three.fencingToken]);
      const all = await context.ask(forceReleaseLock, { ...lock, rw: true });
      expect([all.released, all.previous?.owner]).to.deep.equal([true, "r1"]);
      const nothing = await context.ask(forceReleaseLock, { ...lock, rw: true });
      expect([nothing.released, nothing.previous]).to.deep.equal([false, undefined]);
    },
    "acts on the kind of lock that it names alone": async (context) => {
      const lock = await context.readWriteLock();
      await context.ask(acquireRWLock, { ...lock, mode: WRITE });
      await context.refuses(forceReleaseLock, lock, "LOCK_NOT_FOUND");
      await context.ask(createLock, lock);
      expect((await context.ask(forceReleaseLock, lock)).released).to.equal(false);
      expect((await context.ask(describeRWLock, lock)).state).to.equal(LockState.WRITE_HELD);
    },
  },
};

export const readWriteLocks: readonly Table[] = [creating, describing, acquiring, releasing, forcing];
