/**
 * The time of a run: events in the order of their times, and of their creation where the times are equal.
 *
 * Only events move time. An unwanted event stays in the heap and does nothing.
 */

import { must } from "./rule-violation.ts";

interface Event {
  readonly atMs: number;
  readonly seq: number;
  readonly callback: () => void;
}

/** More events within a moment cannot come from the work of a few processes. */
const AT_ONCE_MAX = 20_000;
const MOMENT_MS = 1;

export class EventHeap {
  readonly #events: Event[] = [];
  #nowMs = 0;
  #seq = 0;
  #done = 0;
  /** Events since that time, which is at most a moment ago. */
  #atOnce = 0;
  #sinceMs = 0;

  /** Milliseconds since the beginning of the run, with fractions. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Events so far. */
  get done(): number {
    return this.#done;
  }

  after(delayMs: number, callback: () => void): void {
    this.at(this.#nowMs + delayMs, callback);
  }

  /** Calls back at that time, or now if it is past. */
  at(atMs: number, callback: () => void): void {
    this.#seq++;
    const event = { atMs: Math.max(atMs, this.#nowMs), seq: this.#seq, callback };
    const events = this.#events;
    let at = events.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, events[parent] as Event)) {
        break;
      }
      events[at] = events[parent] as Event;
      at = parent;
    }
    events[at] = event;
  }

  /** Runs all events up to that time, as long as `isWanted` returns true. */
  runUntil(endMs: number, isWanted: () => boolean = () => true): void {
    while (this.#runNext(endMs, isWanted)) {
      // Until the last one.
    }
    this.#end(endMs, isWanted);
  }

  /** The same; after each event, waits for the work that it has started, if `settle` returns any. */
  async runUntilIdle(
    endMs: number,
    settle: () => Promise<void> | null,
    isWanted: () => boolean = () => true,
  ): Promise<void> {
    while (this.#runNext(endMs, isWanted)) {
      const work = settle();
      if (work !== null) {
        await work;
      }
    }
    this.#end(endMs, isWanted);
  }

  /** Runs the next event; false if there is none up to that time, or none is wanted. */
  #runNext(endMs: number, isWanted: () => boolean): boolean {
    const next = this.#events[0];
    if (next === undefined || next.atMs > endMs || !isWanted()) {
      return false;
    }
    this.#takeFirst();
    this.#countAtOnce(next.atMs);
    this.#nowMs = next.atMs;
    this.#done++;
    next.callback();
    return true;
  }

  #end(endMs: number, isWanted: () => boolean): void {
    if (isWanted()) {
      this.#nowMs = Math.max(this.#nowMs, endMs);
    }
  }

  /** An event that schedules itself without end would stop time. */
  #countAtOnce(atMs: number): void {
    if (atMs > this.#sinceMs + MOMENT_MS) {
      this.#sinceMs = atMs;
      this.#atOnce = 0;
    }
    this.#atOnce++;
    must(this.#atOnce <= AT_ONCE_MAX, "liveness: time goes on", () => `${AT_ONCE_MAX} events at ${atMs} ms`);
  }

  #takeFirst(): void {
    const events = this.#events;
    const last = events.pop() as Event;
    const count = events.length;
    if (count === 0) {
      return;
    }
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= count) {
        break;
      }
      if (child + 1 < count && isBefore(events[child + 1] as Event, events[child] as Event)) {
        child++;
      }
      if (!isBefore(events[child] as Event, last)) {
        break;
      }
      events[at] = events[child] as Event;
      at = child;
    }
    events[at] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.seq < other.seq);
}
