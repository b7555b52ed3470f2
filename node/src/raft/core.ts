/**
 * The consensus core: a synchronous function of its inputs.
 *
 * The driver calls one input at a time (`tick`, `propose`, `readIndex`, `onAppendDurable`, `onApplied`, …) and then
 * `drain`, which alone shows effects: what to write, what to apply, which reads are confirmed, which role changed.
 * Inputs never re-enter and send nothing; the same inputs give the same effects. Storage is always asynchronous: a
 * write is handed out with a sequence number and counts only when `onAppendDurable` says so.
 *
 * The contract of the driver: consume the effects of a drain wholly before the next input; hand one append at a time
 * to storage and drain with `writerIdle` false until it is durable; apply entries in order and report each slice; end
 * the process when anything here throws. Covers configurations of one voter; Raft (Ongaro 2014) §3.
 */

import { type Configuration, type ConfigurationChange, changeConfiguration } from "./configuration.ts";
import { type Checksum, EntryType, encodeEntry, entryType, NO_ENVELOPE, sealEntry } from "./entry.ts";
import { type LogBounds, type LogReader, RaftLog } from "./log.ts";
import { mark } from "./mark.ts";
import { majorityReached } from "./quorum.ts";
import { Reads } from "./reads.ts";
import { invariant, safeCount } from "./violation.ts";

export type Role = "follower" | "candidate" | "leader";

/** Why a proposal was refused. A refused proposal appended nothing. */
export type Refusal = "not-leader" | "overloaded";

export interface CoreLimits {
  /** Election timeout, drawn anew from [min, max) ticks at every change of role or term (P36). */
  readonly electionTicksMin: number;
  readonly electionTicksMax: number;
  /** Bytes of entries appended but not committed, above which proposals are refused; a larger one alone passes. */
  readonly uncommittedBytesMax: number;
  /** Committed but unapplied entries, by count and bytes, above which proposals are refused. */
  readonly unappliedEntriesMax: number;
  readonly unappliedBytesMax: number;
  /** Bytes of stable entries that stay in memory. */
  readonly tailBytesMax: number;
  /** Read positions that wait for confirmation; one more loses all of them. */
  readonly readsMax: number;
}

export const DEFAULT_CORE_LIMITS: CoreLimits = {
  electionTicksMin: 20,
  electionTicksMax: 40,
  uncommittedBytesMax: 64 * 1024 * 1024,
  unappliedEntriesMax: 5_000,
  unappliedBytesMax: 64 * 1024 * 1024,
  tailBytesMax: 64 * 1024 * 1024,
  readsMax: 10_000,
};

export interface CoreOptions {
  /** This member's id: the index of the entry that added it. */
  readonly id: number;
  /** Restored hard state: the highest term seen, the vote in it (0 = none), and an index known to be committed. */
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
  readonly log: LogBounds;
  /** The configuration as of `applied`. */
  readonly configuration: Configuration;
  readonly applied: number;
  /** The number of the last write of this data directory; the next one gets a greater one. */
  readonly writeSeq: number;
  readonly limits: CoreLimits;
  /** A whole number in [0, bound); seeded by member and boot, so that members never time out in step. */
  readonly random: (bound: number) => number;
  readonly reader: LogReader;
  readonly checksum: Checksum;
}

/** One synced write: the whole hard state and every row that was not written before. */
export interface AppendEffect {
  readonly writeSeq: number;
  readonly term: number;
  readonly vote: number;
  /** min(commit, last): holders of a configuration entry thereby know all earlier ones as committed (P15). */
  readonly commit: number;
  /** Index of the first row; last + 1 when there are none. */
  readonly from: number;
  readonly rows: readonly Uint8Array[];
}

/** Filled by `drain`; consumed wholly before the next input. One object, reused. */
export interface Effects {
  append: AppendEffect | null;
  /** Entries that may be applied now, in addition to those of earlier drains. */
  apply: { readonly from: number; readonly to: number } | null;
  /** Confirmed reads, up to and including this position: serve them once `index` is applied. */
  reads: { readonly position: number; readonly index: number } | null;
  /** Positions up to and including this one will never be confirmed; 0 = none. */
  readsLostUpTo: number;
  role: { readonly role: Role; readonly term: number; readonly leader: number } | null;
}

