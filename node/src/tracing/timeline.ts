/**
 * When this member has taken the steps of its last log entries: appended, written, acknowledged, committed, applied.
 *
 * The driver notes each step once for all entries that it concerns, whether a trace will need it or not. So the spans of
 * any recent entry can be made afterwards, at every member, and an entry costs nothing by itself. All times are of the
 * monotonic clock, in milliseconds. The timeline changes nothing and is not needed for anything else.
 */

import { IndexRing } from "./index-ring.ts";

/** Steps to remember; at 2,000 turns per second this is 8 s. */
const ROWS = 16_384;
/** Members whose acknowledgements are remembered. Over the years a cluster may have many, each with an id of its own. */
const MEMBERS_MAX = 16;

/** Columns. */
const AT = 0;
const APPENDED = { at: 0, arrived: 1, source: 2, term: 3 } as const;
const WRITTEN = { begun: 0, durable: 1, writeMs: 2 } as const;
const RECEIVED = { at: 0, source: 1 } as const;

/** The append of an entry to the leader's log. */
export interface AppendTimes {
  readonly atMs: number;
  /** When the proposal arrived from the member that forwarded it; the same time for a proposal of this member. */
  readonly arrivedMs: number;
  /** Member that forwarded it; 0 = this member got the call itself. */
  readonly source: number;
  readonly term: number;
}

/** The write of a group of entries to the log of this member. */
export interface WriteTimes {
  readonly first: number;
  readonly last: number;
  readonly begunMs: number;
  /** 0 = not durable yet. */
  readonly durableMs: number;
  /** The part of it in the log thread. */
  readonly writeMs: number;
}

export class Timeline {
  readonly #appended = new IndexRing(ROWS, Object.keys(APPENDED).length);
  readonly #written = new IndexRing(ROWS, Object.keys(WRITTEN).length);
  readonly #received = new IndexRing(ROWS, Object.keys(RECEIVED).length);
  readonly #committed = new IndexRing(ROWS, 1);
  readonly #applicable = new IndexRing(ROWS, 1);
  readonly #applied = new IndexRing(ROWS, 1);
  readonly #acknowledged = new Map<number, IndexRing>();

  // ---- The driver notes ----

  /** This leader of the term has appended `count` proposals that member `source` has forwarded; 0 = its own. */
  onAppended(first: number, count: number, source: number, term: number, arrivedMs: number, atMs: number): void {
    this.#appended.add(first, first + count - 1);
    this.#appended.set(APPENDED.at, atMs);
    this.#appended.set(APPENDED.arrived, source === 0 ? atMs : arrivedMs);
    this.#appended.set(APPENDED.source, source);
    this.#appended.set(APPENDED.term, term);
  }

  /** A write of `count` entries to the log begins. Only one is in progress at a time. */
  onWriteBegun(first: number, count: number, atMs: number): void {
    if (count > 0) {
      this.#written.add(first, first + count - 1);
      this.#written.set(WRITTEN.begun, atMs);
    }
  }

  /** The write of `count` entries is durable. */
  onWritten(count: number, atMs: number, writeMs: number): void {
    if (count > 0) {
      this.#written.set(WRITTEN.durable, atMs);
      this.#written.set(WRITTEN.writeMs, writeMs);
    }
  }

  /** The leader `source` has sent `count` entries. */
  onReceived(first: number, count: number, source: number, atMs: number): void {
    if (count > 0) {
      this.#received.add(first, first + count - 1);
      this.#received.set(RECEIVED.at, atMs);
      this.#received.set(RECEIVED.source, source);
    }
  }

  /** A member has acknowledged all entries up to the index. */
  onAcknowledged(member: number, index: number, atMs: number): void {
    let acknowledged = this.#acknowledged.get(member);
    if (acknowledged === undefined) {
      acknowledged = new IndexRing(ROWS, 1);
      if (this.#acknowledged.size >= MEMBERS_MAX) {
        const [oldest] = this.#acknowledged.keys();
        this.#acknowledged.delete(oldest as number);
      }
      this.#acknowledged.set(member, acknowledged);
    }
    advance(acknowledged, index, atMs);
  }

  /** All entries up to the index are committed. */
  onCommitted(index: number, atMs: number): void {
    advance(this.#committed, index, atMs);
  }

  /** This member may apply all entries up to the index. */
  onApplicable(index: number, atMs: number): void {
    advance(this.#applicable, index, atMs);
  }

  /** This member has applied all entries up to the index. */
  onApplied(index: number, atMs: number): void {
    advance(this.#applied, index, atMs);
  }

  // ---- Traces ask; null and 0 = not known, not yet or not any more ----

  appended(index: number): AppendTimes | null {
    const at = this.#appended.find(index);
    return at === -1
      ? null
      : {
          atMs: this.#appended.get(at, APPENDED.at),
          arrivedMs: this.#appended.get(at, APPENDED.arrived),
          source: this.#appended.get(at, APPENDED.source),
          term: this.#appended.get(at, APPENDED.term),
        };
  }

  written(index: number): WriteTimes | null {
    const at = this.#written.find(index);
    return at === -1
      ? null
      : {
          first: this.#written.firstOf(at),
          last: this.#written.lastOf(at),
          begunMs: this.#written.get(at, WRITTEN.begun),
          durableMs: this.#written.get(at, WRITTEN.durable),
          writeMs: this.#written.get(at, WRITTEN.writeMs),
        };
  }

  received(index: number): { readonly atMs: number; readonly source: number } | null {
    const at = this.#received.find(index);
    return at === -1
      ? null
      : { atMs: this.#received.get(at, RECEIVED.at), source: this.#received.get(at, RECEIVED.source) };
  }

  /** When each member has acknowledged the entry, as far as it has. */
  acknowledgedMs(index: number): readonly (readonly [member: number, atMs: number])[] {
    return [...this.#acknowledged].flatMap(([member, ring]) => {
      const atMs = timeOf(ring, index);
      return atMs === 0 ? [] : [[member, atMs] as const];
    });
  }

  committedMs(index: number): number {
    return timeOf(this.#committed, index);
  }

  applicableMs(index: number): number {
    return timeOf(this.#applicable, index);
  }

  appliedMs(index: number): number {
    return timeOf(this.#applied, index);
  }
}

function advance(ring: IndexRing, index: number, atMs: number): void {
  if (index > ring.last) {
    ring.advance(index);
    ring.set(AT, atMs);
  }
}

function timeOf(ring: IndexRing, index: number): number {
  const at = ring.find(index);
  return at === -1 ? 0 : ring.get(at, AT);
}
