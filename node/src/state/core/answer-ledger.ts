/**
 * The generations of stored answers: where each answer is, how much each generation contains, and when it is dropped.
 *
 * An answer belongs to the generation of the cluster tick at which its window began. An answer without a window yet
 * belongs to generation 0. When all its windows have ended, a generation is dropped by one deletion of a row range. The
 * deletion reads nothing, so the totals of a generation are stored separately. Totals are in memory, and changed ones
 * are written once for each batch of entries. The digest covers the answers that determine them, and the numbers of
 * dropped generations.
 *
 * A look-up reads rows only if a filter of this process shows that there may be one. After a start, filters are built
 * from the existing rows step by step; until a filter is complete, rows are read without it.
 */

import { type HashSeed, KeyHash, withNul } from "../../bytes/index.ts";
import { invariant, readUint53, writeUint53 } from "../../primitives/index.ts";
import { ChunkedFilter, LiveKeys } from "./answer-filters.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { ANSWER_KEY_HEAD_BYTES, answerGenerationRow, answerRange, answerRow, tableRange } from "./rows.ts";
import type { KeyRange, StateReader } from "./store.ts";
import { decodeStoredAnswer, encodeStoredAnswer, LIVE, type StoredAnswer } from "./stored-answer.ts";
import type { Transaction } from "./transaction.ts";

/** Contains answers whose window has not begun. */
const LIVE_GENERATION = 0;
/** An answer outlives its window by at most a tenth of it. */
const GENERATIONS_PER_WINDOW = 10;
/** Keys of generation 0 in memory: about 20 MiB. */
const LIVE_KEYS_MAX = 100_000;
const NUMBER_BYTES = 8;

/** Where the answer of a request is stored, and the stored answer, from one read. Valid only for the current entry. */
export interface AnswerSlot {
  /** The key of the request's row in some generation. */
  readonly key: Uint8Array;
  readonly low: number;
  readonly high: number;
  /** The stored answer, unless its window has ended. */
  readonly stored: StoredAnswer | null;
  /** Its generation, and bytes of its row without the key; both 0 without an answer. */
  readonly generation: number;
  readonly rowBytes: number;
}

/** Counts the answers and their bytes for the whole cluster. */
export interface AnswerCounts {
  countData(bytes: number): void;
  countStoredAnswers(change: number): void;
}

interface Generation {
  readonly number: number;
  /** The key of the row of its totals. */
  readonly totalsKey: Uint8Array;
  count: number;
  /** Bytes of keys and rows. */
  bytes: number;
  readonly filter: ChunkedFilter | LiveKeys;
  /** Whether the filter contains every row. */
  isComplete: boolean;
  /** Rows before this key are in the filter; null = none yet. */
  readUpTo: Uint8Array | null;
}

/** Cluster milliseconds that one generation covers, for answers with this window. */
export function generationMs(windowMs: number): number {
  return Math.max(1, Math.floor(windowMs / GENERATIONS_PER_WINDOW));
}

/** The generation of answers whose window began at this tick. */
function generationAt(tickMs: number, windowMs: number): number {
  return Math.floor(tickMs / generationMs(windowMs)) + 1;
}

/** Whether every window that began in the generation has ended by the tick. */
export function hasGenerationEnded(generation: number, tickMs: number, windowMs: number): boolean {
  return lastTickOf(generation, windowMs) < tickMs - windowMs;
}

function lastTickOf(generation: number, windowMs: number): number {
  return generation * generationMs(windowMs) - 1;
}

/** The answers of a state machine. */
export class AnswerLedger {
  readonly #transaction: Transaction;
  readonly #store: StateReader;
  readonly #windowMs: number;
  readonly #liveKeysMax: number;
  readonly #hash: KeyHash;
  readonly #number = new Uint8Array(NUMBER_BYTES);
  #live: Generation;
  /** Generations with at least one answer, the oldest first. */
  readonly #kept: Generation[] = [];
  /** Changed since the last batch, by number. An empty generation has no row. */
  readonly #changed = new Map<number, Generation>();
  #dropped: KeyRange[] = [];

