/** One timer for everything at the same interval: each additional timer would wake up an idle process more often. */

import { type Scheduler, systemScheduler } from "../replica/index.ts";

export class SharedTimer {
  readonly #intervalMs: number;
  readonly #callbacks = new Set<{ readonly call: () => void }>();
  readonly #timer: NodeJS.Timeout;

  /** Calls `callback` at each beat, before everything that joins. It does not keep the process alive. */
  constructor(intervalMs: number, callback: () => void) {
    this.#intervalMs = intervalMs;
    this.#callbacks.add({ call: callback });
    this.#timer = setInterval(() => this.#fire(), intervalMs).unref();
  }

  /**
   * The scheduler of this process. Callbacks at the interval of the pulse run at its beats, so the first one comes
   * within one interval, not after one.
   */
  get scheduler(): Scheduler {
    return {
      ...systemScheduler,
      every: (intervalMs, callback) =>
        intervalMs === this.#intervalMs ? this.#add(callback) : systemScheduler.every(intervalMs, callback),
    };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #add(callback: () => void): () => void {
    const subscriber = { call: callback };
    this.#callbacks.add(subscriber);
    this.#timer.ref();
    return () => {
      this.#callbacks.delete(subscriber);
      if (this.#callbacks.size === 1) {
        this.#timer.unref();
      }
    };
  }

  #fire(): void {
    for (const { call } of this.#callbacks) {
      call();
    }
  }
}
