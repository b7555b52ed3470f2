/**
 * What a consensus core knows in whatever role: the log, term and vote, the configuration, and how far it has come.
 *
 * Shared by the parts of the core and by nobody else. What only a leader has is in `Leadership`, which ends with the
 * term that it leads.
 */

import type { Configuration } from "./configuration.ts";
import { type Checksum, EntryType, sealEntry } from "./entry.ts";
import type { CoreLimits } from "./limits.ts";
import type { RaftLog } from "./log.ts";
import type { Message } from "./message.ts";
import type { Reads } from "./reads.ts";
import { invariant, safeCount } from "./violation.ts";
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
  /** The write that makes the commit of a change of the configuration durable, and the commit index before; 0 = none. */
  #changeSeq = 0;
  #commitBefore = 0;
  configuration: Configuration;
  /** Highest index whose effects are in the state. */
  applied: number;
  /** Bytes of entries that are committed and not applied; those that a start found so are not counted. */
  unappliedBytes = 0;
  /** Ticks since the start. */
  tick = 0;
  /** Peers that have announced that they lost acknowledged data, and not yet that they have it again (P46). */
  readonly damagedPeers = new Set<number>();
  /** Messages that leave with the next drain. */
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

  /** The highest term that was seen. */
  get term(): number {
    return this.#term;
  }

  /** Who has this member's vote in the present term, 0 = nobody. */
  get vote(): number {
    return this.#vote;
  }

  /** Highest index known to be committed. */
  get commit(): number {
    return this.#commit;
  }

  /**
   * The commit index, or an earlier one as long as a power cut could make this member forget that a change of the
   * configuration is committed. Whoever that change has removed may be needed for an election until a majority of the
   * others knows it for good (P18).
   */
  get lastingCommit(): number {
    return this.#changeSeq === 0 ? this.#commit : this.#commitBefore;
  }

  /** A newer term begins, in which nobody has this member's vote yet. */
  enterTerm(term: number): void {
    invariant(term > this.#term, "terms never fall", () => `${term} after ${this.#term}`);
    this.#term = safeCount(term, "term");
    this.#vote = 0;
    this.writes.markDirty();
  }

  /** The one vote of this term goes to this member; a repeated one changes nothing. */
  voteFor(id: number): void {
    invariant(this.#vote === 0 || this.#vote === id, "one vote in a term", () => {
      return `term ${this.#term}: ${this.#vote}, then ${id}`;
    });
    if (this.#vote !== id) {
      this.#vote = id;
      this.writes.markDirty();
    }
  }

  /** To leave with the next drain. */
  send(message: Message): void {
    this.outbox.push(message);
  }

  /** To leave once every change made so far is durable. */
  defer(message: Message): void {
    if (!this.writes.defer(message, this.log.hasUnwritten)) {
      this.send(message);
    }
  }

  /** Seals the row as the next entry of the present term. */
  append(row: Uint8Array): void {
    sealEntry(row, this.#term, this.log.lastIndex + 1, this.#checksum);
    this.log.append(row);
  }

  /** Everything up to the index is committed. */
  commitTo(index: number): void {
    if (index > this.#commit) {
      invariant(index <= this.log.lastIndex, "what is committed is in the log", () => {
        return `${index}, last ${this.log.lastIndex}`;
      });
      this.unappliedBytes += this.log.bytesInMemory(this.#commit + 1, index);
      if (this.log.someType(this.#commit + 1, index, mayRemoveVoters)) {
        this.#commitBefore = this.lastingCommit;
        this.writes.markDirty();
        this.#changeSeq = this.writes.nextSeq;
      }
      this.#commit = index;
    }
  }

  /**
   * The write with this number is durable, and with it the commit index that it carries. Returns whether that makes the
   * commit of a change of the configuration last.
   */
  onDurable(writeSeq: number): boolean {
    const isLasting = this.#changeSeq !== 0 && writeSeq >= this.#changeSeq;
    if (isLasting) {
      this.#changeSeq = 0;
    }
    return isLasting;
  }

  /** The log begins anew after this entry, whose effects are in a state that replaces the own one. */
  resetLog(index: number, term: number): void {
    invariant(index > this.#commit, "a snapshot only moves forward", () => `${index}, commit ${this.#commit}`);
    this.log.reset(index, term);
    this.#commit = index;
    this.#changeSeq = 0;
  }

  /** Whether the log holds this entry, or begins right after it. */
  holds(index: number, term: number): boolean {
    return index >= this.log.firstIndex - 1 && index <= this.log.lastIndex && this.log.term(index) === term;
  }

  /** Others that vote in one of the majorities. */
  get otherVoters(): number[] {
    const { voters, outgoing } = this.configuration;
    return [...new Set([...voters, ...outgoing])].filter((id) => id !== this.id);
  }
}

function mayRemoveVoters(type: number): boolean {
  return type === EntryType.Reconfigure || type === EntryType.Leave;
}
