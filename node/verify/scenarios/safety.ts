/**
 * The rules that must hold in a cluster after every event (Raft, Ongaro 2014 figure 3.2).
 *
 * Watches real cores over their disks. A term has one leader. Each member has one vote in a term, over all its starts.
 * Entries at the same index and term are equal. A leader has every committed entry, and a committed entry never
 * changes. A member applies only committed and stable entries. A read point covers everything that was committed before
 * the request. Throws a SafetyViolation that names the broken rule.
 */

import { type AppendEffect, entryIndex, entryTerm, entryType, isConfigurationType } from "../../src/raft/index.ts";
import type { Member } from "./member.ts";

/** A rule of the cluster as a whole is broken. */
export class SafetyViolation extends Error {
  readonly rule: string;

  constructor(rule: string, details: string) {
    super(`${rule}: ${details}`);
    this.name = "SafetyViolation";
    this.rule = rule;
  }
}

function must(condition: boolean, rule: string, details: () => string): void {
  if (!condition) {
    throw new SafetyViolation(rule, details());
  }
}

export class Safety {
  readonly #members: ReadonlyMap<number, Member>;
  /** Leader of each term. */
  readonly #leaders = new Map<number, number>();
  /** The durable vote of each member in each term. */
  readonly #votes = new Map<string, number>();
  /** The entry that was created at each (index, term). */
  readonly #rows = new Map<string, Uint8Array>();
  /** The committed log: the term of each entry. */
  readonly #committed = new Map<number, number>();
  #committedTo = 0;
  /** By member: the last index up to which its log was compared with the committed one. */
  readonly #compared = new Map<number, number>();
  readonly #terms = new Map<number, number>();
  readonly #commits = new Map<number, number>();
  /** Committed index when each read of each member was requested. */
  readonly #asked = new Map<string, number>();

  constructor(members: ReadonlyMap<number, Member>) {
    this.#members = members;
  }

  /** Highest index that any member has known as committed. */
  get committedTo(): number {
    return this.#committedTo;
  }

  /** How many terms have had a leader. */
  get leaders(): number {
    return this.#leaders.size;
  }

  /** The committed entries at the start. */
  found(rows: readonly Uint8Array[]): void {
    for (const row of rows) {
      this.#rows.set(`${entryIndex(row)}/${entryTerm(row)}`, row);
      this.#committed.set(entryIndex(row), entryTerm(row));
      this.#committedTo = entryIndex(row);
    }
  }

  /** A member writes these rows: all members have the same entry at an index and term. */
  wrote({ rows }: AppendEffect): void {
    for (const row of rows) {
      const key = `${entryIndex(row)}/${entryTerm(row)}`;
      const known = this.#rows.get(key) ?? row;
      must(sameRow(known, row), "one entry at an index in a term", () => key);
      this.#rows.set(key, known);
    }
  }

  /** The member restarts: term and commit index may have fallen to the values on its disk. */
  restarted(id: number): void {
    this.#terms.set(id, this.#member(id).disk.term);
    this.#commits.delete(id);
    this.#compared.delete(id);
  }

  /** The member has requested a read point. */
  asked(id: number, position: number): void {
    const { boot } = this.#member(id).disk;
    this.#asked.set(`${id} ${boot} ${position}`, this.#committedTo);
  }

  /** The member has received a read point. */
  answered(id: number, position: number, index: number): void {
    const { boot } = this.#member(id).disk;
    const asked = this.#asked.get(`${id} ${boot} ${position}`);
    must(asked !== undefined && index >= asked, "a read sees all that was committed before it was asked", () => {
      return `member ${id} read ${position} at ${index}, asked at ${asked}`;
    });
  }

  /** Checks everything that the event at this member may have changed. */
  check(id: number): void {
    const member = this.#member(id);
    this.#checkVote(member);
    if (member.core === null) {
      return;
    }
    this.#checkProgress(member);
    this.#checkCommitted(member);
    this.#checkPending(member);
    this.#checkLeader(member);
  }

