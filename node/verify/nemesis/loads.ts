/** All loads that run on a cluster while faults are made: starts, records, counts and judges them. */

import type { WatchKeysResponse, WatchLocksResponse } from "@quoin/proto";
import type { AppendLoad, ConcurrentLoad } from "../../test/harness/index.ts";
import {
  contradictionOfPage,
  judgeHistory,
  leaderlessSpans,
  lockWatchCheck,
  logCheck,
  orderCheck,
  type RecordedPage,
  SEARCH_LIMIT_MS,
  type WatchedChange,
  type WatchedLockChange,
  watchCheck,
  withPages,
} from "../history/index.ts";
import type { CounterLoad } from "./counter-load.ts";
import type { LifetimeLoad } from "./lifetime-load.ts";
import type { LockLoad } from "./lock-load.ts";
import { countOutcomes, type OutcomeCount } from "./outcome-counts.ts";
import type { RegionLoad } from "./region-load.ts";
import { writeLines } from "./report.ts";
import type { SessionLoad } from "./session-load.ts";
import type { TransferLoad } from "./transfer-load.ts";
import type { WatchLoad } from "./watch-load.ts";

export interface Loads {
  readonly keys: ConcurrentLoad;
  readonly lifetimes: LifetimeLoad;
  readonly counters: CounterLoad;
  readonly locks: LockLoad;
  readonly regions: RegionLoad;
  readonly appends: AppendLoad;
  readonly transfers: TransferLoad;
  readonly sessions: SessionLoad;
  /** They watch the changes of the first two loads, and of locks. */
  readonly watches: WatchLoad<WatchedChange, WatchKeysResponse>;
  readonly lockWatches: WatchLoad<WatchedLockChange, WatchLocksResponse>;
}

/** Limits of the search in the histories of keys: the time is per key. */
const SEARCH = { nowMs: () => performance.now(), limitMs: SEARCH_LIMIT_MS };
/** All processes share one clock, and the cluster counts whole milliseconds. No history is as old as an hour. */
const WATCH_LIMITS = { clockDrift: 0, clockResolutionMs: 1, compactRevisionMax: 0 } as const;

export function startLoads({ keys, ...others }: Loads): void {
  for (const load of [keys, ...Object.values(others)]) {
    load.start();
  }
}

/** Closes the connections that outlive a load. */
export function closeLoads({ locks, regions, transfers, sessions }: Loads): void {
  for (const load of [locks, regions, transfers, sessions]) {
    load.close();
  }
}

/**
 * Descriptions of contradictions in the histories.
 *
 * @param timeoutMs the timeout of the clients on keys
 */
export function judgeLoads(loads: Loads, timeoutMs: number): readonly string[] {
  const { keys, lifetimes, counters, locks, regions, appends, transfers, sessions, watches, lockWatches } = loads;
  const { operations } = keys.history;
  const ofKeys = [...operations, ...lifetimes.operations];
  const ofAll = [...ofKeys, ...transfers.operations];
  const leaderless = leaderlessSpans(keys.writesMs, timeoutMs);
  return [
    ...judgeHistory(withPages(operations, keys.pages), SEARCH),
    ...contradictionsOfPages(keys.pages),
    ...lifetimes.judge(leaderless),
    ...counters.judge(),
    ...locks.judge(leaderless),
    ...regions.judge(),
    ...transfers.judge(SEARCH),
    ...sessions.judge(leaderless),
    ...logCheck(appends.history.operations),
    ...watchCheck(watches.watchings, ofKeys, WATCH_LIMITS),
    ...lockWatchCheck(lockWatches.watchings, locks.records, { ...WATCH_LIMITS, nameOf: (lock) => lock }),
    ...orderCheck({
      keys: ofAll,
      locks: [...locks.records, ...sessions.lockRecords],
      regions: regions.records,
      sessions: sessions.records,
    }),
  ];
}

function contradictionsOfPages(pages: readonly RecordedPage[]): readonly string[] {
  return pages.flatMap((page) => {
    const why = contradictionOfPage(page);
    const { client, prefix, after, revision } = page;
    return why === null ? [] : [`a page of ${prefix}, after ${after}, at revision ${revision} for ${client}: ${why}`];
  });
}

export function writeHistories(output: string, loads: Loads): void {
  const { keys, lifetimes, counters, locks, regions, appends, transfers, sessions, watches, lockWatches } = loads;
  writeLines(output, "history.jsonl", keys.history.operations);
  writeLines(output, "pages.jsonl", keys.pages);
  writeLines(output, "lifetimes.jsonl", lifetimes.operations);
  writeLines(output, "counters.jsonl", counters.increments);
  writeLines(output, "locks.jsonl", locks.records);
  writeLines(output, "regions.jsonl", regions.records);
  writeLines(output, "event-logs.jsonl", appends.history.operations);
  writeLines(output, "accounts.jsonl", transfers.operations);
  writeLines(output, "transfers.jsonl", transfers.transfers);
  writeLines(output, "sessions.jsonl", sessions.records);
  writeLines(output, "session-locks.jsonl", sessions.lockRecords);
  writeLines(output, "watches.jsonl", watches.lines);
  writeLines(output, "changes.jsonl", watches.changes);
  writeLines(output, "lock-watches.jsonl", lockWatches.lines);
  writeLines(output, "lock-changes.jsonl", lockWatches.changes);
}

/** Counts operations by kind and outcome. */
export function outcomesOf(loads: Loads): readonly OutcomeCount[] {
  const { keys, lifetimes, counters, locks, regions, appends, transfers, sessions } = loads;
  return countOutcomes([
    ...keys.history.operations.map(({ operation, outcome }) => ({ kind: operation.kind, outcome: outcome.kind })),
    ...keys.pages.map(() => ({ kind: "page", outcome: "ok" }) as const),
    ...Array.from({ length: keys.failedListings }, () => ({ kind: "page", outcome: "not-executed" }) as const),
    ...lifetimes.operations.map(({ operation, outcome }) => {
      return { kind: `${operation.kind} with a time to live`, outcome: outcome.kind };
    }),
    ...counters.increments.map(({ outcome }) => {
      return { kind: "increment", outcome: outcome === "acknowledged" ? ("ok" as const) : outcome };
    }),
    ...locks.records.map(({ operation, outcome }) => ({ kind: `lock: ${operation.kind}`, outcome: outcome.kind })),
    ...regions.records.map(({ operation, outcome }) => ({ kind: `region: ${operation.kind}`, outcome: outcome.kind })),
    ...appends.history.operations.map(({ operation, outcome }) => {
      return { kind: `event log: ${operation.kind}`, outcome: outcome.kind };
    }),
    ...transfers.transfers.map(({ outcome }) => {
      return { kind: "transfer", outcome: outcome === "succeeded" ? ("ok" as const) : outcome };
    }),
    ...sessions.records.map(({ operation, outcome }) => ({
      kind: `session: ${operation.kind}`,
      outcome: outcome.kind,
    })),
    ...sessions.lockRecords.map(({ operation, outcome }) => {
      return { kind: `lock in a session: ${operation.kind}`, outcome: outcome.kind };
    }),
  ]);
}

/** Further results of the loads, one line each. */
export function describeLoads(loads: Loads): readonly string[] {
  const { counters, locks, regions, appends, transfers, sessions, watches, lockWatches } = loads;
  return [
    `increments acknowledged after an attempt of unknown outcome ${counters.retried}`,
    ...[locks, regions, appends, transfers, sessions, watches, lockWatches].flatMap((load) => load.describe()),
  ];
}
