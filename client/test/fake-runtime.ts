/** A runtime that a spec controls: its clock moves only on request and in pauses, which it records. */

import type { Runtime } from "../src/index.ts";

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Clock, random numbers, pauses and timers under control. */
export class FakeRuntime implements Runtime {
  nowMs = 1_000;
  /** The result of random(). */
  chance = 0.5;
  readonly pausesMs: number[] = [];
  readonly #timers = new Set<Timer>();

  monotonicMs(): number {
    return this.nowMs;
  }

  random(): number {
    return this.chance;
  }

  async sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    this.pausesMs.push(durationMs);
    this.advance(durationMs);
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.nowMs + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers there are. */
  get timers(): number {
    return this.#timers.size;
  }

  /** When the next timer is due, from now in milliseconds; undefined = there is none. */
  get nextTimerMs(): number | undefined {
    const [next] = this.#inOrder();
    return next === undefined ? undefined : next.dueMs - this.nowMs;
  }

  /** Lets time pass, and calls due timers in order. */
  advance(durationMs: number): void {
    const untilMs = this.nowMs + durationMs;
    for (;;) {
      const [next] = this.#inOrder();
      if (next === undefined || next.dueMs > untilMs) {
        break;
      }
      this.#timers.delete(next);
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      next.callback();
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }

  #inOrder(): Timer[] {
    return [...this.#timers].sort((one, other) => one.dueMs - other.dueMs);
  }
}

/**
 * For operations of 5 s that reach no member: the pauses leave the last attempt more than half a second of real time, so
 * that it fails for its own reason and not at its deadline.
 */
export function runtimeForUnreached(): FakeRuntime {
  const runtime = new FakeRuntime();
  runtime.chance = 0.9;
  return runtime;
}