  #member(id: number): Member {
    const member = this.#members.get(id);
    if (member === undefined) {
      throw new Error(`there is no member ${id}`);
    }
    return member;
  }

  #checkVote({ id, disk }: Member): void {
    if (disk.vote !== 0) {
      const key = `${id} ${disk.term}`;
      const vote = this.#votes.get(key) ?? disk.vote;
      must(vote === disk.vote, "one vote in a term", () => `member ${id}, term ${disk.term}: ${vote}, ${disk.vote}`);
      this.#votes.set(key, vote);
    }
  }

  #checkProgress({ id, disk, running, placed }: Member): void {
    const { term, commitIndex, stableIndex, appliedIndex, firstIndex, lastIndex } = running;
    must(term >= (this.#terms.get(id) ?? 0), "terms never fall", () => `member ${id}: ${term}`);
    must(commitIndex >= (this.#commits.get(id) ?? 0), "commit indexes never fall", () => `member ${id}`);
    must(appliedIndex <= commitIndex, "applied is committed", () => `member ${id}: ${appliedIndex} > ${commitIndex}`);
    must(appliedIndex <= stableIndex, "applied is stable", () => `member ${id}: ${appliedIndex} > ${stableIndex}`);
    // While a snapshot is placed, the log is ahead of the state that it replaces.
    must(
      placed !== null || firstIndex <= appliedIndex + 1,
      "the log reaches back to the state",
      () => `member ${id}: ${firstIndex}`,
    );
    must(commitIndex <= lastIndex, "committed is in the log", () => `member ${id}: ${commitIndex} > ${lastIndex}`);
    must(disk.applied === appliedIndex, "the state is where the core thinks", () => `member ${id}: ${disk.applied}`);
    this.#terms.set(id, term);
    this.#commits.set(id, commitIndex);
  }

  /** There is one committed log, and every member's committed entries are part of it. */
  #checkCommitted({ id, running }: Member): void {
    const { commitIndex, firstIndex } = running;
    const from = Math.max(firstIndex, (this.#compared.get(id) ?? 0) + 1);
    for (let index = from; index <= commitIndex; index++) {
      const term = running.entryTerm(index);
      const committed = this.#committed.get(index) ?? term;
      must(term === committed, "what is committed never changes", () => {
        return `member ${id}, index ${index}: term ${term}, not ${committed}`;
      });
      this.#committed.set(index, committed);
    }
    this.#compared.set(id, Math.max(commitIndex, this.#compared.get(id) ?? 0));
    this.#committedTo = Math.max(this.#committedTo, commitIndex);
  }

  /** A member that has a configuration change knows that all earlier ones are committed (P15, P16). */
  #checkPending({ id, running }: Member): void {
    const pending: number[] = [];
    for (let index = running.commitIndex + 1; index <= running.lastIndex; index++) {
      const row = this.#rows.get(`${index}/${running.entryTerm(index)}`);
      if (row !== undefined && isConfigurationType(entryType(row))) {
        pending.push(index);
      }
    }
    must(pending.length <= 1, "one change of the configuration is pending", () => `member ${id}: ${pending.join()}`);
  }

  #checkLeader({ id, running }: Member): void {
    if (running.role !== "leader") {
      return;
    }
    const leader = this.#leaders.get(running.term);
    if (leader === id) {
      return;
    }
    must(leader === undefined, "one leader in a term", () => `term ${running.term}: ${leader} and ${id}`);
    this.#leaders.set(running.term, id);
    // The log of every later leader contains the entries that were committed in earlier terms.
    for (const [index, term] of this.#committed) {
      if (index >= running.firstIndex && term < running.term) {
        const isHeld = index <= running.lastIndex && running.entryTerm(index) === term;
        must(isHeld, "a leader has all that is committed", () => `${id} in term ${running.term} lacks ${index}`);
      }
    }
  }

  /** Two logs with the same term at an index are equal up to it. Costly: for the end of a run, or small logs. */
  checkLogMatching(): void {
    const running = [...this.#members.values()].filter((member) => member.isUp);
    for (const [at, one] of running.entries()) {
      for (const other of running.slice(at + 1)) {
        this.#checkMatching(one, other);
      }
    }
  }

  #checkMatching(one: Member, other: Member): void {
    const first = Math.max(one.running.firstIndex, other.running.firstIndex);
    let isEqualAbove = false;
    for (let index = Math.min(one.running.lastIndex, other.running.lastIndex); index >= first; index--) {
      const isEqual = one.running.entryTerm(index) === other.running.entryTerm(index);
      must(isEqual || !isEqualAbove, "equal terms at an index mean equal logs up to it", () => {
        return `members ${one.id} and ${other.id}, index ${index}`;
      });
      isEqualAbove ||= isEqual;
    }
  }
}

function sameRow(one: Uint8Array, other: Uint8Array): boolean {
  if (one === other) {
    return true;
  }
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
