/**
 * Who leads, as far as two watches have told: who was proclaimed under the key, and which holds of the lock have ended. The
 * two need not be equally far, because tokens only grow: whoever was proclaimed leads unless its hold, or a later one, has
 * ended.
 */

import type { Watch } from "./watch.ts";

/** Whom an election has made leader. */
export interface Leader {
  /** What it says about itself, such as its address. */
  readonly value: string;
  /** Token of its hold: that of a later leader is greater. */
  readonly fencingToken: number;
}

/** Put together from changes. */
export class LeaderView {
  /** What stands under the key. */
  proclaimed: Leader | undefined;
  /** The greatest token of a hold that has ended. */
  endedToken: number;
  #failure: { readonly error: unknown } | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(proclaimed: Leader | undefined, endedToken: number) {
    this.proclaimed = proclaimed;
    this.endedToken = endedToken;
  }

  /** Takes in the changes of a watch until that fails; then the view fails too. */
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
   * @throws what a watch has failed with.
   */
  async *leaders(): AsyncGenerator<Leader | undefined, undefined, undefined> {
    for (;;) {
      const { proclaimed } = this;
      const changed = this.#changed.promise;
      yield proclaimed !== undefined && proclaimed.fencingToken > this.endedToken ? proclaimed : undefined;
      await changed;
      if (this.#failure !== undefined) throw this.#failure.error;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
