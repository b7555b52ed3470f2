/**
 * Listings of locks with their holders and waits, and of all waits of one lock.
 *
 * A page reads a bounded number of rows, so that a listing of a million locks delays no other request (S44). So it may
 * have fewer locks than the caller wants, and more may follow.
 */

import { compareBytes, withNul } from "../../bytes/index.ts";
import {
  decodeText,
  type Hold,
  type LockName,
  lockRow,
  prefixRange,
  requireNamespace,
  type StateReader,
  splitLockRow,
} from "../core/index.ts";
import type { LockState } from "./lock-commands.ts";
import { decodeLock, type Lock, readFirstHolds, requireLock, visitWaits, type Wait } from "./lock-rows.ts";
import { SHOWN_HOLDS_MAX, stateOf } from "./lock-view.ts";

/** A lock in a listing. */
export interface ListedLock {
  readonly lock: Readonly<Lock>;
  readonly state: LockState;
  /** The first live holds, in the order of their grants; at most SHOWN_HOLDS_MAX. */
  readonly holds: readonly Hold[];
  /** The first waits, in the order in which they are served. */
  readonly waits: readonly Wait[];
}

/** Which locks a page lists, and how much of them. */
export interface LockSelection {
  readonly namespace: string;
  /** Prefix of the names; empty = all. */
  readonly prefix: string;
  /** Leaves out free locks. */
  readonly inUseOnly: boolean;
  /** Maximum number of waits of each lock. */
  readonly waitsMax: number;
  /** Leaves out holds and waits. */
  readonly namesOnly: boolean;
  readonly entriesMax: number;
  /** Bytes of names, holds and waits; a page always has at least one lock, if it finds one. */
  readonly bytesMax: number;
}

export interface LockPage {
  readonly locks: readonly ListedLock[];
  /** The place from which the next page continues; null = this is the last page. */
  readonly next: Uint8Array | null;
}

/** Rows of locks that one page reads. */
const VISITED_MAX = 500;
/** Locks of one page that need further reads: of their holder, or scans of their readers and waits. */
const HELD_MAX = 100;
const SCANNED_MAX = 25;
/** Estimated bytes of a lock, a hold or a wait without its texts, which count with their lengths. */
const FIXED_BYTES = 64;

/**
 * Locks above `after` if given: exclusive locks, then read-write locks, each in the order of the bytes of their names.
 * Raises NAMESPACE_NOT_FOUND.
 */
export function listLocks(reader: StateReader, selection: LockSelection, after: Uint8Array | null): LockPage {
  requireNamespace(reader, selection.namespace);
  const page = new PageInProgress(reader, selection);
  for (const rw of [false, true]) {
    const { from: first, to: end } = prefixRange(lockRow(selection.namespace, rw, selection.prefix));
    const from = after === null ? first : later(first, withNul(rowAt(selection.namespace, after)));
    if (compareBytes(from, end) < 0) {
      reader.scan(from, end, ({ key, value }) => page.visit(key, value));
    }
    if (page.isFull) {
      break;
    }
  }
  return page.finish();
}

/** All waits of the lock, in the order in which they are served. Raises NAMESPACE_NOT_FOUND and LOCK_NOT_FOUND. */
export function listLockWaits(reader: StateReader, lockName: LockName): readonly Wait[] {
  requireNamespace(reader, lockName.namespace);
  return firstWaits(reader, requireLock(reader, lockName), Number.POSITIVE_INFINITY);
}

/** Collects the locks first, and reads their holds and waits after the scan of the locks. */
class PageInProgress {
  readonly #reader: StateReader;
  readonly #selection: LockSelection;
  readonly #locks: Lock[] = [];
  #visited = 0;
  #held = 0;
  #scanned = 0;
  #lastKey: Uint8Array | null = null;
  #isFull = false;

  constructor(reader: StateReader, selection: LockSelection) {
    this.#reader = reader;
    this.#selection = selection;
  }

  /** Whether more may follow. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes the row of the next lock. Returns false if the page is full; the row is then not part of it. */
  visit(key: Uint8Array, value: Uint8Array): boolean {
    if (this.#visited >= VISITED_MAX || this.#locks.length >= this.#selection.entriesMax) {
      this.#isFull = true;
      return false;
    }
    const lock = decodeLock(splitLockRow(key), value);
    if (!this.#reserve(lock)) {
      this.#isFull = true;
      return false;
    }
    this.#visited++;
    this.#lastKey = key;
    if (!this.#selection.inUseOnly || stateOf(lock) !== "free") {
      this.#locks.push(lock);
    }
    return true;
  }

  /** The page with all that belongs to its locks. */
  finish(): LockPage {
    const { namespace, bytesMax } = this.#selection;
    const locks: ListedLock[] = [];
    let bytes = 0;
    for (const lock of this.#locks) {
      const listed = this.#listed(lock);
      bytes += bytesOf(listed);
      const previous = locks.at(-1);
      if (previous !== undefined && bytes > bytesMax) {
        return { locks, next: placeOf(namespace, keyOf(previous.lock)) };
      }
      locks.push(listed);
    }
    return { locks, next: this.#isFull && this.#lastKey !== null ? placeOf(namespace, this.#lastKey) : null };
  }

  /** Counts the reads that the lock needs; false = they are too many for this page. */
  #reserve(lock: Lock): boolean {
    const { namesOnly, waitsMax } = this.#selection;
    if (namesOnly) {
      return true;
    }
    const scans = Number(lock.readers > 0) + Number(waitsMax > 0 && waitsOf(lock) > 0);
    const held = Number(lock.exclusiveToken !== 0);
    if (this.#scanned + scans > SCANNED_MAX || this.#held + held > HELD_MAX) {
      return false;
    }
    this.#scanned += scans;
    this.#held += held;
    return true;
  }

  #listed(lock: Lock): ListedLock {
    const { namesOnly, waitsMax } = this.#selection;
    return {
      lock,
      state: stateOf(lock),
      holds: namesOnly ? [] : readFirstHolds(this.#reader, lock, SHOWN_HOLDS_MAX),
      waits: namesOnly || waitsMax === 0 ? [] : firstWaits(this.#reader, lock, waitsMax),
    };
  }
}

function waitsOf({ waitingReaders, waitingWriters }: Lock): number {
  return waitingReaders + waitingWriters;
}

/** The first waits, at most this many, at least 1. */
function firstWaits(reader: StateReader, lock: Lock, countMax: number): Wait[] {
  const waits: Wait[] = [];
  visitWaits(reader, lock, (wait) => {
    waits.push(wait);
    return waits.length < countMax;
  });
  return waits;
}

function bytesOf({ lock, holds, waits }: ListedLock): number {
  let bytes = FIXED_BYTES + lock.name.length;
  for (const { owner, subject } of holds) {
    bytes += FIXED_BYTES + owner.length + subject.length;
  }
  for (const { owner, principal } of waits) {
    bytes += FIXED_BYTES + owner.length + principal.subject.length;
  }
  return bytes;
}

// ---- Places in the order of a listing: kind and name, the part of a row's key behind the namespace ----

function keyOf({ namespace, rw, name }: LockName): Uint8Array {
  return lockRow(namespace, rw, name);
}

function placeOf(namespace: string, key: Uint8Array): Uint8Array {
  return key.slice(lockRow(namespace, false, "").length - 1);
}

function rowAt(namespace: string, place: Uint8Array): Uint8Array {
  return lockRow(namespace, place[0] === 1, decodeText(place.subarray(1)));
}

function later(one: Uint8Array, other: Uint8Array): Uint8Array {
  return compareBytes(one, other) < 0 ? other : one;
}