  /**
   * @param store the committed state
   * @param transaction over the store, and empty
   * @param seed of this process; only the choice of rows to read depends on it
   * @param liveKeysMax keys of generation 0 in memory; above it, its rows are read
   */
  constructor(
    transaction: Transaction,
    store: StateReader,
    windowMs: number,
    seed: HashSeed,
    liveKeysMax = LIVE_KEYS_MAX,
  ) {
    this.#transaction = transaction;
    this.#store = store;
    this.#windowMs = windowMs;
    this.#liveKeysMax = liveKeysMax;
    this.#hash = new KeyHash(seed);
    this.#live = this.#newGeneration(LIVE_GENERATION, 0);
    scanGenerations(store, (number, { count, bytes }) => {
      // Its rows are in the store. New answers are added to the filter as they come.
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

  /** Finds the answer of the request, as of this tick. */
  find(subject: string, requestId: Uint8Array, tickMs: number): AnswerSlot {
    const key = answerRow(generationAt(tickMs, this.#windowMs), subject, requestId);
    this.#hash.update(key, ANSWER_KEY_HEAD_BYTES);
    const { low, high } = this.#hash;
    if (this.#live.count > 0 && this.#mayHold(this.#live, key, low, high)) {
      const live = this.#read(key, LIVE_GENERATION);
      if (live !== undefined) {
        return slotOf(key, low, high, LIVE_GENERATION, live);
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
        const slot = slotOf(key, low, high, generation.number, row);
        // If this answer has ended, the id is new again, because older answers ended earlier. Its drop removes it.
        return (slot.stored as StoredAnswer).tickMs < sinceMs ? emptySlot(key, low, high) : slot;
      }
    }
    return emptySlot(key, low, high);
  }

  /** Finds the request's row that has no window yet. */
  findLive(subject: string, requestId: Uint8Array): AnswerSlot {
    const key = answerRow(LIVE_GENERATION, subject, requestId);
    this.#hash.update(key, ANSWER_KEY_HEAD_BYTES);
    const { low, high } = this.#hash;
    const row = this.#mayHold(this.#live, key, low, high) ? this.#transaction.get(key) : undefined;
    return row === undefined ? emptySlot(key, low, high) : slotOf(key, low, high, LIVE_GENERATION, row);
  }

  /** Stores an answer in its generation and removes the one found there. Its window begins now, if it has one. */
  put(counts: AnswerCounts, slot: AnswerSlot, stored: StoredAnswer): void {
    this.putRow(counts, slot, stored.tickMs, encodeStoredAnswer(stored));
  }

  /** The same for an encoded row with this tick. */
  putRow(counts: AnswerCounts, slot: AnswerSlot, tickMs: number, row: Uint8Array): void {
    const number = tickMs === LIVE ? LIVE_GENERATION : generationAt(tickMs, this.#windowMs);
    const generation = this.#generation(number);
    const isReplaced = slot.stored !== null && slot.generation === number;
    if (slot.stored !== null && !isReplaced) {
      this.#remove(counts, slot);
    }
    const key = keyIn(number, slot.key);
    this.#transaction.put(key, row);
    const bytes = isReplaced ? row.length - slot.rowBytes : key.length + row.length;
    generation.bytes += bytes;
    generation.count += isReplaced ? 0 : 1;
    this.#changed.set(number, generation);
    counts.countData(bytes);
    counts.countStoredAnswers(isReplaced ? 0 : 1);
    // Also while the filter is being built: that only reads older rows.
    addTo(generation, key, slot.low, slot.high);
  }

  /** Drops the generations whose windows have all ended by the tick. */
  dropEnded(counts: AnswerCounts, tickMs: number): void {
    const end = this.#kept.findIndex(({ number }) => !hasGenerationEnded(number, tickMs, this.#windowMs));
    const dropped = this.#kept.splice(0, end < 0 ? this.#kept.length : end);
    for (const generation of dropped) {
      writeUint53(this.#number, 0, generation.number);
      this.#transaction.note(this.#number);
      counts.countData(-generation.bytes);
      counts.countStoredAnswers(-generation.count);
      generation.count = 0;
      this.#changed.set(generation.number, generation);
    }
    const [first] = dropped;
    const last = dropped.at(-1);
    if (first !== undefined && last !== undefined) {
      this.#dropped.push(answerRange(first.number, last.number));
    }
  }

  /** Writes the rows of all totals that have changed since the last flush into the transaction. */
  flush(): void {
    for (const generation of this.#changed.values()) {
      this.#transaction.carry(generation.totalsKey, generation.count > 0 ? encodeTotals(generation) : null);
    }
    this.#changed.clear();
  }

  /** The row ranges dropped since the last call; the caller deletes them after it has written the batch. */
  takeDropped(): readonly KeyRange[] {
    const dropped = this.#dropped;
    this.#dropped = [];
    return dropped;
  }

  /**
   * Reads up to this many rows from before the start for the filters, the newest generations first. Returns whether
   * there are more to read. Call it only between batches: it reads the committed state.
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
    const { from, to } = answerRange(generation.number, generation.number);
    let read = 0;
    let last: Uint8Array | null = null;
    this.#store.scan(generation.readUpTo ?? from, to, ({ key }) => {
      this.#hash.update(key, ANSWER_KEY_HEAD_BYTES);
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
    if (!isComplete && filter instanceof LiveKeys && !filter.hasOverflowed) {
      return this.#live;
    }
    return this.#kept.findLast((generation) => !generation.isComplete);
  }

  /** The generation of this number, created if it is empty. It must not be older than the existing ones. */
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

  /** @param expected likely number of its answers */
  #newGeneration(number: number, expected: number): Generation {
    const isLive = number === LIVE_GENERATION;
    const filter = isLive ? new LiveKeys(ANSWER_KEY_HEAD_BYTES, this.#liveKeysMax) : new ChunkedFilter(expected);
    // It lives long, so it gets its own memory: a cut of a slab would keep the whole slab.
    const totalsKey = answerGenerationRow(number).slice();
    return { number, totalsKey, count: 0, bytes: 0, filter, isComplete: true, readUpTo: null };
  }

  #remove(counts: AnswerCounts, { key, generation: number, rowBytes }: AnswerSlot): void {
    const at = this.#kept.findIndex((generation) => generation.number === number);
    const generation = number === LIVE_GENERATION ? this.#live : (this.#kept[at] as Generation);
    const removed = keyIn(number, key);
    this.#transaction.delete(removed);
    generation.count--;
    generation.bytes -= removed.length + rowBytes;
    counts.countData(-removed.length - rowBytes);
    counts.countStoredAnswers(-1);
    this.#changed.set(number, generation);
    if (generation.filter instanceof LiveKeys) {
      generation.filter.delete(removed);
      if (generation.filter.hasOverflowed && generation.count < this.#liveKeysMax / 2) {
        generation.filter.restart();
        generation.readUpTo = null;
        generation.isComplete = false;
      }
    } else if (generation.count === 0) {
      this.#kept.splice(at, 1);
    }
  }

  #mayHold({ filter, isComplete }: Generation, key: Uint8Array, low: number, high: number): boolean {
    return !isComplete || (filter instanceof LiveKeys ? filter.has(key) : filter.mayContain(low, high));
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

function emptySlot(key: Uint8Array, low: number, high: number): AnswerSlot {
  return { key, low, high, stored: null, generation: 0, rowBytes: 0 };
}

function slotOf(key: Uint8Array, low: number, high: number, generation: number, row: Uint8Array): AnswerSlot {
  return { key, low, high, stored: decodeStoredAnswer(row), generation, rowBytes: row.length };
}

/** The key of the same request in this generation: the same array if it is already that one. */
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

/** The totals of a generation. */
export interface GenerationTotals {
  readonly count: number;
  /** Bytes of keys and rows. */
  readonly bytes: number;
}

/** Visits the non-empty generations, in ascending order, until `visit` returns false. */
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

/** The rows of dropped generations that may still exist: all below the oldest non-empty generation. */
export function droppedGenerations(reader: StateReader): KeyRange {
  const all = answerRange(LIVE_GENERATION + 1, null);
  let { to } = all;
  scanGenerations(reader, (number) => {
    if (number === LIVE_GENERATION) {
      return true;
    }
    to = answerRange(number, number).from;
    return false;
  });
  return { from: all.from, to };
}

/**
 * The answer of a request, for a reader outside of apply: from the newest generation that has one. Answers from before
 * the cluster tick `sinceMs` do not count.
 */
export function readAnswer(
  reader: StateReader,
  subject: string,
  requestId: Uint8Array,
  sinceMs: number,
): StoredAnswer | null {
  const numbers: number[] = [];
  scanGenerations(reader, (number) => numbers.push(number) > 0);
  // A live row is newer than any whose window began.
  const isFirst = numbers[0] === LIVE_GENERATION;
  const newestFirst = [...numbers.splice(0, isFirst ? 1 : 0), ...numbers.reverse()];
  for (const number of newestFirst) {
    const row = reader.get(answerRow(number, subject, requestId));
    if (row !== undefined) {
      const stored = decodeStoredAnswer(row);
      return stored.tickMs < sinceMs ? null : stored;
    }
  }
  return null;
}
