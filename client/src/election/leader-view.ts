/**
 * The leader, from two watches: of the proclamation under the key, and of the ended holds of the lock. The two may have
 * different positions, because tokens only grow: a proclaimed leader leads unless its hold, or a later one, has ended.
 */

import type { Watch } from "../watch/index.ts";

/** A leader of an election. */
export interface Leader {
  /** Its information about itself, such as its address. */
  readonly value: string;
  /** Token of its hold; a later leader has a greater one. */
  readonly fencingToken: number;
}

/** A view built from changes. */
export class LeaderView {
  /** The value of the key. */
  proclaimed: Leader | undefined;
  /** The greatest token of a hold that has ended. */
  endedToken: number;
  #failure: { readonly error: unknown } | undefined;
  #changed = nextChange();

  constructor(proclaimed: Leader | undefined, endedToken: number) {
    this.proclaimed = proclaimed;
    this.endedToken = endedToken;
  }

  /** Applies the changes of a watch until it fails; then the view fails too. */
  follow<Event>(watch: Watch<Event>, take: (event: Event) => void): void {
    const taken = (async () => {
      for await (const { events } of watch) {
        events.forEach(take);
        this.#wake();
      }
    })();
    taken.catch((error: unknown) => {
      this.#failure ??= { error };
      this.#wake();
    });
  }

  /**
   * The leader, now and after each change.
   *
   * @throws the error of a failed watch.
   */
  async *leaders(): AsyncGenerator<Leader | undefined, undefined, undefined> {
    for (;;) {
      const { proclaimed } = this;
      const changed = this.#changed.promise;
      yield proclaimed !== undefined && proclaimed.fencingToken > this.endedToken ? proclaimed : undefined;
      await changed;
      if (this.#failure !== undefined) {
        throw this.#failure.error;
      }
    }
  }

  #wake(): void {
    this.#changed.happened();
    this.#changed = nextChange();
  }
}

/** A promise, and what resolves it. */
function nextChange(): { readonly promise: Promise<void>; readonly happened: () => void } {
  let happened = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    happened = resolve;
  });
  return { promise, happened };
}
