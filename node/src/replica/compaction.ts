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
}

export const DEFAULT_COMPACTION_LIMITS: CompactionLimits = {
  keptEntries: 5_000,
  keptBytes: 64 * 1024 * 1024,
  dueEntries: 10_000,
  dueBytes: 32 * 1024 * 1024,
};

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
    this.#slices.push({ index, bytes: this.#bytes });
  }

  /** The new first index now that everything up to `durable` is durable in the state, or null if none is due. */
  due(durable: number): number | null {
    const { keptEntries, keptBytes, dueEntries, dueBytes } = this.#limits;
    let drop = Math.min(durable, this.#applied - keptEntries);
    let bytesBefore = 0;
    for (const slice of this.#slices) {
      const tooManyBytes = this.#bytes - slice.bytes >= keptBytes;
      if (slice.index > durable || (slice.index > drop && !tooManyBytes)) {
        break;
      }
      drop = Math.max(drop, slice.index);
      bytesBefore = slice.bytes;
    }
    const first = drop + 1;
    const isDue = first - this.#first >= dueEntries * this.#spread || bytesBefore >= dueBytes * this.#spread;
    if (!isDue || first <= this.#first) {
      return null;
    }
    this.#first = first;
    this.#slices = this.#slices.filter((slice) => slice.index >= first);
    this.#bytes -= bytesBefore;
    this.#slices = this.#slices.map(({ index, bytes }) => ({ index, bytes: bytes - bytesBefore }));
    return first;
  }
}
