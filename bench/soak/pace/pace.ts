/** A load at a fixed rate: each action begins when it is due, whatever the others are doing. */

/** Something that the load does again and again. */
export interface Action {
  readonly name: string;
  readonly perSecond: number;
  /** Does it once. Null: everything that it could do it with is in use. */
  readonly perform: (dueMs: number) => Promise<void> | null;
}

/** Often enough that no action of the load is noticeably late. */
const TURN_MS = 5;
const MS_PER_SECOND = 1_000;

export class Pace {
  readonly #actions: readonly { readonly action: Action; dueMs: number }[];
  readonly #running = new Set<Promise<void>>();
  readonly #skipped = new Map<string, number>();
  readonly #failed = Promise.withResolvers<never>();
  #timer: NodeJS.Timeout | null = null;

  constructor(actions: readonly Action[]) {
    this.#actions = actions.map((action) => ({ action, dueMs: 0 }));
    // The caller may wait for something else first.
    this.failed.catch(() => undefined);
  }

  /** Rejects when an action fails. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** How often an action was due, but everything that it needs was in use. */
  get skipped(): ReadonlyMap<string, number> {
    return this.#skipped;
  }

  start(): void {
    const startMs = performance.now();
    for (const [at, due] of this.#actions.entries()) {
      // Actions of the same rate take turns.
      due.dueMs = startMs + ((at + 1) / this.#actions.length) * (MS_PER_SECOND / due.action.perSecond);
    }
    this.#timer = setInterval(() => this.#turn(performance.now()), TURN_MS);
  }

  /** Begins no more actions, and returns when those that run have ended. Rejects if one of all has failed. */
  async stop(): Promise<void> {
    if (this.#timer !== null) {
      clearInterval(this.#timer);
    }
    await Promise.all(this.#running);
    // A failure comes first, if there is one.
    await Promise.race([this.failed, Promise.resolve()]);
  }

  #turn(nowMs: number): void {
    for (const due of this.#actions) {
      for (; due.dueMs <= nowMs; due.dueMs += MS_PER_SECOND / due.action.perSecond) {
        this.#begin(due.action, due.dueMs);
      }
    }
  }

  #begin({ name, perform }: Action, dueMs: number): void {
    const work = perform(dueMs);
    if (work === null) {
      this.#skipped.set(name, (this.#skipped.get(name) ?? 0) + 1);
      return;
    }
    const running = work.catch(this.#failed.reject).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
