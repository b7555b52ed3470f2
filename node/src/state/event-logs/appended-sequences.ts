/** Assigns sequences to the events of an append: stored events keep theirs, the others get the next ones. */

import { SequenceRuns, SequenceRunsWriter, STEP_ITEMS, type Steps } from "../core/index.ts";
import type { Payloads } from "./payloads.ts";

export interface AppendedSequences {
  /** The events that are not yet stored. */
  readonly fresh: SequenceRuns;
  /** All events. */
  readonly runs: SequenceRuns;
  /** The greatest sequence of all. */
  readonly lastSequence: number;
  /** Events that are not yet stored, and bytes of their payloads. */
  readonly appendedEvents: number;
  readonly appendedBytes: number;
}

/** The sequences of these events. `found` has the events that are already stored. */
export function* appendedSequences(
  found: SequenceRuns,
  payloads: Payloads,
  nextSequence: number,
): Steps<AppendedSequences> {
  const sequences = new SequenceDivider(found, payloads, nextSequence);
  while (sequences.advance(STEP_ITEMS)) {
    yield;
  }
  return sequences.finish();
}

class SequenceDivider {
  readonly #found: SequenceRuns;
  readonly #payloads: Payloads;
  /** Null while no event is fresh: then the result is `found` itself. */
  #added: { readonly fresh: SequenceRunsWriter; readonly runs: SequenceRunsWriter } | null = null;
  /** Runs of `found` already passed, and the position of the next event. */
  #passed = 0;
  #position = 0;
  #nextSequence: number;
  #lastSequence = 0;
  #appendedEvents = 0;
  #appendedBytes = 0;

  constructor(found: SequenceRuns, payloads: Payloads, nextSequence: number) {
    this.#found = found;
    this.#payloads = payloads;
    this.#nextSequence = nextSequence;
  }

  /** Advances by at most this many runs of `found`; returns whether there may be more. */
  advance(runsMax: number): boolean {
    const found = this.#found;
    const to = Math.min(this.#passed + runsMax, found.length);
    for (; this.#passed < to; this.#passed++) {
      const position = found.positionOf(this.#passed);
      const count = found.countOf(this.#passed);
      const firstSequence = found.firstSequenceOf(this.#passed);
      this.#appendUpTo(position);
      this.#added?.runs.push(position, count, firstSequence);
      this.#lastSequence = Math.max(this.#lastSequence, firstSequence + count - 1);
      this.#position = position + count;
    }
    return this.#passed < found.length;
  }

  finish(): AppendedSequences {
    this.#appendUpTo(this.#payloads.count);
    return {
      fresh: this.#added?.fresh.finish() ?? SequenceRuns.NONE,
      runs: this.#added?.runs.finish() ?? this.#found,
      lastSequence: this.#lastSequence,
      appendedEvents: this.#appendedEvents,
      appendedBytes: this.#appendedBytes,
    };
  }

  /** Gives the next sequences to the events before a position. None of them is in `found`. */
  #appendUpTo(end: number): void {
    const position = this.#position;
    const count = end - position;
    if (count > 0) {
      this.#added ??= this.#begin();
      this.#added.fresh.push(position, count, this.#nextSequence);
      this.#added.runs.push(position, count, this.#nextSequence);
      this.#nextSequence += count;
      this.#lastSequence = Math.max(this.#lastSequence, this.#nextSequence - 1);
      this.#appendedEvents += count;
      this.#appendedBytes += this.#payloads.bytesOf(position, end);
    }
  }

  /** Writers with enough space for the runs, filled with those already passed. */
  #begin(): { readonly fresh: SequenceRunsWriter; readonly runs: SequenceRunsWriter } {
    const passed = this.#passed;
    const left = this.#found.length - passed;
    const runs = new SequenceRunsWriter(passed + 2 * left + 1);
    runs.pushFirst(this.#found, passed);
    return { fresh: new SequenceRunsWriter(left + 1), runs };
  }
}
