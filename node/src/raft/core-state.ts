/**
 * The state of a consensus core that every role needs: log, term, vote, configuration, commit index and applied index.
 *
 * Only the parts of the core share it. `Leadership` keeps what only a leader needs, and ends with its term.
 */

import { invariant, safeCount } from "../primitives/index.ts";
import type { Configuration } from "./configuration.ts";
import { type Checksum, EntryType, sealEntry } from "./entry.ts";
import type { CoreLimits } from "./limits.ts";
import type { RaftLog } from "./log.ts";
import type { Message } from "./message.ts";
import type { Reads } from "./reads.ts";
import type { Writes } from "./writes.ts";

export class CoreState {
  readonly id: number;
  readonly boot: number;
  readonly limits: CoreLimits;
  readonly log: RaftLog;
  readonly reads: Reads;
  readonly writes: Writes;
  readonly #checksum: Checksum;
  #term: number;
  #vote: number;
  #commit: number;
  /**
   * The write that makes a committed configuration change durable, and the commit index before that change; 0 = none.
   */
  #changeSeq = 0;
  #commitBefore = 0;
  configuration: Configuration;
  /** Highest index whose effects are in the state. */
  applied: number;
  /**
   * Bytes of entries that are committed but not applied. Does not count entries that were already committed at the
   * start.
   */
  unappliedBytes = 0;
  /** Ticks since the start. */
  tick = 0;
  /** Peers that announced the loss of acknowledged data and have not announced its recovery yet (P46). */
  readonly damagedPeers = new Set<number>();
  /** Messages that the next drain hands out. */
  outbox: Message[] = [];

  constructor(options: {
    readonly id: number;
    readonly boot: number;
    readonly limits: CoreLimits;
    readonly log: RaftLog;
    readonly reads: Reads;
    readonly writes: Writes;
    readonly checksum: Checksum;
    readonly term: number;
    readonly vote: number;
    readonly configuration: Configuration;
    readonly commit: number;
    readonly applied: number;
  }) {
    this.id = safeCount(options.id, "member id");
    this.boot = safeCount(options.boot, "boot");
    this.limits = options.limits;
    this.log = options.log;
    this.reads = options.reads;
    this.writes = options.writes;
    this.#checksum = options.checksum;
    this.#term = safeCount(options.term, "term");
    this.#vote = safeCount(options.vote, "vote");
    this.configuration = options.configuration;
    this.#commit = safeCount(options.commit, "commit");
    this.applied = safeCount(options.applied, "applied");
  }

  /** The highest term that this member has seen. */
  get term(): number {
    return this.#term;
  }

  /** The member that received this member's vote in the current term, 0 = none. */
  get vote(): number {
    return this.#vote;
  }

  /** Highest index known to be committed. */
  get commit(): number {
    return this.#commit;
  }

  /**
   * The commit index, or an earlier one while a power cut could make this member forget a committed configuration
   * change. A member that the change removed may still be needed for an election. It is needed until a majority of the
   * others durably knows that the change is committed (P18).
   */
  get durableCommit(): number {
    return this.#changeSeq === 0 ? this.#commit : this.#commitBefore;
  }

  /** Enters a newer term, in which this member has not voted yet. */
  enterTerm(term: number): void {
    invariant(term > this.#term, "terms never fall", () => `${term} after ${this.#term}`);
    this.#term = safeCount(term, "term");
    this.#vote = 0;
    this.writes.markDirty();
  }

  /** Gives this member's only vote of the current term; repeating the same vote changes nothing. */
  voteFor(id: number): void {
    invariant(this.#vote === 0 || this.#vote === id, "one vote in a term", () => {
      return `term ${this.#term}: ${this.#vote}, then ${id}`;
    });
    if (this.#vote !== id) {
      this.#vote = id;
      this.writes.markDirty();
    }
  }

  /** Sends the message with the next drain. */
  send(message: Message): void {
    this.outbox.push(message);
  }

  /** Sends the message once every change made so far is durable. */
  defer(message: Message): void {
    if (!this.writes.defer(message, this.log.hasUnwritten)) {
      this.send(message);
    }
  }

  /** Seals the row as the next entry of the current term. */
  append(row: Uint8Array): void {
    sealEntry(row, this.#term, this.log.lastIndex + 1, this.#checksum);
    this.log.append(row);
  }

  /** Marks everything up to the index as committed. */
  commitTo(index: number): void {
    if (index > this.#commit) {
      invariant(index <= this.log.lastIndex, "what is committed is in the log", () => {
        return `${index}, last ${this.log.lastIndex}`;
      });
      this.unappliedBytes += this.log.bytesInMemory(this.#commit + 1, index);
      if (this.log.someType(this.#commit + 1, index, mayRemoveVoters)) {
        this.#commitBefore = this.durableCommit;
        this.writes.markDirty();
        this.#changeSeq = this.writes.nextSeq;
      }
      this.#commit = index;
    }
  }

  /**
   * The write with this number is durable, and so is the commit index that it carries. Returns whether this makes a
   * committed configuration change durable.
   */
  onDurable(writeSeq: number): boolean {
    const isChangeDurable = this.#changeSeq !== 0 && writeSeq >= this.#changeSeq;
    if (isChangeDurable) {
      this.#changeSeq = 0;
    }
    return isChangeDurable;
  }

  /** Restarts the log after this entry. A snapshot that contains the entry's effects replaces this member's state. */
  resetLog(index: number, term: number): void {
    invariant(index > this.#commit, "a snapshot only moves forward", () => `${index}, commit ${this.#commit}`);
    this.log.reset(index, term);
    this.#commit = index;
    this.#changeSeq = 0;
  }

  /** Whether the log contains this entry, or begins right after it. */
  containsEntry(index: number, term: number): boolean {
    return index >= this.log.firstIndex - 1 && index <= this.log.lastIndex && this.log.term(index) === term;
  }

  /** Other members that vote in one of the majorities. */
  get otherVoters(): number[] {
    const { voters, outgoing } = this.configuration;
    return [...new Set([...voters, ...outgoing])].filter((id) => id !== this.id);
  }
}

function mayRemoveVoters(type: number): boolean {
  return type === EntryType.Reconfigure || type === EntryType.Leave;
}
