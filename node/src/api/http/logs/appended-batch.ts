/**
 * The answer to a batch as JSON. A million sequences are several megabytes of text, so the text is made in several
 * turns of the event loop.
 */

import type { Appended } from "../../methods/index.ts";
import { TurnSlices } from "../answers/index.ts";

/** Sequences between two checks of the clock. */
const SEQUENCES_PER_CHECK = 4_096;

/** The answer to a batch in the form for clients. */
export interface AppendedBatchBody {
  readonly success: true;
  /** In the order of the payloads. */
  readonly sequences: readonly number[];
  /** The greatest of them. */
  readonly last_sequence: number;
}

/** Returns the text of an AppendedBatchBody. */
export async function appendedBatchText({
  runs,
  lastSequence,
}: Pick<Appended, "runs" | "lastSequence">): Promise<string> {
  const slices = new TurnSlices();
  const parts: string[] = [];
  let pending: number[] = [];
  for (let run = 0; run < runs.length; run++) {
    const firstSequence = runs.firstSequenceOf(run);
    for (let at = 0; at < runs.countOf(run); at++) {
      pending.push(firstSequence + at);
      if (pending.length === SEQUENCES_PER_CHECK) {
        parts.push(pending.join());
        pending = [];
        if (slices.hasEnded) {
          await slices.next();
        }
      }
    }
  }
  if (pending.length > 0) {
    parts.push(pending.join());
  }
  const rest = JSON.stringify({ success: true, last_sequence: lastSequence });
  return `${rest.slice(0, -1)},"sequences":[${parts.join()}]}`;
}
