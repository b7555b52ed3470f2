/** A runtime in the hands of a spec: its clock moves when it is told to, and in pauses, which it remembers. */

import type { Runtime } from "../src/index.ts";

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Clock, chance, pauses and timers under control. */
export class FakeRuntime implements Runtime {
  nowMs = 1_000;
  /** What random() answers. */
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

  /** Lets time pass, and the timers that become due call in their order. */
  advance(durationMs: number): void {
    const untilMs = this.nowMs + durationMs;
    for (;;) {
      const [next] = this.#inOrder();
      if (next === undefined || next.dueMs > untilMs) break;
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
