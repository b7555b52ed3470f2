/**
 * The generations of stored answers: where each answer lies, how much each generation holds, and when one goes.
 *
 * An answer lies in the generation of the cluster tick at which its window began; what has no window yet lies in
 * generation 0. A generation is dropped as a whole when every window in it has ended, by one deletion of a range of
 * rows, so its totals are kept beside it: the deletion reads nothing. Totals are kept in memory, and the rows of those
 * that have changed are written once for each batch of entries: the digest of the state goes over the answers from
 * which they follow, and over the numbers of the generations that are dropped.
 *
 * A lookup reads rows only where a filter of this process says that there may be one. After a start filters are made
 * of the rows that are there, step by step; until a filter is complete, rows are read without it.
 */

import { invariant, readUint53, writeUint53 } from "../raft/index.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { ChunkedFilter, type FilterSeed, KeyHash, LiveKeys } from "./replay-filters.ts";
import { REPLAY_KEY_HEAD_BYTES, replayGenerationRow, replayRange, replayRow, tableRange, withNul } from "./rows.ts";
import type { KeyRange, StateReader } from "./store.ts";
import { decodeStoredAnswer, encodeStoredAnswer, LIVE, type StoredAnswer } from "./stored-answer.ts";
import type { Transaction } from "./transaction.ts";

/** Holds what has no window yet. */
const LIVE_GENERATION = 0;
/** An answer outlives its window by a tenth of it at most. */
const GENERATIONS_PER_WINDOW = 10;
/** Keys of generation 0 that are kept in memory: some 20 MiB. */
const LIVE_KEYS_MAX = 100_000;
const NUMBER_BYTES = 8;

/** Where the answer of a request is stored, and what is there: read once, for both. Good for the entry that is applied. */
export interface AnswerPlace {
  /** The key of the request's row in some generation. */
  readonly key: Uint8Array;
  readonly low: number;
  readonly high: number;
  /** What is stored, unless its window has ended. */
  readonly stored: StoredAnswer | null;
  /** The generation that holds it, and bytes of its row without the key; both 0 if nothing is stored. */
  readonly generation: number;
  readonly rowBytes: number;
}

/** What counts answers and their bytes for the whole cluster. */
export interface ReplayCounts {
  countData(bytes: number): void;
  countReplays(change: number): void;
}

interface Generation {
  readonly number: number;
  /** The key of the row of its totals. */
  readonly totalsKey: Uint8Array;
  count: number;
  /** Bytes of keys and rows. */
  bytes: number;
  readonly filter: ChunkedFilter | LiveKeys;
  /** Whether the filter knows every row. */
  isComplete: boolean;
  /** Up to where rows have been read for the filter, this one not; null = none yet. */
  readUpTo: Uint8Array | null;
}

/** Milliseconds of cluster tick that a generation covers, of answers with this window. */
export function replayGenerationMs(windowMs: number): number {
  return Math.max(1, Math.floor(windowMs / GENERATIONS_PER_WINDOW));
}

/** The generation of answers whose window began at this tick. */
function generationAt(tickMs: number, windowMs: number): number {
  return Math.floor(tickMs / replayGenerationMs(windowMs)) + 1;
}

/** Whether every window that began in the generation has ended by the tick. */
export function hasGenerationEnded(generation: number, tickMs: number, windowMs: number): boolean {
  return lastTickOf(generation, windowMs) < tickMs - windowMs;
}

function lastTickOf(generation: number, windowMs: number): number {
  return generation * replayGenerationMs(windowMs) - 1;
}

/** The answers of a state machine. */
export class ReplayLedger {
  readonly #transaction: Transaction;
  readonly #store: StateReader;
  readonly #windowMs: number;
  readonly #liveKeysMax: number;
  readonly #hash: KeyHash;
  readonly #number = new Uint8Array(NUMBER_BYTES);
  #live: Generation;
  /** Those with at least one answer, the oldest first. */
  readonly #kept: Generation[] = [];
  /** What has changed since the last batch, by number. What holds nothing any more has no row. */
  readonly #changed = new Map<number, Generation>();
  #dropped: KeyRange[] = [];

