/**
 * The one log that all members agree on, as they reveal it. Later rows are compared with it, and it never changes.
 *
 * Rows come from members' logs when they write, commit or apply them; digests and snapshots come from their states.
 */

import { entryEnvelope, entryIndex, entryTerm } from "../../src/raft/index.ts";
import { must } from "./rule-violation.ts";

interface Known {
  readonly row: Uint8Array;
  readonly prevTerm: number;
  /** When a member first wrote it. */
  readonly atMs: number;
}

export class CanonicalLog {
  readonly #nowMs: () => number;
  /** Every entry that any member ever wrote, by index and term. */
  readonly #written = new Map<string, Known>();
  /** The committed log, from index 1 on. */
  readonly #committed: Uint8Array[] = [];
  readonly #origins = new Map<string, number>();
  readonly #digests = new Map<number, number>();
  readonly #snapshots = new Map<number, number>();
  /** When a state first reached each index, from index 1 on. */
  readonly #appliedMs: number[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Index of the last entry that any member has known as committed. */
  get last(): number {
    return this.#committed.length;
  }

  get rows(): readonly Uint8Array[] {
    return this.#committed;
  }

  /** Checksums of the rows of sent or received states, by index. */
  get snapshots(): ReadonlyMap<number, number> {
    return this.#snapshots;
  }

  /** The digest of the state after the entry, if a member has applied exactly up to it. */
  digestAt(index: number): number | undefined {
    return this.#digests.get(index);
  }

  /** When the committed entry was first written, and when its effects were first visible, in milliseconds. */
  timesOf(index: number): { readonly writtenMs: number; readonly appliedMs: number } {
    const row = this.#committed[index - 1] as Uint8Array;
    const { atMs } = this.#written.get(`${index}/${entryTerm(row)}`) as Known;
    return { writtenMs: atMs, appliedMs: this.#appliedMs[index - 1] ?? Number.POSITIVE_INFINITY };
  }

  /** A member writes rows behind an entry of this term. */
  wrote(member: number, rows: readonly Uint8Array[], prevTerm: number): void {
    let before = prevTerm;
    for (const row of rows) {
      const [index, term] = [entryIndex(row), entryTerm(row)];
      const key = `${index}/${term}`;
      const known = this.#written.get(key);
      if (known === undefined) {
        this.#written.set(key, { row: row.slice(), prevTerm: before, atMs: this.#nowMs() });
      } else {
        must(isSame(known.row, row), "I4 equal index and term mean equal bytes", () => `m${member}, ${key}`);
        must(known.prevTerm === before, "I4 equal index and term mean equal prefixes", () => {
          return `m${member}, ${key}: after ${before}, not ${known.prevTerm}`;
        });
      }
      before = term;
    }
  }

  /** A member knows its row at the index as committed. Rows come in the order of the log, possibly repeatedly. */
  committed(member: number, index: number, row: Uint8Array): void {
    const known = this.#committed[index - 1];
    if (known !== undefined) {
      must(isSame(known, row), "I6 the committed log never changes", () => {
        return `m${member}, entry ${index}: term ${entryTerm(row)}, not ${entryTerm(known)}`;
      });
      return;
    }
    must(index === this.last + 1, "I6 the committed log has no gaps", () => `m${member}: ${index} after ${this.last}`);
    const { memberId, boot, seq } = entryEnvelope(row).origin;
    if (seq !== 0) {
      const origin = `${memberId}.${boot}.${seq}`;
      const before = this.#origins.get(origin);
      must(before === undefined, "I14 no attempt is in the log twice", () => `${origin} at ${before} and ${index}`);
      this.#origins.set(origin, index);
    }
    this.#committed.push(row.slice());
  }

  /** A member's state has reached the index with this digest. */
  applied(member: number, index: number, digest: number): void {
    const known = this.#digests.get(index);
    must(known === undefined || known === digest, "I9 equal applied indexes mean equal states", () => {
      return `m${member} at ${index}: digest ${digest}, not ${known}`;
    });
    this.#digests.set(index, digest);
    while (this.#appliedMs.length < index) {
      this.#appliedMs.push(this.#nowMs());
    }
  }

  /**
   * No tick is ahead of the time that has passed when its entry is first written, by clocks that run fast by at most
   * this share (S21).
   */
  checkTicks(driftShare: number): void {
    for (const [at, row] of this.#committed.entries()) {
      const { tickMs } = entryEnvelope(row);
      const { writtenMs } = this.timesOf(at + 1);
      must(tickMs <= writtenMs * (1 + driftShare) + 1, "I23 ticks are not ahead of time", () => {
        return `entry ${at + 1}: ${tickMs} ms, written after ${Math.round(writtenMs)} ms`;
      });
    }
  }

  /** A state of the index is sent, or received whole. */
  snapshot(member: number, index: number, sum: number): void {
    const known = this.#snapshots.get(index);
    must(known === undefined || known === sum, "I20 a snapshot is the state at its index", () => {
      return `m${member} at ${index}`;
    });
    this.#snapshots.set(index, sum);
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one === other || Buffer.compare(one, other) === 0;
}
