/**
 * The changes of one apply slice, readable before they are written.
 *
 * Entries of a slice see each other's changes through it, and the slice is written as one atomic batch. A digest covers
 * every change in order, so that members can compare their states.
 */

import { ByteTable, hashOf, type Keyed } from "../../bytes/index.ts";
import { invariant, writeUint32 } from "../../primitives/index.ts";
import { rowsPut, scanMerged } from "./merged-scan.ts";
import type { Change, Row, StateReader } from "./store.ts";

/** Continues a running checksum over more bytes; the same on every member. */
export type Digest = (previous: number, bytes: Uint8Array) => number;

/** What a row was like at the savepoint. */
interface Before extends Keyed {
  readonly change: Required<Change> | undefined;
}

const DELETED = 0;
const PUT = 1;

export class Transaction implements StateReader {
  readonly #store: StateReader;
  readonly #digest: Digest;
  readonly #changes = new ByteTable<Required<Change>>();
  #running: number;
  /** What changed since the savepoint was like before; null without a savepoint. */
  #before: ByteTable<Before> | null = null;
  #savepointBytes = 0;
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

  get(key: Uint8Array, hash: number = hashOf(key)): Uint8Array | undefined {
    const change = this.#changes.get(key, hash);
    if (change !== undefined) {
      return change.value ?? undefined;
    }
    return this.#store.get(key, hash);
  }

  readAhead(rows: readonly Keyed[]): void {
    this.#store.readAhead?.(rows);
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    if (this.#changes.size === 0) {
      this.#store.scan(from, to, visit);
      return;
    }
    const put = rowsPut(this.#changes.values(), from, to);
    const isChanged = (key: Uint8Array) => this.#changes.get(key, hashOf(key)) !== undefined;
    scanMerged(this.#store, put, isChanged, from, to, visit);
  }

  /** @param hash `hashOf(key)`, if the caller knows it */
  put(key: Uint8Array, value: Uint8Array, hash: number = hashOf(key)): void {
    this.#record({ key, value, hash });
  }

  delete(key: Uint8Array): void {
    this.#record({ key, value: null, hash: hashOf(key) });
  }

  /**
   * Puts a row that the digest does not cover, or deletes it with null. The content of the row must follow from data
   * that the digest covers.
   */
  carry(key: Uint8Array, value: Uint8Array | null): void {
    this.#set({ key, value, hash: hashOf(key) });
  }

  /** From now on, `rollBack` undoes all changes. The caller must end the savepoint, or roll back, before `take`. */
  setSavepoint(): void {
    invariant(this.#before === null, "a transaction has one savepoint");
    this.#before = new ByteTable();
    this.#savepointBytes = 0;
  }

  /** Bytes of the rows that were put since the savepoint. */
  get savepointBytes(): number {
    return this.#savepointBytes;
  }

  /** Keeps all changes since the savepoint. */
  endSavepoint(): void {
    this.#before = null;
  }

  /** Undoes all changes since the savepoint, and ends it. @param digest as it was at the savepoint. */
  rollBack(digest: number): void {
    invariant(this.#before !== null, "a transaction rolls back to its savepoint");
    for (const { key, hash, change } of this.#before.take()) {
      if (change === undefined) {
        this.#changes.delete(key, hash);
      } else {
        this.#changes.set(change);
      }
    }
    this.#running = digest;
    this.#before = null;
  }

  /** Adds bytes to the digest that are not in a row, or not yet. */
  note(bytes: Uint8Array): void {
    this.#running = this.#digest(this.#running, bytes);
  }

  /** The batch to write; the transaction is empty afterwards. */
  take(): Change[] {
    invariant(this.#before === null, "a savepoint ends before the batch is written");
    return this.#changes.take();
  }

  #set(change: Required<Change>): void {
    if (this.#before !== null) {
      const { key, hash, value } = change;
      this.#savepointBytes += value?.length ?? 0;
      if (this.#before.get(key, hash) === undefined) {
        this.#before.set({ key, hash, change: this.#changes.get(key, hash) });
      }
    }
    this.#changes.set(change);
  }

  #record(change: Required<Change>): void {
    this.#set(change);
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