  /**
   * @param store what was committed
   * @param transaction over the store, and empty
   * @param seed of this process; it changes which rows are read, and nothing else
   * @param liveKeysMax keys of generation 0 that are kept in memory: with more, its rows are read
   */
  constructor(
    transaction: Transaction,
    store: StateReader,
    windowMs: number,
    seed: FilterSeed,
    liveKeysMax = LIVE_KEYS_MAX,
  ) {
    this.#transaction = transaction;
    this.#store = store;
    this.#windowMs = windowMs;
    this.#liveKeysMax = liveKeysMax;
    this.#hash = new KeyHash(seed);
    this.#live = this.#newGeneration(LIVE_GENERATION, 0);
    scanGenerations(store, (number, { count, bytes }) => {
      // Its rows are in the store. What comes from now on is added to the filter as it comes.
      const generation = this.#newGeneration(number, count);
      generation.count = count;
      generation.bytes = bytes;
      generation.isComplete = false;
      if (number === LIVE_GENERATION) {
        this.#live = generation;
      } else {
        this.#kept.push(generation);
      }
      return true;
    });
  }

  /** Answers in all generations. */
  get count(): number {
    return this.#kept.reduce((sum, { count }) => sum + count, this.#live.count);
  }

  /** Looks for the answer of the request, as of this tick. */
  find(subject: string, requestId: Uint8Array, tickMs: number): AnswerPlace {
    const key = replayRow(generationAt(tickMs, this.#windowMs), subject, requestId);
    this.#hash.update(key, REPLAY_KEY_HEAD_BYTES);
    const { low, high } = this.#hash;
    if (this.#live.count > 0 && this.#mayHold(this.#live, key, low, high)) {
      const live = this.#read(key, LIVE_GENERATION);
      if (live !== undefined) {
        return placeOf(key, low, high, LIVE_GENERATION, live);
      }
    }
    const sinceMs = tickMs - this.#windowMs;
    for (let at = this.#kept.length - 1; at >= 0; at--) {
      const generation = this.#kept[at] as Generation;
      if (lastTickOf(generation.number, this.#windowMs) < sinceMs) {
        break;
      }
      const row = this.#mayHold(generation, key, low, high) ? this.#read(key, generation.number) : undefined;
      if (row !== undefined) {
        const place = placeOf(key, low, high, generation.number, row);
        // If this one has ended, the id is new again: older ones have ended before it. It is left for its drop.
        return (place.stored as StoredAnswer).tickMs < sinceMs ? emptyPlace(key, low, high) : place;
      }
    }
    return emptyPlace(key, low, high);
  }

  /** Looks for what the request has that has no window yet. */
  findLive(subject: string, requestId: Uint8Array): AnswerPlace {
    const key = replayRow(LIVE_GENERATION, subject, requestId);
    this.#hash.update(key, REPLAY_KEY_HEAD_BYTES);
    const { low, high } = this.#hash;
    const row = this.#mayHold(this.#live, key, low, high) ? this.#transaction.get(key) : undefined;
    return row === undefined ? emptyPlace(key, low, high) : placeOf(key, low, high, LIVE_GENERATION, row);
  }

  /** Puts an answer, whose window begins now if it has one, where it belongs, and in place of what was found there. */
  put(counts: ReplayCounts, place: AnswerPlace, stored: StoredAnswer): void {
    this.putRow(counts, place, stored.tickMs, encodeStoredAnswer(stored));
  }

  /** The same of an answer's row, which has this tick. */
  putRow(counts: ReplayCounts, place: AnswerPlace, tickMs: number, row: Uint8Array): void {
    const number = tickMs === LIVE ? LIVE_GENERATION : generationAt(tickMs, this.#windowMs);
    const generation = this.#generation(number);
    const isReplaced = place.stored !== null && place.generation === number;
    if (place.stored !== null && !isReplaced) {
      this.#remove(counts, place);
    }
    const key = keyIn(number, place.key);
    this.#transaction.put(key, row);
    const bytes = isReplaced ? row.length - place.rowBytes : key.length + row.length;
    generation.bytes += bytes;
    generation.count += isReplaced ? 0 : 1;
    this.#changed.set(number, generation);
    counts.countData(bytes);
    counts.countReplays(isReplaced ? 0 : 1);
    // Also while the filter is being made: the rows that are read for it are those of before.
    addTo(generation, key, place.low, place.high);
  }

  /** Drops the generations all of whose windows have ended by the tick. */
  dropEnded(counts: ReplayCounts, tickMs: number): void {
    const end = this.#kept.findIndex(({ number }) => !hasGenerationEnded(number, tickMs, this.#windowMs));
    const dropped = this.#kept.splice(0, end < 0 ? this.#kept.length : end);
    for (const generation of dropped) {
      writeUint53(this.#number, 0, generation.number);
      this.#transaction.note(this.#number);
      counts.countData(-generation.bytes);
      counts.countReplays(-generation.count);
      generation.count = 0;
      this.#changed.set(generation.number, generation);
    }
    const [first] = dropped;
    const last = dropped.at(-1);
    if (first !== undefined && last !== undefined) {
      this.#dropped.push(replayRange(first.number, last.number));
    }
  }

  /** Puts the rows of all totals that have changed since the last time into the transaction. */
  flush(): void {
    for (const generation of this.#changed.values()) {
      this.#transaction.carry(generation.totalsKey, generation.count > 0 ? encodeTotals(generation) : null);
    }
    this.#changed.clear();
  }

  /** The ranges of rows that were dropped since the last time: to be deleted after the batch was written. */
  takeDropped(): readonly KeyRange[] {
    const dropped = this.#dropped;
    this.#dropped = [];
    return dropped;
  }

  /**
   * Reads up to so many rows of before the start for the filters, the newest generations first. Returns whether there
   * are more to read. Only between batches: it reads what was committed.
   */
  readForFilters(rowsMax: number): boolean {
    let left = rowsMax;
    for (let next = this.#incomplete(); next !== undefined; next = this.#incomplete()) {
      if (left <= 0) {
        return true;
      }
      left -= this.#readFor(next, left);
    }
    return false;
  }

  /** Reads rows for the filter of the generation, and returns how many. */
  #readFor(generation: Generation, rowsMax: number): number {
    const { from, to } = replayRange(generation.number, generation.number);
    let read = 0;
    let last: Uint8Array | null = null;
    this.#store.scan(generation.readUpTo ?? from, to, ({ key }) => {
      this.#hash.update(key, REPLAY_KEY_HEAD_BYTES);
      addTo(generation, key, this.#hash.low, this.#hash.high);
      last = key;
      read++;
      return read < rowsMax;
    });
    generation.readUpTo = last === null ? generation.readUpTo : withNul(last);
    generation.isComplete = read < rowsMax;
    return read;
  }

  #incomplete(): Generation | undefined {
    const { filter, isComplete } = this.#live;
    if (!isComplete && filter instanceof LiveKeys && !filter.isGivenUp) {
      return this.#live;
    }
    return this.#kept.findLast((generation) => !generation.isComplete);
  }

  /** The generation of this number; a new one if it holds nothing yet. It must not be older than those that are there. */
  #generation(number: number): Generation {
    if (number === LIVE_GENERATION) {
      return this.#live;
    }
    const newest = this.#kept.at(-1);
    if (newest?.number === number) {
      return newest;
    }
    invariant(newest === undefined || newest.number < number, "windows begin in the newest generation");
    const generation = this.#newGeneration(number, newest?.count ?? 0);
    this.#kept.push(generation);
    return generation;
  }

  /** @param expected answers that it is likely to hold */
  #newGeneration(number: number, expected: number): Generation {
    const isLive = number === LIVE_GENERATION;
    const filter = isLive ? new LiveKeys(REPLAY_KEY_HEAD_BYTES, this.#liveKeysMax) : new ChunkedFilter(expected);
    // It stays for long, in memory of its own: a cut of a slab would hold the whole slab.
    const totalsKey = replayGenerationRow(number).slice();
    return { number, totalsKey, count: 0, bytes: 0, filter, isComplete: true, readUpTo: null };
  }

  #remove(counts: ReplayCounts, { key, generation: number, rowBytes }: AnswerPlace): void {
    const at = this.#kept.findIndex((generation) => generation.number === number);
    const generation = number === LIVE_GENERATION ? this.#live : (this.#kept[at] as Generation);
    const removed = keyIn(number, key);
    this.#transaction.delete(removed);
    generation.count--;
    generation.bytes -= removed.length + rowBytes;
    counts.countData(-removed.length - rowBytes);
    counts.countReplays(-1);
    this.#changed.set(number, generation);
    if (generation.filter instanceof LiveKeys) {
      generation.filter.delete(removed);
      if (generation.filter.isGivenUp && generation.count < this.#liveKeysMax / 2) {
        generation.filter.restart();
        generation.readUpTo = null;
        generation.isComplete = false;
      }
    } else if (generation.count === 0) {
      this.#kept.splice(at, 1);
    }
  }

