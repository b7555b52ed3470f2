import { expect } from "chai";
import fc from "fast-check";
import { type ExecutedLocksOptions, executedLocks } from "./executed-locks.ts";
import type { ExpiryLimits } from "./expiries.ts";
import { lockCheck } from "./lock-check.ts";
import type { LockRecord } from "./lock-history.ts";
import { type LockWatchLimits, lockWatchCheck } from "./lock-watch-check.ts";
import type { WatchedLockChange, Watching } from "./watch-history.ts";

type Random = (bound: number) => number;

const SIZE = { clients: 6, operationsPerClient: 16, unknownPercent: 6 };
const KINDS: readonly (readonly [name: string, options: ExecutedLocksOptions])[] = [
  ["an exclusive lock", { ...SIZE, rw: false, lockDelaySeconds: 0 }],
  ["an exclusive lock with a delay", { ...SIZE, rw: false, lockDelaySeconds: 1 }],
  ["a read-write lock", { ...SIZE, rw: true, lockDelaySeconds: 0 }],
  ["a read-write lock with a delay", { ...SIZE, rw: true, lockDelaySeconds: 1 }],
  ["a lock whose clients often get no answer", { ...SIZE, unknownPercent: 40, rw: false, lockDelaySeconds: 0 }],
];
const RUNS = 15;
const LIMITS: ExpiryLimits = { clockDrift: 0, clockResolutionMs: 1, lateMsMax: 50, leaderless: [] };

const WATCH_LIMITS: LockWatchLimits = { ...LIMITS, compactRevisionMax: 0, nameOf: (lock) => lock };

const random = fc.infiniteStream(fc.nat({ max: 0xffff })).map((stream): Random => {
  return (bound) => (stream.next().value as number) % bound;
});

describe("histories of locks that were lived", () => {
  for (const [name, options] of KINDS) {
    it(`are right: ${name}`, () => {
      fc.assert(
        fc.property(random, (next) => {
          const { records, watching } = executedLocks(next, options);
          expect(lockCheck(records, LIMITS).join("\n")).to.equal("");
          expect(lockWatchCheck([watching], records, WATCH_LIMITS).join("\n")).to.equal("");
        }),
        { numRuns: RUNS },
      );
    });
  }

  it("are watched completely: a missing change is found", () => {
    const [, options] = KINDS[2] as (typeof KINDS)[number];
    fc.assert(
      fc.property(random, fc.nat(), (next, at) => {
        const { records, watching } = executedLocks(next, options);
        const lesser = without(watching, at);
        expect(lockWatchCheck([lesser, watching], records, WATCH_LIMITS).join("\n")).to.contain("nothing is left out");
      }),
      { numRuns: RUNS },
    );
  });

  it("have waits, guarded writes with and without effect, and holds that expire", () => {
    const seen = new Set<string>();
    fc.sample(random, { seed: 7, numRuns: 20 }).forEach((next) => {
      for (const record of executedLocks(next, KINDS[2]?.[1] as ExecutedLocksOptions).records) {
        seen.add(kindOf(record));
      }
    });
    const rare = ["LOCK_LOST", "FENCED", "UPGRADE_WOULD_DEADLOCK", "NOT_LOCK_HOLDER", "released", "written"];
    expect([...seen]).to.include.members([...rare, "acquired after a wait", "not-acquired after a wait", "described"]);
  });
});

/** The same watcher without one of its changes. */
function without({ streams, ...watching }: Watching<WatchedLockChange>, at: number): Watching<WatchedLockChange> {
  const count = streams.flatMap(({ messages }) => messages.flatMap(({ changes }) => changes)).length;
  let position = 0;
  const left = streams.map((stream) => ({
    ...stream,
    messages: stream.messages.map((message) => {
      return { ...message, changes: message.changes.filter(() => position++ !== at % count) };
    }),
  }));
  return { ...watching, client: "another watcher", streams: left };
}

function kindOf({ outcome }: LockRecord): string {
  if (outcome.kind !== "ok") {
    return outcome.kind;
  }
  const { answer } = outcome;
  if (answer.kind === "refused") {
    return answer.reason;
  }
  return "waitedMs" in answer && answer.waitedMs > 0 ? `${answer.kind} after a wait` : answer.kind;
}
