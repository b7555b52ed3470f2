/**
 * Decides when the Raft log is compacted, and up to which index.
 *
 * Entries are dropped only if the state with their effects is durable. A bounded tail is kept, by count or by bytes,
 * whichever is less, so that a member that was away for a moment catches up from the log.
 */

export interface CompactionLimits {
  /** Applied entries that are kept, and their bytes. */
  readonly keptEntries: number;
  readonly keptBytes: number;
  /** A compaction is due at this many entries, or bytes, beyond those that are kept. */
  readonly dueEntries: number;
  readonly dueBytes: number;
  /** Entries that members still need to catch up are kept up to this many bytes (P27). */
  readonly neededBytes: number;
}

export const DEFAULT_COMPACTION_LIMITS: CompactionLimits = {
  keptEntries: 5_000,
  keptBytes: 64 * 1024 * 1024,
  dueEntries: 10_000,
  dueBytes: 32 * 1024 * 1024,
  neededBytes: 1024 * 1024 * 1024,
};

/** Adjacent slices are merged while together they are at most this share of the limits that make a compaction due. */
const SLICE_SHARE = 0.01;
/** Each member varies its limits by up to this share, so that members do not compact at the same time. */
const SPREAD = 0.2;

export class Compaction {
  readonly #limits: CompactionLimits;
  readonly #spread: number;
  #first: number;
  #applied: number;
  #bytes = 0;
  /** Ends of applied slices, with the bytes applied up to there since the start, ascending. */
  #slices: { readonly index: number; readonly bytes: number }[] = [];

  /** `random` is in [0, 1). */
  constructor(limits: CompactionLimits, first: number, applied: number, random: number) {
    this.#limits = limits;
    this.#spread = 1 - SPREAD + 2 * SPREAD * random;
    this.#first = first;
    this.#applied = applied;
  }

  /** Entries up to the index, of this many bytes together, were applied. */
  onApplied(index: number, bytes: number): void {
    this.#applied = index;
    this.#bytes += bytes;
    const slice = { index, bytes: this.#bytes };
    const before = this.#slices.at(-2);
    const startIndex = before?.index ?? this.#first - 1;
    const startBytes = before?.bytes ?? 0;
    const { dueEntries, dueBytes } = this.#limits;
    const isSmall =
      index - startIndex <= dueEntries * SLICE_SHARE && this.#bytes - startBytes <= dueBytes * SLICE_SHARE;
    if (this.#slices.length > 0 && isSmall) {
      this.#slices[this.#slices.length - 1] = slice;
    } else {
      this.#slices.push(slice);
    }
  }

  /** The log was reset and now begins after this entry. */
  reset(index: number): void {
    this.#first = index + 1;
    this.#applied = index;
    this.#bytes = 0;
    this.#slices = [];
  }

  /**
   * Returns the new first index now that everything up to `durable` is durable in the state, or null if no compaction
   * is due. Other members need the entries from `neededFrom` on.
   */
  due(durable: number, neededFrom: number = Number.POSITIVE_INFINITY): number | null {
    const { keptEntries, keptBytes, dueEntries, dueBytes, neededBytes } = this.#limits;
    const kept = Math.max(this.#applied - keptEntries, this.#lastBehind(keptBytes));
    const needed = Math.max(neededFrom - 1, this.#lastBehind(neededBytes));
    const drop = Math.min(durable, kept, needed);
    const bytes = this.#slices.findLast(({ index }) => index <= drop)?.bytes ?? 0;
    const first = drop + 1;
    const isDue = first - this.#first >= dueEntries * this.#spread || bytes >= dueBytes * this.#spread;
    if (!isDue || first <= this.#first) {
      return null;
    }
    this.#first = first;
    this.#bytes -= bytes;
    this.#slices = this.#slices
      .filter(({ index }) => index >= first)
      .map((slice) => ({ index: slice.index, bytes: slice.bytes - bytes }));
    return first;
  }

  /** The last entry that is followed by at least this many applied bytes, to the precision of slices; 0 = none. */
  #lastBehind(bytes: number): number {
    return this.#slices.findLast((slice) => this.#bytes - slice.bytes >= bytes)?.index ?? 0;
  }
}
