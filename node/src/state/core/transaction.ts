/**
 * The changes of one apply slice, readable before they are written.
 *
 * Entries of a slice see each other's changes through it, and the slice is written as one atomic batch. A digest covers
 * every change in order, so that members can compare their states.
 */

import { latin1Of } from "../../bytes/index.ts";
import { invariant, writeUint32 } from "../../primitives/index.ts";
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
  /** What changed since the savepoint was like before, by name; null without a savepoint. */
  #before: Map<string, Change | undefined> | null = null;
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
    this.#set({ key, value, name });
  }

  /** From now on, `rollBack` undoes all changes. The caller must end the savepoint, or roll back, before `take`. */
  setSavepoint(): void {
    invariant(this.#before === null, "a transaction has one savepoint");
    this.#before = new Map();
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
    for (const [name, before] of this.#before) {
      if (before === undefined) {
        this.#changes.delete(name);
      } else {
        this.#changes.set(name, before);
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
    const changes = [...this.#changes.values()];
    this.#changes = new Map();
    return changes;
  }

  #set(change: Required<Change>): void {
    const { name } = change;
    if (this.#before !== null) {
      this.#savepointBytes += change.value?.length ?? 0;
      if (!this.#before.has(name)) {
        this.#before.set(name, this.#changes.get(name));
      }
    }
    this.#changes.set(name, change);
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
