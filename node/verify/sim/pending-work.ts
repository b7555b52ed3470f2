/**
 * Work behind promises. A run waits for it after each event, so that everything that an event starts is done before the
 * next one.
 *
 * Code that archives waits for two kinds of things: for what the run decides, such as an answer of the store, and for
 * threads of this process that compress. The run must not wait for the first kind, because time stands still meanwhile.
 * It must wait for the second kind, or it would depend on the speed of the threads. The waiting code names the kind.
 */

import { must } from "./rule-violation.ts";

/** Far more turns of the event loop than a thread needs for its small amount of work. */
const TURNS_MAX = 5_000_000;

/** The work that the code of one process waits for. */
export class ProcessWork {
  readonly #isDead: () => boolean;
  #threads = 0;
  #exports = 0;

  constructor(isDead: () => boolean) {
    this.#isDead = isDead;
  }

  /** Whether it is at work, so that time must stand still. */
  get isAtWork(): boolean {
    // An upload waits for the read of its state.
    return !this.#isDead() && this.#threads > this.#exports;
  }

  /** Whether it reads a state for an upload, so that any event may let it go on. */
  get isExporting(): boolean {
    return !this.#isDead() && this.#exports > 0;
  }

  /** Computes something; time stands still until then. */
  async compute<T>(work: () => Promise<T>): Promise<T> {
    this.begin();
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  begin(): void {
    this.#threads++;
  }

  end(): void {
    this.#threads--;
  }

  /** Waits, within an upload, for the read of the state. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    this.#exports++;
    try {
      return await work();
    } finally {
      this.#exports--;
    }
  }
}

export class PendingWork {
  readonly #processes: ProcessWork[] = [];
  #isDue = false;
  #error: { readonly thrown: unknown } | null = null;

  /** @param isDead whether the process has ended: the run does not wait for its work any more. */
  of(isDead: () => boolean): ProcessWork {
    const work = new ProcessWork(isDead);
    this.#processes.push(work);
    return work;
  }

  /** Something has happened that lets promises go on. */
  wake(): void {
    this.#isDue = true;
  }

  /** The work to wait for after an event; null if there is none. */
  drain(): Promise<void> | null {
    return this.#isDue || this.#processes.some(({ isExporting }) => isExporting) ? this.#drain() : null;
  }

  /** No code handles the rejection of a promise: a bug of the product, which would end a real process. */
  readonly onRejection = (thrown: unknown): void => {
    this.#error ??= { thrown };
  };

  async #drain(): Promise<void> {
    this.#isDue = false;
    for (let turns = 0; ; turns++) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      if (this.#error !== null) {
        throw this.#error.thrown;
      }
      if (!this.#processes.some(({ isAtWork }) => isAtWork)) {
        return;
      }
      must(turns < TURNS_MAX, "liveness: work of the archive ends", () => `${turns} turns of the event loop`);
    }
  }
}
