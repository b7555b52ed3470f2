/**
 * Work of promises, which a run waits for after each event: so whatever an event leads to is done before the next one.
 *
 * Code that archives waits for two kinds of things: for what the run decides, such as an answer of the store, and for threads
 * of this process that compress. The first kind must not be waited for here, since time stands still meanwhile; the second
 * kind must be, or a run would depend on how fast the threads are. The code that waits names the kind.
 */

import { must } from "./rule-violation.ts";

/** So many turns of the event loop are far more than a thread needs for the little that it has to do. */
const TURNS_MAX = 5_000_000;

/** What the code of one process waits for. */
export class ProcessWork {
  readonly #isDead: () => boolean;
  #threads = 0;
  #exports = 0;

  constructor(isDead: () => boolean) {
    this.#isDead = isDead;
  }

  /** Whether it is at work, so that time must stand still. */
  get isAtWork(): boolean {
    // A state that is read for an upload is waited for by that upload.
    return !this.#isDead() && this.#threads > this.#exports;
  }

  /** Whether any event may let it go on. */
  get isExporting(): boolean {
    return !this.#isDead() && this.#exports > 0;
  }

  /** It computes something: until then, time stands still. */
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

  /** It waits, within an upload, for the state to be read. */
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

  /** @param isDead whether the process has ended: nothing of it is waited for any more */
  of(isDead: () => boolean): ProcessWork {
    const work = new ProcessWork(isDead);
    this.#processes.push(work);
    return work;
  }

  /** Something has happened that lets promises go on. */
  wake(): void {
    this.#isDue = true;
  }

  /** What is to be waited for after an event; null if nothing is. */
  settle(): Promise<void> | null {
    return this.#isDue || this.#processes.some(({ isExporting }) => isExporting) ? this.#settle() : null;
  }

  /** A promise was rejected that no code looks at: a bug of the product, which would end a real process. */
  readonly onRejection = (thrown: unknown): void => {
    this.#error ??= { thrown };
  };

  async #settle(): Promise<void> {
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