export class RaftCore {
  readonly #id: number;
  readonly #limits: CoreLimits;
  readonly #random: (bound: number) => number;
  readonly #checksum: Checksum;
  readonly #log: RaftLog;
  readonly #reads: Reads;

  #term: number;
  #vote: number;
  #role: Role = "follower";
  #leader = 0;
  #configuration: Configuration;
  #mayVote = false;
  #mayLead = false;

  #commit: number;
  #applied: number;
  /** Highest index handed out for applying. */
  #handedOut: number;
  #uncommittedBytes = 0;
  #unappliedBytes = 0;
  /** Index of the empty entry of this term of leadership; 0 when not leading. */
  #termStart = 0;

  #writeSeq: number;
  #writeInFlight = 0;
  #hardStateDirty = false;
  /** The write that carries the vote for oneself in the present term; the vote counts once it is durable (P4, P54). */
  #selfVoteSeq = 0;

  #electionElapsed = 0;
  #electionTimeout: number;
  #roleChanged = true;
  readonly #effects: Effects = { append: null, apply: null, reads: null, readsLostUpTo: 0, role: null };

  constructor(options: CoreOptions) {
    this.#id = safeCount(options.id, "member id");
    this.#limits = options.limits;
    this.#random = options.random;
    this.#checksum = options.checksum;
    this.#log = new RaftLog(options.log, options.reader, options.limits.tailBytesMax);
    this.#reads = new Reads(options.limits.readsMax);
    this.#term = safeCount(options.term, "term");
    this.#vote = safeCount(options.vote, "vote");
    this.#commit = safeCount(options.commit, "commit");
    this.#applied = safeCount(options.applied, "applied");
    this.#handedOut = options.applied;
    this.#configuration = options.configuration;
    this.#writeSeq = safeCount(options.writeSeq, "writeSeq");
    this.#electionTimeout = this.#drawElectionTimeout();
    invariant(this.#id >= 1, "members have an id");
    invariant(options.applied <= options.commit, "only committed entries are applied", () => {
      return `applied ${options.applied}, commit ${options.commit}`;
    });
    invariant(options.applied >= options.log.first - 1, "the log holds what is not applied", () => {
      return `applied ${options.applied}, first ${options.log.first}`;
    });
    invariant(options.commit <= options.log.last, "the log holds what is committed", () => {
      return `commit ${options.commit}, last ${options.log.last}`;
    });
    invariant(options.log.lastTerm <= options.term, "no entry is newer than the own term", () => {
      return `last term ${options.log.lastTerm}, term ${options.term}`;
    });
  }

  get term(): number {
    return this.#term;
  }

  get role(): Role {
    return this.#role;
  }

  /** Id of the leader of the present term, 0 if unknown. */
  get leader(): number {
    return this.#leader;
  }

  get commitIndex(): number {
    return this.#commit;
  }

  get appliedIndex(): number {
    return this.#applied;
  }

  get firstIndex(): number {
    return this.#log.firstIndex;
  }

  get lastIndex(): number {
    return this.#log.lastIndex;
  }

  get stableIndex(): number {
    return this.#log.stableIndex;
  }

  get configuration(): Configuration {
    return this.#configuration;
  }

  /** Whether this member leads and has committed an entry of its term, so that it answers reads (P6, P7). */
  get isSettledLeader(): boolean {
    return this.#role === "leader" && this.#commit >= this.#termStart;
  }

  /** Rows of from..to for applying, fewer if more than maxBytes, at least one. */
  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    invariant(to <= this.#handedOut, "only entries handed out are applied", () => `${to} > ${this.#handedOut}`);
    return this.#log.entries(from, to, maxBytes);
  }

  /** The term of an entry that the log holds, or of the one before its first. */
  entryTerm(index: number): number {
    return this.#log.term(index);
  }

  /** One tick passed. */
  tick(): void {
    if (this.#role === "leader") {
      return;
    }
    this.#electionElapsed++;
    if (this.#electionElapsed >= this.#electionTimeout) {
      this.campaign();
    }
  }

  /**
   * Whether the member may vote and lead: false while its data or its disk is in doubt. A leader that may no longer
   * lead steps down; a candidate that may no longer do both gives up, also if its own vote is on its way to the disk.
   */
  setFitness(fitness: { readonly mayVote: boolean; readonly mayLead: boolean }): void {
    this.#mayVote = fitness.mayVote;
    this.#mayLead = fitness.mayLead;
    const mayStay = fitness.mayLead && (this.#role === "leader" || fitness.mayVote);
    if (this.#role !== "follower" && !mayStay) {
      this.#become("follower", 0);
    }
  }

  /** Starts an election now unless this member may not be elected; returns whether it did. */
  campaign(): boolean {
    this.#resetElectionTimer();
    if (this.#role === "leader" || !this.#mayLead || !this.#mayVote) {
      return false;
    }
    if (this.#role === "candidate") {
      // The own vote is on its way to the disk. A new term would need a new one: on a slow disk, for ever.
      return false;
    }
    if (!this.#configuration.voters.includes(this.#id)) {
      return false;
    }
    // A committed change that is not applied yet may have taken the vote away (P15).
    if (this.#log.someType(this.#applied + 1, this.#commit, (type) => type === EntryType.Bootstrap)) {
      mark("raft.campaign.unapplied-configuration");
      return false;
    }
    this.#term = safeCount(this.#term + 1, "term");
    this.#vote = this.#id;
    this.#hardStateDirty = true;
    this.#selfVoteSeq = 0;
    this.#become("candidate", 0);
    mark("raft.campaign");
    return true;
  }

  /**
   * Appends unsealed rows of commands, all or none, and returns where they will stand; or why not.
   * The rows are sealed in place with term and index.
   */
  propose(rows: readonly Uint8Array[]): { readonly term: number; readonly firstIndex: number } | Refusal {
    invariant(rows.length > 0, "a proposal has entries");
    if (this.#role !== "leader") {
      return "not-leader";
    }
    const unapplied = this.#commit - this.#applied;
    let bytes = 0;
    for (const row of rows) {
      invariant(entryType(row) === EntryType.Command, "only commands are proposed");
      bytes += row.length;
    }
    const uncommittedFull =
      this.#uncommittedBytes > 0 && this.#uncommittedBytes + bytes > this.#limits.uncommittedBytesMax;
    const applyBehind =
      unapplied > this.#limits.unappliedEntriesMax || this.#unappliedBytes > this.#limits.unappliedBytesMax;
    if (uncommittedFull || applyBehind) {
      mark("raft.propose.overloaded");
      return "overloaded";
    }
    const firstIndex = this.#log.lastIndex + 1;
    for (const row of rows) {
      this.#append(row);
    }
    return { term: this.#term, firstIndex };
  }

  /** Asks for a linearizable read point; the answer comes as an effect with this position. Positions only grow. */
  readIndex(): number {
    if (this.#role !== "leader") {
      return this.#reads.refuse();
    }
    return this.#reads.ask(this.#commit);
  }

  /** The write with this number and the fence record that follows it are durable. */
  onAppendDurable(writeSeq: number): void {
    invariant(writeSeq === this.#writeInFlight && writeSeq > 0, "writes become durable one by one, in order", () => {
      return `${writeSeq}, in flight ${this.#writeInFlight}`;
    });
    this.#writeInFlight = 0;
    this.#log.flushed(writeSeq);
    if (this.#role === "candidate" && this.#selfVoteSeq !== 0 && this.#selfVoteSeq <= writeSeq) {
      this.#becomeLeaderIfElected();
    }
    this.#advanceCommit();
  }

  /** The configuration entry at the index is being applied; returns the configuration to store with it. */
  applyConfiguration(index: number, change: ConfigurationChange): Configuration {
    invariant(index > this.#applied && index <= this.#handedOut, "configurations apply in order, once", () => {
      return `${index}, applied ${this.#applied}, handed out ${this.#handedOut}`;
    });
    this.#configuration = changeConfiguration(this.#configuration, index, change);
    this.#roleChanged = true;
    return this.#configuration;
  }

  /** Entries up to the index are applied; `bytes` is the size of their rows. */
  onApplied(index: number, bytes: number): void {
    invariant(index > this.#applied && index <= this.#handedOut, "entries are applied in order, once", () => {
      return `${index}, applied ${this.#applied}, handed out ${this.#handedOut}`;
    });
    this.#applied = index;
    // Entries restored at start were never counted in, so the count is kept from falling below what is certain.
    this.#unappliedBytes = index === this.#commit ? 0 : Math.max(0, this.#unappliedBytes - bytes);
    this.#log.release(index);
  }

