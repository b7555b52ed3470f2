/** One order of revisions over all primitives: the answers about keys, locks and regions follow the times together. */

import type { RecordedOperation } from "./history.ts";
import { revisionAnswersOfLocks } from "./lock-check.ts";
import type { LockRecord } from "./lock-history.ts";
import { revisionAnswersOfRegions } from "./region-check.ts";
import type { RegionRecord } from "./region-history.ts";
import { contradictionsOfOrder, type RevisionAnswer } from "./revision-order.ts";
import { isWrite, revisionAnsweredBy } from "./shown-revisions.ts";

/** Histories of one cluster by one clock. */
export interface Histories {
  readonly keys: readonly RecordedOperation[];
  readonly locks: readonly LockRecord[];
  readonly regions: readonly RegionRecord[];
}

/** Returns the contradictions to the one order in words; empty if there are none. */
export function orderCheck({ keys, locks, regions }: Histories): readonly string[] {
  return contradictionsOfOrder([
    ...revisionAnswersOfKeys(keys),
    ...revisionAnswersOfLocks(locks),
    ...revisionAnswersOfRegions(regions),
  ]);
}

function revisionAnswersOfKeys(operations: readonly RecordedOperation[]): readonly RevisionAnswer[] {
  return operations.flatMap(({ id, client, operation, startMs, endMs, outcome }) => {
    const answer = outcome.kind === "ok" ? outcome.answer : null;
    const revision = answer === null ? undefined : revisionAnsweredBy(answer);
    if (answer === null || revision === undefined) {
      return [];
    }
    const name = `#${id} ${operation.kind} of ${client} on ${operation.key}`;
    return [{ name, startMs, endMs, revision, own: isWrite(answer) ? revision : null }];
  });
}
