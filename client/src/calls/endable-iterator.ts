/** An async iterator that can be ended from outside while it waits; an async generator alone cannot. */

/** Items as they come, until `return` is called or a loop over it ends. Two loops over it share its items. */
export class EndableIterator<Item> implements AsyncIterableIterator<Item, undefined, undefined>, AsyncDisposable {
  readonly #items: AsyncGenerator<Item, undefined, undefined>;
  readonly #ending: AbortController;

  /** @param items end soon after the controller has been aborted. */
  constructor(items: AsyncGenerator<Item, undefined, undefined>, ending: AbortController) {
    this.#items = items;
    this.#ending = ending;
  }

  /** The next item, when there is one. */
  next(): Promise<IteratorResult<Item, undefined>> {
    return this.#items.next();
  }

  /** Ends it, also while a caller waits for an item: that caller gets the end. */
  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#ending.abort();
    return this.#items.return(undefined);
  }

  /** Ends it at the end of an `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
