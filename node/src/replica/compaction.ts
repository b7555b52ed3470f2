/**
 * When the Raft log is shortened, and to where.
 *
 * Entries are dropped only if the state that contains their effects is durable. Some are kept beyond that, by count or
 * by bytes, whichever is less, so that a member that was away for a moment is caught up from the log.
 */

export interface CompactionLimits {
  /** Entries, and bytes of them, behind the applied one that are kept. */
  readonly keptEntries: number;
  readonly keptBytes: number;
  /** Entries, and bytes of them, more than what is kept that make a compaction due. */
  readonly dueEntries: number;
  readonly dueBytes: number;
  /** What members that are being caught up still need is kept up to so many bytes (P27). */
  readonly neededBytes: number;
}

export const DEFAULT_COMPACTION_LIMITS: CompactionLimits = {
  keptEntries: 5_000,
  keptBytes: 64 * 1024 * 1024,
  dueEntries: 10_000,
  dueBytes: 32 * 1024 * 1024,
  neededBytes: 1024 * 1024 * 1024,
};

/** Slices that together are less than this share of what makes a compaction due are remembered as one. */
const SLICE_SHARE = 0.01;
/** Compactions of different members are spread by up to this share of the limits. */
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

  /** The log begins anew after this entry. */
  reset(index: number): void {
    this.#first = index + 1;
    this.#applied = index;
    this.#bytes = 0;
    this.#slices = [];
  }

  /**
   * The new first index now that everything up to `durable` is durable in the state, or null if none is due. Entries
   * from `neededFrom` on are needed by others.
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

  /** The last entry that has so many bytes of applied ones behind it, as far as slices tell; 0 = none. */
  #lastBehind(bytes: number): number {
    return this.#slices.findLast((slice) => this.#bytes - slice.bytes >= bytes)?.index ?? 0;
  }
}
