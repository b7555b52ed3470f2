/** One timer for all that happens at the same interval: each timer of its own would wake up an idle process. */

import { type Scheduler, systemScheduler } from "./replica/index.ts";

export class Pulse {
  readonly #intervalMs: number;
  readonly #callbacks = new Set<{ readonly call: () => void }>();
  readonly #timer: NodeJS.Timeout;

  /** Calls back with each beat, before all that joins, and does not keep the process alive for it. */
  constructor(intervalMs: number, callback: () => void) {
    this.#intervalMs = intervalMs;
    this.#callbacks.add({ call: callback });
    this.#timer = setInterval(() => this.#beat(), intervalMs).unref();
  }

  /**
   * The scheduler of this process, but that callbacks at the interval of the pulse come with its beats. So the first one
   * comes within one interval, not after one.
   */
  get scheduler(): Scheduler {
    return {
      ...systemScheduler,
      every: (intervalMs, callback) =>
        intervalMs === this.#intervalMs ? this.#join(callback) : systemScheduler.every(intervalMs, callback),
    };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #join(callback: () => void): () => void {
    const member = { call: callback };
    this.#callbacks.add(member);
    this.#timer.ref();
    return () => {
      this.#callbacks.delete(member);
      if (this.#callbacks.size === 1) {
        this.#timer.unref();
      }
    };
  }

  #beat(): void {
    for (const { call } of this.#callbacks) {
      call();
    }
  }
}
