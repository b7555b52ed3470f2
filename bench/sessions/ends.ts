/** The ends of sessions: whether one came before its time, and how late the others are. */

import { percentile } from "../measuring/index.ts";

/** Sessions that are renewed in one call. */
export interface SessionGroup {
  readonly namespace: string;
  /** Those that live. */
  ids: readonly number[];
  /**
   * Until when they live for certain, in milliseconds of `performance.now()`: the time at which the last acknowledged
   * renewal was sent, and its time to live.
   */
  deadlineMs: number;
}

/** How late sessions ended, in milliseconds after their deadlines. */
export interface Lateness {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface End {
  readonly group: SessionGroup;
  readonly atMs: number;
  readonly lateMs: number;
}

export class Ends {
  readonly #groups = new Map<string, SessionGroup>();
  readonly #ends = new Map<string, End>();
  readonly #early = new Set<string>();

  /** A session of the group exists. */
  add(group: SessionGroup, id: number): void {
    this.#groups.set(keyOf(id), group);
  }

  /** Sessions that ended before their deadline. */
  get early(): number {
    return this.#early.size;
  }

  /** The key of a session is gone; ids of sessions are unique in a cluster. */
  onKeyGone(key: string, atMs: number): void {
    const group = this.#groups.get(key);
    if (group === undefined || this.#ends.has(key)) {
      throw new Error(`the end of ${key} is not that of one session`);
    }
    this.#ends.set(key, { group, atMs, lateMs: atMs - group.deadlineMs });
    this.#noteEarly(key, group, atMs);
  }

  /** A renewal was answered: there is no such session. */
  onNotRenewed(id: number, atMs: number): void {
    const group = this.#groups.get(keyOf(id));
    if (group !== undefined) {
      this.#noteEarly(keyOf(id), group, atMs);
    }
  }

  /** Number of sessions of these groups whose ends were not seen yet. */
  leftOf(groups: ReadonlySet<SessionGroup>): number {
    let left = 0;
    for (const [key, group] of this.#groups) {
      left += groups.has(group) && !this.#ends.has(key) ? 1 : 0;
    }
    return left;
  }

  /** When the last of these groups' ends was seen; 0 = none was. */
  lastMs(groups: ReadonlySet<SessionGroup>): number {
    return this.#endsOf(groups).reduce((last, { atMs }) => Math.max(last, atMs), 0);
  }

  latenessOf(groups: ReadonlySet<SessionGroup>): Lateness {
    const ascending = Float64Array.from(this.#endsOf(groups), ({ lateMs }) => lateMs).sort();
    return {
      count: ascending.length,
      p50Ms: percentile(ascending, 50),
      p99Ms: percentile(ascending, 99),
      maxMs: percentile(ascending, 100),
    };
  }

  #endsOf(groups: ReadonlySet<SessionGroup>): readonly End[] {
    return [...this.#ends.values()].filter(({ group }) => groups.has(group));
  }

  #noteEarly(key: string, { deadlineMs }: SessionGroup, atMs: number): void {
    if (atMs < deadlineMs) {
      this.#early.add(key);
    }
  }
}

/** The key of a session. */
export function keyOf(id: number): string {
  return `of-${id}`;
}