  /** The store dropped entries below `first`. */
  onCompacted(first: number, prevTerm: number): void {
    invariant(first <= this.#applied + 1, "only applied entries are dropped", () => `${first}`);
    this.#log.compacted(first, prevTerm);
  }

  /** Collects the effects of all inputs since the last call. An append is handed out only if the writer is idle. */
  drain(writerIdle: boolean): Effects {
    const effects = this.#effects;
    effects.append = null;
    if (writerIdle && (this.#hardStateDirty || this.#log.hasUnwritten)) {
      invariant(this.#writeInFlight === 0, "one write is in flight at a time");
      this.#writeSeq = safeCount(this.#writeSeq + 1, "writeSeq");
      this.#writeInFlight = this.#writeSeq;
      const rows = this.#log.takeUnwritten(this.#writeSeq);
      effects.append = {
        writeSeq: this.#writeSeq,
        term: this.#term,
        vote: this.#vote,
        commit: Math.min(this.#commit, this.#log.lastIndex),
        from: this.#log.lastIndex - rows.length + 1,
        rows,
      };
      this.#hardStateDirty = false;
      if (this.#role === "candidate" && this.#selfVoteSeq === 0) {
        this.#selfVoteSeq = this.#writeSeq;
      }
    }

    // Only what is both committed and on the own disk (P43).
    const ready = Math.min(this.#commit, this.#log.stableIndex);
    effects.apply = ready > this.#handedOut ? { from: this.#handedOut + 1, to: ready } : null;
    this.#handedOut = Math.max(this.#handedOut, ready);

    effects.reads = this.isSettledLeader ? this.#reads.confirmAll(this.#commit, this.#termStart) : null;
    effects.readsLostUpTo = this.#reads.takeLost();

    effects.role = this.#roleChanged ? { role: this.#role, term: this.#term, leader: this.#leader } : null;
    this.#roleChanged = false;
    return effects;
  }

  #append(row: Uint8Array): void {
    sealEntry(row, this.#term, this.#log.lastIndex + 1, this.#checksum);
    this.#log.append(row);
    this.#uncommittedBytes += row.length;
  }

  #becomeLeaderIfElected(): void {
    const elected = majorityReached(this.#configuration.voters, (voter) => (voter === this.#id ? 1 : 0)) === 1;
    if (!elected) {
      return;
    }
    this.#become("leader", this.#id);
    // An entry of the own term must commit before anything older is known to be committed (P5, P6).
    this.#append(encodeEntry(EntryType.Empty, NO_ENVELOPE, new Uint8Array(0)));
    this.#termStart = this.#log.lastIndex;
    mark("raft.elected");
  }

  #advanceCommit(): void {
    if (this.#role !== "leader") {
      return;
    }
    // The own match is the highest stable index, never the highest appended one (P4).
    const reached = majorityReached(this.#configuration.voters, (voter) => {
      return voter === this.#id ? this.#log.stableIndex : 0;
    });
    if (reached <= this.#commit || this.#log.term(reached) !== this.#term) {
      return;
    }
    const bytes = this.#log.bytesInMemory(this.#commit + 1, reached);
    this.#uncommittedBytes = Math.max(0, this.#uncommittedBytes - bytes);
    this.#unappliedBytes += bytes;
    this.#commit = reached;
  }

  #become(role: Role, leader: number): void {
    if (this.#role === "leader") {
      this.#reads.loseAll();
      this.#uncommittedBytes = 0;
    }
    this.#role = role;
    this.#leader = leader;
    this.#termStart = 0;
    this.#roleChanged = true;
    this.#resetElectionTimer();
  }

  #resetElectionTimer(): void {
    this.#electionElapsed = 0;
    this.#electionTimeout = this.#drawElectionTimeout();
  }

  #drawElectionTimeout(): number {
    const { electionTicksMin, electionTicksMax } = this.#limits;
    return electionTicksMin + this.#random(electionTicksMax - electionTicksMin);
  }
}
