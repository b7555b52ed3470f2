/** WatchLocks: each beginning and end of a hold once and in order, of all kinds of locks. */

import {
  type LockEvent,
  LockEvent_Action,
  LockEvent_Reason,
  RWMode,
  type WatchLocksRequest,
  type WatchLocksResponse,
} from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  acquireRWLock,
  acquireSemaphore,
  type Connection,
  expectFields,
  follow,
  forceReleaseLock,
  isAtLeast,
  putKey,
  releaseLock,
  releaseRWLock,
  releaseSemaphore,
  type Stream,
  setLockValue,
  type Table,
  type TestContext,
  watchLocks,
} from "../harness/index.ts";

const { ACQUIRED, RELEASED } = LockEvent_Action;
const { NORMAL, EXPIRED, FORCED, DOWNGRADED, UPGRADED, UPDATED } = LockEvent_Reason;
const { READ, WRITE, RW_MODE_UNSPECIFIED } = RWMode;
const PREFIX_BYTES_MAX = 256;
const INTERVAL_MS_MIN = 100n;
const INTERVAL_MS_MAX = 60_000n;

/** What the events of most holds have. */
const PLAIN = { permits: 0, value: Buffer.alloc(0) };

type Watch = Stream<WatchLocksResponse>;

/** Runs `use` when the watch is in place, and cancels it afterwards. */
async function watching(
  connection: Connection,
  fields: Partial<WatchLocksRequest>,
  use: (watch: Watch, created: WatchLocksResponse) => Promise<void>,
): Promise<void> {
  const watch = follow(connection, watchLocks, fields);
  try {
    const created = await watch.until("the watch to be in place", ([first]) => first);
    await use(watch, created);
    for (const [at, message] of watch.messages.entries()) {
      expect(message.created, `created in message ${at}`).to.equal(at === 0);
      for (const { revision } of message.events) {
        expect(revision <= message.revision, "everything up to the message's revision was sent").to.equal(true);
      }
    }
    const revisions = watch.messages.flatMap(({ events }) => events.map(({ revision }) => revision));
    expect(
      revisions.toSorted((a, b) => Number(a - b)),
      "revisions only grow",
    ).to.deep.equal(revisions);
  } finally {
    watch.cancel();
  }
}

/** Waits for all events up to the revision, and returns the events so far. */
async function eventsUntil(watch: Watch, revision: bigint): Promise<LockEvent[]> {
  await watch.until(`all up to revision ${revision}`, (messages) =>
    messages.some((message) => message.revision >= revision),
  );
  return watch.messages.flatMap(({ events }) => events);
}

function events(watch: Watch, count: number): Promise<LockEvent[]> {
  return watch.until(`${count} events`, (messages) => {
    const all = messages.flatMap((message) => message.events);
    return all.length >= count ? all : null;
  });
}

/** Makes a change now, and returns its revision. */
async function nowRevision(context: TestContext): Promise<bigint> {
  return (await context.askElsewhere(putKey, { namespace: context.namespace, key: context.name() })).modRevision;
}

/** Everything that belongs to the entry. */
function ownLocks({ namespace, prefix }: TestContext): { readonly namespace: string; readonly namePrefix: string } {
  return { namespace, namePrefix: prefix };
}

