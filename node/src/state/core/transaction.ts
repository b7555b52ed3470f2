/**
 * The changes of one apply slice, readable before they are written.
 *
 * Entries of a slice see each other's changes through it, and the slice is written as one atomic batch. A digest covers
 * every change in order, so that members can compare their states.
 */

import { latin1Of } from "../../bytes/index.ts";
import { writeUint32 } from "../../primitives/index.ts";
import { rowsPut, scanMerged } from "./merged-scan.ts";
import type { Change, Row, StateReader } from "./store.ts";

/** Continues a running checksum over more bytes; the same on every member. */
export type Digest = (previous: number, bytes: Uint8Array) => number;

const DELETED = 0;
const PUT = 1;

export class Transaction implements StateReader {
  readonly #store: StateReader;
  readonly #digest: Digest;
  #changes = new Map<string, Change>();
  #running: number;
  /** Precedes each change in the digest: whether it deletes or puts, and the length of its key. */
  readonly #lead = new Uint8Array(5);

  constructor(store: StateReader, digest: Digest, running: number) {
    this.#store = store;
    this.#digest = digest;
    this.#running = running;
  }

  /** The digest over all changes so far. */
  get digest(): number {
    return this.#running;
  }

  get(key: Uint8Array, name: string = latin1Of(key)): Uint8Array | undefined {
    const change = this.#changes.get(name);
    if (change !== undefined) {
      return change.value ?? undefined;
    }
    return this.#store.get(key, name);
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    if (this.#changes.size === 0) {
      this.#store.scan(from, to, visit);
      return;
    }
    const put = rowsPut(this.#changes.values(), from, to);
    scanMerged(this.#store, put, (key) => this.#changes.has(latin1Of(key)), from, to, visit);
  }

  /** @param name `latin1Of(key)`, if the caller knows it */
  put(key: Uint8Array, value: Uint8Array, name: string = latin1Of(key)): void {
    this.#record({ key, value, name });
  }

  delete(key: Uint8Array): void {
    this.#record({ key, value: null, name: latin1Of(key) });
  }

  /**
   * Puts a row that the digest does not cover, or deletes it with null. The content of the row must follow from data
   * that the digest covers.
   */
  carry(key: Uint8Array, value: Uint8Array | null): void {
    const name = latin1Of(key);
    this.#changes.set(name, { key, value, name });
  }

  /** Adds bytes to the digest that are not in a row, or not yet. */
  note(bytes: Uint8Array): void {
    this.#running = this.#digest(this.#running, bytes);
  }

  /** The batch to write; the transaction is empty afterwards. */
  take(): Change[] {
    const changes = [...this.#changes.values()];
    this.#changes = new Map();
    return changes;
  }

  #record(change: Required<Change>): void {
    this.#changes.set(change.name, change);
    // The key length makes sure that different keys and values with the same concatenation give different digests.
    this.#lead[0] = change.value === null ? DELETED : PUT;
    writeUint32(this.#lead, 1, change.key.length);
    let running = this.#digest(this.#running, this.#lead);
    running = this.#digest(running, change.key);
    if (change.value !== null) {
      running = this.#digest(running, change.value);
    }
    this.#running = running;
  }
}
