/**
 * The changes of one apply slice, readable before they are written.
 *
 * Entries of a slice see each other's changes through it; what the slice changed leaves as one atomic batch. A digest
 * runs over every change in order, so that members can compare their states.
 */

import { writeUint32 } from "../raft/index.ts";
import type { Change, Row, StateReader } from "./store.ts";

/** Continues a running checksum over more bytes; the same on every member. */
export type Digest = (previous: number, bytes: Uint8Array) => number;

const CODE_UNITS_PER_CALL = 4096;
const DELETED = 0;
const PUT = 1;

/** Bytes as a text of one code unit each, for use as a Map key. */
function mapKey(bytes: Uint8Array): string {
  if (bytes.length <= CODE_UNITS_PER_CALL) {
    return String.fromCharCode.apply(null, bytes as unknown as number[]);
  }
  let text = "";
  for (let at = 0; at < bytes.length; at += CODE_UNITS_PER_CALL) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + CODE_UNITS_PER_CALL) as unknown as number[]);
  }
  return text;
}

export class Transaction implements StateReader {
  readonly #store: StateReader;
  readonly #digest: Digest;
  #changes = new Map<string, Change>();
  #running: number;
  /** What leads each change into the digest: whether it deletes or puts, and the length of its key. */
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

  get(key: Uint8Array): Uint8Array | undefined {
    const change = this.#changes.get(mapKey(key));
    if (change !== undefined) {
      return change.value ?? undefined;
    }
    return this.#store.get(key);
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    const pending = this.#pendingRows(from, to);
    let next = 0;
    let stopped = false;
    this.#store.scan(from, to, (row) => {
      while (next < pending.length && compareBytes((pending[next] as Row).key, row.key) < 0) {
        if (!visit(pending[next++] as Row)) {
          stopped = true;
          return false;
        }
      }
      if (this.#changes.has(mapKey(row.key))) {
        return true;
      }
      if (!visit(row)) {
        stopped = true;
        return false;
      }
      return true;
    });
    while (!stopped && next < pending.length) {
      stopped = !visit(pending[next++] as Row);
    }
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#record({ key, value });
  }

  delete(key: Uint8Array): void {
    this.#record({ key, value: null });
  }

  /** Puts a row over which the digest does not go: what it holds must follow from what the digest goes over. */
  carry(key: Uint8Array, value: Uint8Array): void {
    this.#changes.set(mapKey(key), { key, value });
  }

  /** Lets the digest go over bytes that are in no row, or not yet. */
  note(bytes: Uint8Array): void {
    this.#running = this.#digest(this.#running, bytes);
  }

  /** The batch to write; the transaction is empty afterwards. */
  take(): Change[] {
    const changes = [...this.#changes.values()];
    this.#changes = new Map();
    return changes;
  }

  #record(change: Change): void {
    this.#changes.set(mapKey(change.key), change);
    // With the length of the key, other keys and values that only look the same in a row give another digest.
    this.#lead[0] = change.value === null ? DELETED : PUT;
    writeUint32(this.#lead, 1, change.key.length);
    let running = this.#digest(this.#running, this.#lead);
    running = this.#digest(running, change.key);
    if (change.value !== null) {
      running = this.#digest(running, change.value);
    }
    this.#running = running;
  }

  /** Rows put by this transaction within the range, ascending. */
  #pendingRows(from: Uint8Array, to: Uint8Array): Row[] {
    const rows: Row[] = [];
    for (const { key, value } of this.#changes.values()) {
      if (value !== null && compareBytes(key, from) >= 0 && compareBytes(key, to) < 0) {
        rows.push({ key, value });
      }
    }
    return rows.sort((a, b) => compareBytes(a.key, b.key));
  }
}

/** Negative, 0 or positive as a comes before, equals or comes after b in the order of unsigned bytes. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) {
      return difference;
    }
  }
  return a.length - b.length;
}
