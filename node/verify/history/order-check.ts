/**
 * One order of revisions over all primitives: the answers about keys, locks, regions and sessions follow the times
 * together.
 */

import type { RecordedOperation } from "./history.ts";
import { revisionAnswersOfLocks } from "./lock-check.ts";
import type { LockRecord } from "./lock-history.ts";
import { revisionAnswersOfRegions } from "./region-check.ts";
import type { RegionRecord } from "./region-history.ts";
import { contradictionsOfOrder, type RevisionAnswer } from "./revision-order.ts";
import { revisionAnswersOfSessions } from "./session-check.ts";
import type { SessionRecord } from "./session-history.ts";
import { isWrite, revisionAnsweredBy } from "./shown-revisions.ts";

/** Histories of one cluster by one clock. */
export interface Histories {
  readonly keys: readonly RecordedOperation[];
  readonly locks: readonly LockRecord[];
  readonly regions: readonly RegionRecord[];
  readonly sessions: readonly SessionRecord[];
}

/** Returns the contradictions to the one order in words; empty if there are none. */
export function orderCheck({ keys, locks, regions, sessions }: Histories): readonly string[] {
  return contradictionsOfOrder([
    ...revisionAnswersOfKeys(keys),
    ...revisionAnswersOfLocks(locks),
    ...revisionAnswersOfRegions(regions),
    ...revisionAnswersOfSessions(sessions),
  ]);
}

function revisionAnswersOfKeys(operations: readonly RecordedOperation[]): readonly RevisionAnswer[] {
  // A step has one revision, and is one maker of it.
  return [...Map.groupBy(operations, (one) => one.step ?? one).values()].flatMap((ofStep) => {
    const answered = ofStep.flatMap(({ outcome, ...recorded }) => {
      const revision = outcome.kind === "ok" ? revisionAnsweredBy(outcome.answer) : undefined;
      const isOwn = outcome.kind === "ok" && isWrite(outcome.answer);
      return revision === undefined ? [] : [{ recorded, revision, isOwn }];
    });
    const [first] = answered;
    if (first === undefined) {
      return [];
    }
    const { id, client, operation, startMs, endMs } = first.recorded;
    const name = `#${id} ${operation.kind} of ${client} on ${operation.key}`;
    const { revision } = first;
    return [{ name, startMs, endMs, revision, own: answered.some(({ isOwn }) => isOwn) ? revision : null }];
  });
}
