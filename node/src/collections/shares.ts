/**
 * Items by the client that holds them, such as its connections. It knows at any time which client holds the most,
 * without a search: a pool that is full is a pool under attack.
 */

import { LinkedQueue, Links } from "./linked-queue.ts";

/** The items of a client. */
class Share<Item> {
  readonly links = new Links<Share<Item>>();
  readonly client: string;
  /** Whether it takes part in the comparison. */
  readonly isCompared: boolean;
  readonly items = new LinkedQueue<Held<Item>>();
  count = 0;

  constructor(client: string, isCompared: boolean) {
    this.client = client;
    this.isCompared = isCompared;
  }
}

/** An item of a client. */
export class Held<Item> {
  readonly links = new Links<Held<Item>>();
  readonly share: Share<Item>;
  readonly item: Item;

  constructor(share: Share<Item>, item: Item) {
    this.share = share;
    this.item = item;
  }
}

export class Shares<Item> {
  readonly #shares = new Map<string, Share<Item>>();
  /** The compared shares with this many items. */
  readonly #byCount: LinkedQueue<Share<Item>>[] = [];
  #most = 0;
  #size = 0;

  /** The number of all items. */
  get size(): number {
    return this.#size;
  }

  /** The number of items of the client that holds the most of those that are compared. */
  get most(): number {
    return this.#most;
  }

  /** The first of the items of this client; null if it has none. */
  oldestOf(client: string): Held<Item> | null {
    return this.#shares.get(client)?.items.first ?? null;
  }

  /** The first of the items of a client that holds the most; null if there is none. */
  get oldestOfMost(): Held<Item> | null {
    return this.#byCount[this.#most]?.first?.items.first ?? null;
  }

  /** The last of them. */
  get newestOfMost(): Held<Item> | null {
    return this.#byCount[this.#most]?.first?.items.last ?? null;
  }

  countOf(client: string): number {
    return this.#shares.get(client)?.count ?? 0;
  }

  /**
   * Whether an item of that client may go in favour of one with this many: afterwards it still has at least as many.
   */
  yieldsTo(count: number): boolean {
    return this.#most >= count + 2;
  }

  /** @param isCompared is the same for each item of a client. */
  add(client: string, item: Item, isCompared = true): Held<Item> {
    let share = this.#shares.get(client);
    if (share === undefined) {
      share = new Share(client, isCompared);
      this.#shares.set(client, share);
    }
    const held = new Held(share, item);
    share.items.push(held);
    this.#size++;
    this.#count(share, share.count + 1);
    return held;
  }

  /** Returns whether it was still there. */
  remove(held: Held<Item>): boolean {
    const { share, links } = held;
    if (!links.isQueued) {
      return false;
    }
    share.items.remove(held);
    this.#size--;
    this.#count(share, share.count - 1);
    if (share.count === 0) {
      this.#shares.delete(share.client);
    }
    return true;
  }

  #count(share: Share<Item>, count: number): void {
    if (share.isCompared) {
      this.#byCount[share.count]?.remove(share);
      if (count > 0) {
        const others = this.#byCount[count] ?? new LinkedQueue();
        others.push(share);
        this.#byCount[count] = others;
      }
      // Its count changes by one, so if no share has the most any more, this one had it, and has now one less.
      if (count > this.#most || this.#byCount[this.#most]?.first === null) {
        this.#most = count;
      }
    }
    share.count = count;
  }
}
