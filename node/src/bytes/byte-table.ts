/**
 * A hash table of items that are found by their keys, which are bytes.
 *
 * A Map needs a text for each key: to make one and to find its place costs several times as much as this table.
 */

import { equalBytes } from "./compare.ts";

/** What a table holds. The key must stay as it is. */
export interface Keyed {
  readonly key: Uint8Array;
  /** `hashOf(key)` */
  readonly hash: number;
}

/** Slots of a new table: a power of two. */
const SLOTS_MIN = 64;
/** A table that is emptied keeps so many slots: to clear them costs less than to grow again. */
const SLOTS_KEPT = 1_024;

export class ByteTable<Item extends Keyed> {
  /** The place of an item in `#items`, plus one; 0 = free. At least half of the slots are free. */
  #slots = new Int32Array(SLOTS_MIN);
  /** The hash of the item of each slot. */
  #hashes = new Int32Array(SLOTS_MIN);
  /** In the order in which their keys were set; null = deleted. */
  #items: (Item | null)[] = [];
  #size = 0;

  /** Number of items. */
  get size(): number {
    return this.#size;
  }

  /** @param hash `hashOf(key)` */
  get(key: Uint8Array, hash: number): Item | undefined {
    const place = this.#placeOf(key, hash);
    return place < 0 ? undefined : (this.#items[place] as Item);
  }

  /** Adds the item, or replaces the one with its key. */
  set(item: Item): void {
    const place = this.#placeOf(item.key, item.hash);
    if (place >= 0) {
      this.#items[place] = item;
      return;
    }
    if (2 * (this.#items.length + 1) > this.#slots.length) {
      this.#grow();
    }
    this.#append(item);
  }

  /** @param hash `hashOf(key)` */
  delete(key: Uint8Array, hash: number): void {
    const place = this.#placeOf(key, hash);
    if (place >= 0) {
      this.#items[place] = null;
      this.#size--;
    }
  }

  /** All items, in the order in which their keys were set first. */
  values(): Item[] {
    return this.#size === this.#items.length
      ? [...(this.#items as Item[])]
      : this.#items.filter((item) => item !== null);
  }

  /** The same; the table is empty afterwards. */
  take(): Item[] {
    const items = this.#size === this.#items.length ? (this.#items as Item[]) : this.values();
    this.#items = [];
    this.#size = 0;
    if (this.#slots.length > SLOTS_KEPT) {
      this.#slots = new Int32Array(SLOTS_MIN);
      this.#hashes = new Int32Array(SLOTS_MIN);
    } else {
      this.#slots.fill(0);
    }
    return items;
  }

  /** Where in `#items` the item is; negative if there is none. */
  #placeOf(key: Uint8Array, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const place = (this.#slots[at] as number) - 1;
      if (place < 0) {
        return place;
      }
      if (this.#hashes[at] === hash) {
        const item = this.#items[place] as Item | null;
        if (item !== null && equalBytes(item.key, key)) {
          return place;
        }
      }
    }
  }

  #append(item: Item): void {
    const mask = this.#slots.length - 1;
    let at = item.hash & mask;
    while (this.#slots[at] !== 0) {
      at = (at + 1) & mask;
    }
    this.#hashes[at] = item.hash;
    this.#slots[at] = this.#items.push(item);
    this.#size++;
  }

  /** Makes room for as many items again, without those that were deleted. */
  #grow(): void {
    const items = this.values();
    const slots = 2 ** Math.ceil(Math.log2(Math.max(SLOTS_MIN, 4 * (items.length + 1))));
    this.#slots = new Int32Array(slots);
    this.#hashes = new Int32Array(slots);
    this.#items = [];
    this.#size = 0;
    for (const item of items) {
      this.#append(item);
    }
  }
}