  #mayHold({ filter, isComplete }: Generation, key: Uint8Array, low: number, high: number): boolean {
    return !isComplete || (filter instanceof LiveKeys ? filter.has(key) : filter.mayHold(low, high));
  }

  #read(key: Uint8Array, generation: number): Uint8Array | undefined {
    return this.#transaction.get(keyIn(generation, key));
  }
}

function addTo({ filter }: Generation, key: Uint8Array, low: number, high: number): void {
  if (filter instanceof LiveKeys) {
    filter.add(key);
  } else {
    filter.add(low, high);
  }
}

function emptyPlace(key: Uint8Array, low: number, high: number): AnswerPlace {
  return { key, low, high, stored: null, generation: 0, rowBytes: 0 };
}

function placeOf(key: Uint8Array, low: number, high: number, generation: number, row: Uint8Array): AnswerPlace {
  return { key, low, high, stored: decodeStoredAnswer(row), generation, rowBytes: row.length };
}

/** The key of the same request in this generation: the same bytes if it is that one already. */
function keyIn(generation: number, key: Uint8Array): Uint8Array {
  if (readUint53(key, 1) === generation) {
    return key;
  }
  const other = key.slice();
  writeUint53(other, 1, generation);
  return other;
}

function encodeTotals({ count, bytes }: Generation): Uint8Array {
  return new RecordWriter().uint53(count).uint53(bytes).finish();
}