export const lockWatches: Table = {
  name: "WatchLocks",
  entries: {
    "says first that it is in place, then sends grants and releases, but no renewal": async (context) => {
      const lock = await context.lock();
      await watching(context.here, ownLocks(context), async (watch, created) => {
        expectFields(created, { events: [], created: true, progress: false, partial: false, revision: isAtLeast(1n) });
        const { fencingToken } = await context.askElsewhere(acquireLock, { ...lock, owner: "o" });
        await context.ask(acquireLock, { ...lock, owner: "o", fencingToken });
        await context.ask(acquireLock, { ...lock, owner: "in vain" });
        const { revision } = await context.askElsewhere(releaseLock, { ...lock, owner: "o", fencingToken });
        const common = {
          ...PLAIN,
          lockKey: lock.name,
          owner: "o",
          reason: NORMAL,
          mode: RW_MODE_UNSPECIFIED,
          rw: false,
        };
        expect(await eventsUntil(watch, await nowRevision(context))).to.deep.equal([
          { ...common, action: ACQUIRED, fencingToken, revision: fencingToken },
          { ...common, action: RELEASED, fencingToken, revision },
        ]);
      });
    },
    "sends a hand-over as a release and then a grant": async (context) => {
      const lock = await context.lock();
      const first = await context.ask(acquireLock, { ...lock, owner: "1" });
      await watching(context.here, ownLocks(context), async (watch) => {
        const waiter = await context.queue(context.elsewhere, { ...lock, owner: "2" }, 0);
        const { revision } = await context.ask(releaseLock, { ...lock, owner: "1" });
        const { fencingToken } = await waiter.granted();
        const common = { ...PLAIN, lockKey: lock.name, reason: NORMAL, mode: RW_MODE_UNSPECIFIED, rw: false };
        expect(await events(watch, 2)).to.deep.equal([
          { ...common, action: RELEASED, owner: "1", fencingToken: first.fencingToken, revision },
          { ...common, action: ACQUIRED, owner: "2", fencingToken, revision: fencingToken },
        ]);
        expect(fencingToken > revision, "a grant has a revision of its own").to.equal(true);
      });
    },
    "sends the reason why a hold ended": async (context) => {
      const lock = await context.lock();
      await watching(context.here, ownLocks(context), async (watch) => {
        await context.ask(acquireLock, lock);
        await context.askElsewhere(forceReleaseLock, lock);
        const sentMs = performance.now();
        await context.ask(acquireLock, { ...lock, ttlSeconds: 1n });
        const told = await events(watch, 4);
        expect(performance.now() - sentMs, "S21: never early").to.be.at.least(1_000);
        expect(told.map(({ action, reason }) => [action, reason])).to.deep.equal([
          [ACQUIRED, NORMAL],
          [RELEASED, FORCED],
          [ACQUIRED, NORMAL],
          [RELEASED, EXPIRED],
        ]);
      });
    },
    "sends the permits of a semaphore's holds": async (context) => {
      const semaphore = await context.semaphore(3);
      await watching(context.here, ownLocks(context), async (watch) => {
        const { fencingToken } = await context.ask(acquireSemaphore, { ...semaphore, permits: 2, owner: "o" });
        const { revision } = await context.askElsewhere(releaseSemaphore, { ...semaphore, owner: "o" });
        const common = { ...PLAIN, lockKey: semaphore.name, owner: "o", reason: NORMAL, rw: false, permits: 2 };
        expect(await events(watch, 2)).to.deep.equal([
          { ...common, action: ACQUIRED, mode: RW_MODE_UNSPECIFIED, fencingToken, revision: fencingToken },
          { ...common, action: RELEASED, mode: RW_MODE_UNSPECIFIED, fencingToken, revision },
        ]);
      });
    },
    "sends the value of a hold when it begins, changes and ends": async (context) => {
      const lock = await context.lock();
      const [one, two] = [Buffer.from("one"), Buffer.from("two")];
      await watching(context.here, ownLocks(context), async (watch) => {
        const { fencingToken } = await context.ask(acquireLock, { ...lock, owner: "o", value: one });
        const changed = await context.askElsewhere(setLockValue, { ...lock, fencingToken, value: two });
        const { revision } = await context.ask(releaseLock, { ...lock, owner: "o" });
        const common = { ...PLAIN, lockKey: lock.name, owner: "o", mode: RW_MODE_UNSPECIFIED, rw: false, fencingToken };
        expect(await events(watch, 3)).to.deep.equal([
          { ...common, action: ACQUIRED, reason: NORMAL, value: one, revision: fencingToken },
          { ...common, action: ACQUIRED, reason: UPDATED, value: two, revision: changed.revision },
          { ...common, action: RELEASED, reason: NORMAL, value: two, revision },
        ]);
      });
    },
    "sends a downgrade as one grant with the same token, and then the readers that it lets in": async (context) => {
      const lock = await context.readWriteLock();
      const { fencingToken } = await context.ask(acquireRWLock, { ...lock, mode: WRITE, owner: "w" });
      const reader = await context.queueRW(context.elsewhere, { ...lock, mode: READ, owner: "r" }, 0);
      await watching(context.here, ownLocks(context), async (watch) => {
        const { revision } = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "w", fencingToken });
        const granted = await reader.granted();
        const common = { ...PLAIN, lockKey: lock.name, action: ACQUIRED, mode: READ, rw: true };
        expect(await eventsUntil(watch, await nowRevision(context))).to.deep.equal([
          { ...common, owner: "w", reason: DOWNGRADED, fencingToken, revision },
          { ...common, owner: "r", reason: NORMAL, fencingToken: granted.fencingToken, revision: granted.fencingToken },
        ]);
      });
    },
    "sends an upgrade as a release and a grant at one revision": async (context) => {
      const lock = await context.readWriteLock();
      const { fencingToken } = await context.ask(acquireRWLock, { ...lock, mode: READ, owner: "r" });
      await watching(context.here, ownLocks(context), async (watch) => {
        const up = await context.askElsewhere(acquireRWLock, { ...lock, mode: WRITE, owner: "r", fencingToken });
        const common = {
          ...PLAIN,
          lockKey: lock.name,
          owner: "r",
          reason: UPGRADED,
          rw: true,
          revision: up.fencingToken,
        };
        expect(await events(watch, 2)).to.deep.equal([
          { ...common, action: RELEASED, mode: READ, fencingToken },
          { ...common, action: ACQUIRED, mode: WRITE, fencingToken: up.fencingToken },
        ]);
        const message = watch.messages.find((one) => one.events.length > 0);
        expect(message?.events, "a revision is not split").to.have.lengthOf(2);
      });
    },
    "sends the holds of every reader": async (context) => {
      const lock = await context.readWriteLock();
      await watching(context.here, ownLocks(context), async (watch) => {
        for (const owner of ["a", "b"]) {
          await context.ask(acquireRWLock, { ...lock, mode: READ, owner });
        }
        await context.askElsewhere(releaseRWLock, { ...lock, owner: "a" });
        const told = await events(watch, 3);
        expect(told.map(({ action, owner, mode, rw }) => [action, owner, mode, rw])).to.deep.equal([
          [ACQUIRED, "a", READ, true],
          [ACQUIRED, "b", READ, true],
          [RELEASED, "a", READ, true],
        ]);
      });
    },
    "S37: resumes behind any revision, at any member, with all that followed and nothing else": async (context) => {
      const lock = await context.lock();
      const revisions: bigint[] = [];
      for (let turn = 0; turn < 4; turn++) {
        revisions.push((await context.ask(acquireLock, lock)).fencingToken);
        revisions.push((await context.askElsewhere(releaseLock, lock)).revision);
      }
      for (const [at, revision] of revisions.entries()) {
        const connection = at % 2 === 0 ? context.here : context.elsewhere;
        await watching(connection, { ...ownLocks(context), startRevision: revision + 1n }, async (watch) => {
          const told = await eventsUntil(watch, revisions.at(-1) as bigint);
          expect(told.map((event) => event.revision)).to.deep.equal(revisions.slice(at + 1));
        });
      }
    },
    "sends only changes of its prefix and namespace, and its progress when nothing happens": async (context) => {
      const lock = await context.lock();
      const watched = { ...ownLocks(context), namePrefix: lock.name, progressIntervalMs: INTERVAL_MS_MIN };
      await watching(context.here, watched, async (watch) => {
        const other = await context.lock();
        await context.ask(acquireLock, other);
        const { revision } = await context.ask(acquireLock, lock);
        expect((await eventsUntil(watch, revision)).map(({ lockKey }) => lockKey)).to.deep.equal([lock.name]);
        const later = await nowRevision(context);
        const progress = await watch.until("progress", (messages) =>
          messages.find((message) => message.progress && message.revision >= later),
        );
        expectFields(progress, {
          events: [],
          created: false,
          progress: true,
          partial: false,
          revision: isAtLeast(later),
        });
      });
    },
    "takes prefixes of 256 bytes and intervals of 100 to 60,000 ms, not of one more or less": async (context) => {
      const { namespace } = context;
      const namePrefix = context.name().padEnd(PREFIX_BYTES_MAX, "p");
      const limits = { namespace, namePrefix, progressIntervalMs: INTERVAL_MS_MAX };
      await watching(context.here, limits, async () => undefined);
      const longer = { namespace, namePrefix: `${namePrefix}p` };
      await context.refuses(watchLocks, longer, "TOO_LARGE", { field: "name_prefix", limit: PREFIX_BYTES_MAX });
      for (const progressIntervalMs of [INTERVAL_MS_MIN - 1n, INTERVAL_MS_MAX + 1n, -1n]) {
        const fields = { namespace, progressIntervalMs };
        await context.refuses(watchLocks, fields, "BAD_FIELD", { field: "progress_interval_ms" });
      }
      await context.refuses(watchLocks, { namespace, startRevision: -1n }, "BAD_FIELD", { field: "start_revision" });
    },
  },
};
