/**
 * A clock that stands still until the spec moves it, and an event loop that turns when the spec says so.
 *
 * As in Node, a callback that has requested a turn gets it after the due timers. A late timer fires once, however many
 * intervals have passed.
 */

import type { Clock, Scheduler } from "../../src/replica/index.ts";

interface Timer {
  readonly intervalMs: number;
  readonly callback: () => void;
  dueMs: number;
}

/** With more turns than this without coming to rest, something requests turns for ever. */
const TURNS_MAX = 100_000;

export class FakeTime implements Clock, Scheduler {
  #monotonicMs = 1_000.25;
  /** The wall clock, in milliseconds; the spec may set it to anything. */
  wallClockMs = 1_750_000_000_000;
  #immediates: (() => void)[] = [];
  readonly #timers = new Set<Timer>();

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  wallMs(): number {
    return Math.floor(this.wallClockMs);
  }

  immediate(callback: () => void): void {
    this.#immediates.push(callback);
  }

  every(intervalMs: number, callback: () => void): () => void {
    const timer = { intervalMs, callback, dueMs: this.#monotonicMs + intervalMs };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Whether a turn was requested. */
  get isArmed(): boolean {
    return this.#immediates.length > 0;
  }

  /** Timers that were not stopped. */
  get timerCount(): number {
    return this.#timers.size;
  }

  /** One turn of the event loop: due timers, then the callbacks that had requested a turn when it began. */
  turn(): void {
    for (const timer of this.#timers) {
      if (timer.dueMs <= this.#monotonicMs) {
        timer.dueMs = this.#monotonicMs + timer.intervalMs;
        timer.callback();
      }
    }
    for (const callback of this.#immediates.splice(0)) {
      callback();
    }
  }

  /** Turns until no timer is due and no callback requests a turn. */
  drain(): void {
    for (let turns = 0; this.isArmed || this.#nextTimerMs <= this.#monotonicMs; turns++) {
      if (turns > TURNS_MAX) {
        throw new Error("the event loop does not come to rest");
      }
      this.turn();
    }
  }

  /** Lets time pass, with every timer at its time and all turns that follow. */
  advance(milliseconds: number): void {
    this.drain();
    const endMs = this.#monotonicMs + milliseconds;
    for (;;) {
      const nextMs = this.#nextTimerMs;
      if (nextMs > endMs) {
        break;
      }
      this.#move(nextMs - this.#monotonicMs);
      this.drain();
    }
    this.#move(endMs - this.#monotonicMs);
  }

  /** Lets time pass while the process does nothing at all. */
  stall(milliseconds: number): void {
    this.#move(milliseconds);
  }

  get #nextTimerMs(): number {
    return Math.min(...[...this.#timers].map(({ dueMs }) => dueMs));
  }

  #move(milliseconds: number): void {
    this.#monotonicMs += milliseconds;
    this.wallClockMs += milliseconds;
  }
}