/** What a generation holds. */
export interface GenerationTotals {
  readonly count: number;
  /** Bytes of keys and rows. */
  readonly bytes: number;
}

/** Visits the generations that hold answers, in ascending order, until `visit` returns false. */
export function scanGenerations(
  reader: StateReader,
  visit: (number: number, totals: GenerationTotals) => boolean,
): void {
  const { from, to } = tableRange("replayGeneration");
  reader.scan(from, to, ({ key, value }) => {
    const fields = new RecordReader(value);
    const totals = { count: fields.uint53(), bytes: fields.uint53() };
    fields.end();
    return visit(readUint53(key, 1), totals);
  });
}

/** The rows of generations that were dropped and may still be there: all below the oldest that holds answers. */
export function droppedReplays(reader: StateReader): KeyRange {
  const all = replayRange(LIVE_GENERATION + 1, null);
  let { to } = all;
  scanGenerations(reader, (number) => {
    if (number === LIVE_GENERATION) {
      return true;
    }
    to = replayRange(number, number).from;
    return false;
  });
  return { from: all.from, to };
}

/**
 * The answer of a request, for a reader outside of apply: of the generations that hold answers the newest that has one.
 * Answers from before the cluster tick `sinceMs` do not count.
 */
export function readAnswer(
  reader: StateReader,
  subject: string,
  requestId: Uint8Array,
  sinceMs: number,
): StoredAnswer | null {
  const numbers: number[] = [];
  scanGenerations(reader, (number) => numbers.push(number) > 0);
  // What is live is newer than what has ended.
  const isFirst = numbers[0] === LIVE_GENERATION;
  const newestFirst = [...numbers.splice(0, isFirst ? 1 : 0), ...numbers.reverse()];
  for (const number of newestFirst) {
    const row = reader.get(replayRow(number, subject, requestId));
    if (row !== undefined) {
      const stored = decodeStoredAnswer(row);
      return stored.tickMs < sinceMs ? null : stored;
    }
  }
  return null;
}
