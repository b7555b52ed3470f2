/**
 * Counters under retries: each increment is one put with a request id of its own, sent again with the same id until it is
 * answered, through whichever member. The version of the key counts how often it was executed.
 */

import type { OperationOutcome } from "./history.ts";

/** An increment, all of its attempts together. */
export interface Increment {
  readonly counter: string;
  readonly requestId: string;
  readonly outcome: OperationOutcome["kind"];
  /** The revision that it was answered; 0 unless it is ok. */
  readonly revision: number;
}

/**
 * What contradicts that each increment was executed once if it was acknowledged, at most once if its outcome is unknown,
 * and else never; in words.
 *
 * @param versions of all counters at the end, by name.
 */
export function counterCheck(
  increments: readonly Increment[],
  versions: ReadonlyMap<string, number>,
): readonly string[] {
  const wrong: string[] = [];
  for (const [counter, own] of Map.groupBy(increments, (increment) => increment.counter)) {
    const acknowledged = own.filter(({ outcome }) => outcome === "ok");
    const unknown = own.filter(({ outcome }) => outcome === "unknown").length;
    const version = versions.get(counter) ?? 0;
    if (version < acknowledged.length || version > acknowledged.length + unknown) {
      wrong.push(
        `violated: an increment is executed once: ${counter} is ${version}, with ${acknowledged.length} increments ` +
          `acknowledged and ${unknown} of unknown outcome`,
      );
    }
  }
  const byRevision = new Map<number, Increment>();
  for (const increment of increments.filter(({ outcome }) => outcome === "ok")) {
    const other = byRevision.get(increment.revision);
    if (other !== undefined) {
      wrong.push(
        `violated: a revision has one write: ${increment.revision} was answered to ${other.requestId} and to ` +
          increment.requestId,
      );
    }
    byRevision.set(increment.revision, increment);
  }
  return wrong;
}
