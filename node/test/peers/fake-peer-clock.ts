/** A clock for connections that stands still until the spec moves it; the sockets are real, and so are their polls. */

import type { PeerClock } from "../../src/peers/index.ts";

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

export class FakePeerClock implements PeerClock {
  #monotonicMs = 5_000.5;
  readonly #timers = new Set<Timer>();
  /** The wall clock when this clock was made. */
  readonly #wallStartMs = Date.now() - this.#monotonicMs;

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  wallMs(): number {
    return this.#wallStartMs + this.#monotonicMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#monotonicMs + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  afterPoll(callback: () => void): void {
    setImmediate(callback);
  }

  /** Timers that have not fired and are not cancelled. */
  get timerCount(): number {
    return this.#timers.size;
  }

  /** Milliseconds from now to each timer, the next first. */
  get delaysMs(): number[] {
    return [...this.#timers].map(({ dueMs }) => dueMs - this.#monotonicMs).sort((one, other) => one - other);
  }

  /** Lets time pass, and calls each timer at its time, in their order. */
  advance(milliseconds: number): void {
    const endMs = this.#monotonicMs + milliseconds;
    for (;;) {
      const next = [...this.#timers].sort((one, other) => one.dueMs - other.dueMs)[0];
      if (next === undefined || next.dueMs > endMs) {
        break;
      }
      this.#timers.delete(next);
      this.#monotonicMs = Math.max(this.#monotonicMs, next.dueMs);
      next.callback();
    }
    this.#monotonicMs = endMs;
  }
}
