/** A clock that specs move by hand, and ways to wait for background work. */
import { setImmediate as turn } from "node:timers/promises";
import type { Timing } from "../src/kube/index.ts";

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that moves only by hand; sleepers wake when their time has come. */
export class ManualTiming implements Timing {
  nowMs = 0;
  chance = 0.5;
  readonly #sleepers = new Set<Sleeper>();

  monotonicMs(): number {
    return this.nowMs;
  }

  random(): number {
    return this.chance;
  }

  sleep(durationMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        resolve();
      };
      const sleeper = { dueMs: this.nowMs + durationMs, wake };
      this.#sleepers.add(sleeper);
      signal.addEventListener("abort", wake, { once: true });
      if (signal.aborted || durationMs <= 0) {
        wake();
      }
    });
  }

  /** When each sleeper is due, earliest first. */
  get due(): number[] {
    return [...this.#sleepers].map(({ dueMs }) => dueMs).toSorted((a, b) => a - b);
  }

  advance(durationMs: number): void {
    this.nowMs += durationMs;
    for (const { dueMs, wake } of [...this.#sleepers]) {
      if (dueMs <= this.nowMs) {
        wake();
      }
    }
  }
}

/** Resolves when all work that needs neither time nor network is done. */
export async function settled(): Promise<void> {
  for (let at = 0; at < 5; at++) {
    await turn();
  }
}

/** Resolves when the condition holds; if it never does, the test's own timeout ends the wait. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await turn();
  }
}
