/**
 * The consensus core: a synchronous function of its inputs (Raft, Ongaro 2014).
 *
 * The driver calls one input at a time (`step`, `tick`, `propose`, `readIndex`, `onAppendDurable`, `onApplied`, …) and
 * then `drain`. Only `drain` returns effects: messages to send, data to write, entries to apply, confirmed reads, a new
 * role. Inputs never re-enter and send nothing; the same inputs give the same effects. Storage is always asynchronous:
 * the core hands out a write with a sequence number, and counts it only after `onAppendDurable`.
 *
 * The driver must keep this contract: consume all effects of a drain before the next input; hand one append at a time
 * to storage, and drain with `writerIdle` false until it is durable; apply entries in order and report each slice; end
 * the process when anything here throws.
 *
 * Which messages wait for a write: answers to Vote and Append, granted or refused, wait for the write that contains
 * every earlier change of term, vote and log (P1, P2). A Vote waits for the write of its own term and self-vote (P54).
 * A member's own vote and own match count only when durable (P4). Everything else leaves at once, so the leader and its
 * followers write at the same time.
 */

import { invariant, mark } from "../primitives/index.ts";
import {
  type ChangeRefusal,
  type Configuration,
  type ConfigurationChange,
  changeConfiguration,
  isJoint,
} from "./configuration.ts";
import { CoreState } from "./core-state.ts";
import { Election, type Eligibility, type Role } from "./election.ts";
import type { Checksum } from "./entry.ts";
import { Follower } from "./follower.ts";
import { Install, type LogReset, type OfferVerdict, type SnapshotOffer } from "./install.ts";
import type { ProposalRefusal, ProposedChange, ReconfigurationRefusal } from "./leadership.ts";
import type { CoreLimits } from "./limits.ts";
import { type LogBounds, type LogReader, RaftLog } from "./log.ts";
import type { Message } from "./message.ts";
import type { Progress } from "./progress.ts";
import { Reads } from "./reads.ts";
import type { TransferRefusal } from "./transfer.ts";
import { Writes } from "./writes.ts";

/**
 * Where a proposal is in the log. The entry that commits at this index is the proposal only if the term is the same.
 */
export interface Proposed {
  readonly term: number;
  readonly firstIndex: number;
}

/** Why the core refused a proposal. A refused proposal appended nothing. */
export type Refusal = "not-leader" | ProposalRefusal;

/** Why the core refused a configuration change. */
export type ChangeProposalRefusal = "not-leader" | ReconfigurationRefusal;

/** What the driver knows about this member's data and disk. */
export interface MemberEligibility extends Eligibility {
  /** Acknowledged data was lost, so this member neither votes nor leads until it has the data again. */
  readonly damaged: boolean;
  /** The disk has no space for entries from other members. */
  readonly diskFull: boolean;
}

export interface CoreOptions {
  /** This member's id: the index of the entry that added it. */
  readonly id: number;
  /** Number of this start of the data directory; it grows with every start. */
  readonly boot: number;
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
  /** Returns a whole number in [0, bound). Seeded by member and boot, so that members never time out together. */
  readonly random: (bound: number) => number;
  readonly reader: LogReader;
  readonly checksum: Checksum;
}

/** One synced write: the whole hard state and every row that is not written yet. */
export interface AppendEffect {
  readonly writeSeq: number;
  readonly term: number;
  readonly vote: number;
  /**
   * min(commit, last): a member that has a configuration entry thereby knows that all earlier ones are committed
   * (P15).
   */
  readonly commit: number;
  /** Index of the first row; last + 1 when there are none. Rows from here on replace the rows in the store. */
  readonly from: number;
  readonly rows: readonly Uint8Array[];
  /** The log restarts after this entry, whose effects are in the state; null = the log continues. */
  readonly resetTo: LogReset | null;
}

/** Filled by `drain`; the driver consumes all of it before the next input. One object, reused. */
export interface Effects {
  /** To send now, in order. */
  messages: Message[];
  append: AppendEffect | null;
  /** Entries that may be applied now, in addition to those of earlier drains. */
  apply: { readonly from: number; readonly to: number } | null;
  /** Confirmed reads, up to and including this position: serve them once `index` is applied. */
  reads: { readonly position: number; readonly index: number } | null;
  /** Positions up to and including this one will never be confirmed; 0 = none. */
  readsFailedUpTo: number;
  /** Peers that need entries from before the leader's log: send them a snapshot. */
  snapshotsWanted: number[];
  role: { readonly role: Role; readonly term: number; readonly leader: number } | null;
  /**
   * The leader knows that entries which this member acknowledged, but no longer has, are committed. Do not use its
   * data.
   */
  lossProven: boolean;
  /** The snapshot that is being received is not wanted any more: stop receiving, delete it. */
  installCancelled: boolean;
  /** The log has durably followed the placed snapshot: switch over, then call `onSnapshotInstalled`. */
  snapshotInstalled: boolean;
}

export class RaftCore {
  readonly #state: CoreState;
  readonly #install: Install;
  readonly #election: Election;
  readonly #follower: Follower;
  /** Highest index handed out for applying. */
  #handedOut: number;
  readonly #effects: Effects = {
    messages: [],
    append: null,
    apply: null,
    reads: null,
    readsFailedUpTo: 0,
    snapshotsWanted: [],
    role: null,
    lossProven: false,
    installCancelled: false,
    snapshotInstalled: false,
  };

  constructor(options: CoreOptions) {
    const { id, limits, log: bounds, applied, commit, term } = options;
    this.#state = new CoreState({
      id,
      boot: options.boot,
      limits,
      log: new RaftLog(bounds, options.reader, limits.tailBytesMax),
      reads: new Reads(limits.readsMax),
      writes: new Writes(options.writeSeq),
      checksum: options.checksum,
      term,
      vote: options.vote,
      configuration: options.configuration,
      commit,
      applied,
    });
    this.#install = new Install(this.#state);
    this.#election = new Election(this.#state, this.#install, options.random);
    this.#follower = new Follower(this.#state, this.#election, this.#install);
    this.#handedOut = applied;
    invariant(id >= 1, "members have an id");
    invariant(applied <= commit, "only committed entries are applied", () => `applied ${applied}, commit ${commit}`);
    invariant(applied >= bounds.first - 1, "the log holds what is not applied", () => {
      return `applied ${applied}, first ${bounds.first}`;
    });
    invariant(commit <= bounds.last, "the log holds what is committed", () => `commit ${commit}, last ${bounds.last}`);
    invariant(bounds.lastTerm <= term, "no entry is newer than the own term", () => {
      return `last term ${bounds.lastTerm}, term ${term}`;
    });
    invariant(options.configuration.index <= applied, "a configuration takes effect when it is applied", () => {
      return `configuration ${options.configuration.index}, applied ${applied}`;
    });
  }

  get id(): number {
    return this.#state.id;
  }

  get term(): number {
    return this.#state.term;
  }

  get role(): Role {
    return this.#election.role;
  }

  /** Id of the leader of the current term, 0 if unknown. */
  get leader(): number {
    return this.#election.leader;
  }

  get commitIndex(): number {
    return this.#state.commit;
  }

  get appliedIndex(): number {
    return this.#state.applied;
  }

  get firstIndex(): number {
    return this.#state.log.firstIndex;
  }

  get lastIndex(): number {
    return this.#state.log.lastIndex;
  }

  get lastTerm(): number {
    return this.#state.log.lastTerm;
  }

  get stableIndex(): number {
    return this.#state.log.stableIndex;
  }

  get configuration(): Configuration {
    return this.#state.configuration;
  }

  /** Whether this member leads and has committed an entry of its term, so that it may answer reads (P6, P7). */
  get hasCommittedInTerm(): boolean {
    return this.#election.leadership?.hasCommittedInTerm === true;
  }

  /**
   * If this member leads and a majority of the voters durably knows that the current configuration is committed: the
   * index of that configuration, else 0. From then on a process that is not a member of it may end: no election needs
   * it (P18).
   */
  get quorumKnownConfigIndex(): number {
    const { configuration } = this.#state;
    return this.#election.leadership?.isConfigurationKnownByQuorum === true ? configuration.index : 0;
  }

  /** Whether a leadership transfer is under way; the caller must keep proposals back until it ends. */
  get isTransferring(): boolean {
    return this.#election.leadership?.isTransferring === true;
  }

  /** Ticks since this member heard the leader or, as the leader, a quorum; infinity if never. */
  get contactAgeTicks(): number {
    return this.#state.tick - this.#election.contactTick;
  }

  /** What the leader knows about a peer; undefined if this member does not lead or has no such peer. */
  peer(id: number): Progress | undefined {
    return this.#election.leadership?.peer(id);
  }

  /** Ticks since the leader heard the member; infinity if never, or if this member does not lead. */
  contactTicksOf(id: number): number {
    const heard = this.peer(id)?.lastHeardTick ?? Number.NEGATIVE_INFINITY;
    return this.#state.tick - heard;
  }

  /** Whether this member leads and would promote the learner now, as far as the core knows. */
  isPromotable(id: number): boolean {
    return this.#election.leadership?.isPromotable(id) === true;
  }

  /** Rows of from..to to apply: at most maxBytes, but at least one row. */
  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    invariant(to <= this.#handedOut, "only entries handed out are applied", () => `${to} > ${this.#handedOut}`);
    return this.#state.log.entries(from, to, maxBytes);
  }

  /** The term of an entry in the log, or of the one just before its first entry. */
  entryTerm(index: number): number {
    return this.#state.log.term(index);
  }

  // ---- Time and fitness ----

  /** Advances the clock by one tick (50 ms). */
  tick(): void {
    const { reads, limits } = this.#state;
    this.#state.tick++;
    this.#election.tick();
    if (this.#election.leadership === null && reads.hasWaited(this.#state.tick, limits.readTicks)) {
      mark("raft.read.unanswered");
      reads.failAll();
    }
  }

  /**
   * Sets whether the member may vote and lead; before the first call it may do neither. A leader that may no longer
   * lead transfers the leadership if possible, else steps down. A candidate that may no longer do both gives up.
   */
  setEligibility(eligibility: MemberEligibility): void {
    invariant(
      !eligibility.damaged || !(eligibility.mayVote || eligibility.mayLead),
      "a damaged member neither votes nor leads",
    );
    this.#follower.setDisk(eligibility);
    this.#election.setEligibility(eligibility);
  }

  /**
   * Sets whether a client at this member waits for the next commit; if so, the leader sends each commit index at once.
   */
  setHasWaiters(hasWaiters: boolean): void {
    this.#follower.setHasWaiters(hasWaiters);
  }

  /** If this member leads: a client at the other member waits until the entry is committed there. */
  awaitAt(id: number, index: number): void {
    this.peer(id)?.awaits(index);
  }

  /** Starts an election now unless this member is not electable; returns whether it did. */
  campaign(): boolean {
    return this.#election.campaign();
  }

  // ---- What clients want ----

  /**
   * Appends all of the unsealed command rows or none, and returns their place in the log, or the reason for the
   * refusal. Seals the rows in place with term and index.
   */
  propose(rows: readonly Uint8Array[]): Proposed | Refusal {
    invariant(rows.length > 0, "a proposal has entries");
    const { leadership } = this.#election;
    if (leadership === null) {
      return "not-leader";
    }
    const firstIndex = this.#state.log.lastIndex + 1;
    return leadership.propose(rows) ?? { term: this.#state.term, firstIndex };
  }

  /**
   * Appends one unsealed row that changes the configuration, or returns the reason for the refusal. `expectIndex` is
   * the index of the last applied configuration entry that the caller knows, 0 = any. `isEligible` reports what the
   * core cannot know about a learner to promote: whether a member has claimed it and runs a suitable version.
   */
  proposeChange(
    row: Uint8Array,
    change: ProposedChange,
    expectIndex: number,
    isEligible: (id: number) => boolean,
  ): Proposed | ChangeProposalRefusal {
    const { leadership } = this.#election;
    if (leadership === null) {
      return "not-leader";
    }
    const firstIndex = this.#state.log.lastIndex + 1;
    const refusal = leadership.proposeChange(row, change, expectIndex, isEligible);
    return refusal ?? { term: this.#state.term, firstIndex };
  }

  /** Requests a linearizable read point; an effect with this position carries the answer. Positions only grow. */
  readIndex(): number {
    const { id, term, boot, reads, tick } = this.#state;
    const { leadership, leader } = this.#election;
    if (leadership !== null) {
      return leadership.readIndex() || reads.refuse();
    }
    if (leader === 0) {
      return reads.refuse();
    }
    const position = reads.request(0, tick);
    this.#state.send({ type: "read-request", from: id, to: leader, term, boot, position });
    return position;
  }

  /** Transfers the leadership to this voter, or with 0 to the most up-to-date one. Returns null, or why it refused. */
  transfer(target: number): "not-leader" | TransferRefusal | null {
    const { leadership } = this.#election;
    if (leadership === null) {
      return "not-leader";
    }
    return target === 0 ? leadership.transferToBest() : leadership.transferTo(target);
  }

  // ---- What the disk and the state have done ----

  /** The write with this number and the mirror record that follows it are durable. */
  onAppendDurable(writeSeq: number): void {
    const released = this.#state.writes.durable(writeSeq, this.#state.term);
    this.#state.log.flushed(writeSeq);
    const isChangeDurable = this.#state.onDurable(writeSeq);
    for (const message of released) {
      const reportsCommit = isChangeDurable && message.type === "append-reply";
      this.#state.send(reportsCommit ? { ...message, commit: this.#state.durableCommit } : message);
    }
    this.#install.durable(writeSeq);
    this.#election.onDurable(writeSeq);
    this.#election.leadership?.advanceCommit();
  }

  /**
   * Applies the configuration entry at the index. Returns the configuration to store, or why the entry has no effect.
   * `expectIndex` is the value that the change was proposed with.
   */
  applyConfiguration(index: number, change: ConfigurationChange, expectIndex: number): Configuration | ChangeRefusal {
    this.#checkApplies(index);
    const next = changeConfiguration(this.#state.configuration, index, change, expectIndex);
    if (typeof next !== "string") {
      this.#state.configuration = next;
      mark(isJoint(next) ? "raft.change.joint" : "raft.change.applied");
      this.#election.onConfiguration();
    }
    return next;
  }

  /** Entries up to the index are applied; `bytes` is the size of their rows. */
  onApplied(index: number, bytes: number): void {
    this.#checkApplies(index);
    const state = this.#state;
    state.applied = index;
    // The count never included entries restored at the start, so it must not fall below zero.
    state.unappliedBytes = index === state.commit ? 0 : Math.max(0, state.unappliedBytes - bytes);
    state.log.release(index);
    this.#election.leadership?.onApplied();
  }

  #checkApplies(index: number): void {
    invariant(index > this.#state.applied && index <= this.#handedOut, "entries are applied in order, once", () => {
      return `${index}, applied ${this.#state.applied}, handed out ${this.#handedOut}`;
    });
  }

  /** Storage dropped the entries below `first`; the entry before `first` has this term. */
  onCompacted(first: number, prevTerm: number): void {
    invariant(first <= this.#state.applied + 1, "only applied entries are dropped", () => `${first}`);
    // A snapshot may have moved the beginning of the log further in the meantime.
    if (first > this.#state.log.firstIndex) {
      this.#state.log.compacted(first, prevTerm);
    }
  }

  // ---- Connections ----

  /** A connection to the peer is verified and takes messages. Messages in flight on older connections are lost. */
  peerConnected(id: number, peer: { readonly restarted: boolean; readonly damaged: boolean }): void {
    const { damagedPeers, reads } = this.#state;
    if (peer.damaged) {
      damagedPeers.add(id);
      this.#election.leadership?.forgetMatch(id);
    } else {
      damagedPeers.delete(id);
      this.peer(id)?.disconnected();
    }
    if (peer.restarted) {
      reads.forget(id);
    }
  }

  /** Messages to the peer were dropped, or its connection ended. */
  peerUnreachable(id: number): void {
    this.peer(id)?.disconnected();
  }

  /** The peer's process is certainly not running now: its port refuses connections. */
  peerGone(id: number): void {
    this.peer(id)?.disconnected();
    this.#election.peerGone(id);
  }

  // ---- Snapshots ----

  /** The driver is sending the peer a snapshot at this index. */
  onSnapshotStarted(id: number, index: number): void {
    invariant(index <= this.#state.applied, "a snapshot holds what is applied", () => `${index}`);
    this.peer(id)?.snapshotStarted(index);
  }

  /**
   * The stream to the peer has ended; `ok` = everything was sent. The peer's next message shows whether it succeeded.
   */
  onSnapshotEnded(id: number, ok: boolean): void {
    if (ok) {
      this.peer(id)?.snapshotSent(this.#state.tick);
    } else {
      this.peer(id)?.snapshotFailed(this.#state.tick);
    }
  }

  /**
   * A leader of `term` offers its state at (index, entryTerm). stale: the offer is useless. matches: the log contains
   * that entry, which is now known to be committed, so no data is needed (P25). install: receive the snapshot until
   * `installCancelled`, replacing any earlier one (P28), then call `beginInstall` or `abandonInstall`.
   */
  offerSnapshot(offer: SnapshotOffer): OfferVerdict {
    if (offer.term < this.#state.term) {
      // The answer carries this member's term, so that the old leader steps down.
      this.#follower.acknowledge(offer.from, this.#state.commit);
      return "stale";
    }
    if (offer.term > this.#state.term) {
      this.#election.enterTerm(offer.term, offer.from);
    }
    this.#election.follow(offer.from);
    const verdict = this.#install.offer(offer);
    if (verdict === "matches") {
      this.#state.commitTo(offer.index);
    }
    if (verdict !== "install" && !this.#install.isPlaced) {
      this.#follower.acknowledge(offer.from, this.#state.commit);
    }
    return verdict;
  }

  /** The driver gave up the snapshot that it was receiving: the stream broke, or the data is wrong. */
  abandonInstall(): void {
    this.#install.abandon();
  }

  /**
   * The driver is about to put the snapshot's state in place; the log then restarts after it. Until
   * `onSnapshotInstalled` this member takes no entries and no other offer, but still votes. Returns false if the
   * snapshot is not wanted any more: then the driver must not put it in place.
   */
  beginInstall(index: number, term: number): boolean {
    return this.#install.place(index, term);
  }

  /**
   * State and log are now those of the snapshot; this member continues from there with the snapshot's configuration.
   */
  onSnapshotInstalled(configuration: Configuration): void {
    const index = this.#install.finish();
    invariant(
      configuration.index <= index && configuration.index >= this.#state.configuration.index,
      "a snapshot has the configuration of its index",
      () => `${configuration.index}, snapshot ${index}`,
    );
    mark("raft.snapshot.installed");
    const state = this.#state;
    state.commitTo(index);
    state.applied = index;
    state.unappliedBytes = state.log.bytesInMemory(index + 1, state.commit);
    state.configuration = configuration;
    state.log.release(index);
    this.#handedOut = index;
    this.#election.onConfiguration();
    if (this.#election.leader !== 0) {
      this.#follower.acknowledge(this.#election.leader, index);
    }
  }

  // ---- Messages ----

  /** Processes a message. The connection must have verified its sender. */
  step(message: Message): void {
    const { id, term } = this.#state;
    if (message.to !== id || message.from === id) {
      return;
    }
    this.#election.leadership?.heard(message.from);
    if (message.term > term && !this.#election.admit(message)) {
      return;
    }
    if (message.term < this.#state.term) {
      this.#answerOldTerm(message);
      return;
    }
    this.#dispatch(message);
    this.#election.stepDownIfEnded();
  }

  /** Processes a message of the current term. */
  #dispatch(message: Message): void {
    switch (message.type) {
      case "vote":
        this.#election.onVote(message);
        return;
      case "vote-reply":
        this.#election.onVoteReply(message);
        return;
      case "pre-vote":
        this.#election.refusePreVote(message.from);
        return;
      case "pre-vote-reply":
        this.#election.onPreVoteReply(message);
        return;
      case "timeout-now":
        this.#election.onTimeoutNow(message);
        return;
      case "append":
        this.#follower.onAppend(message);
        return;
      case "heartbeat":
        this.#follower.onHeartbeat(message);
        return;
      case "read-reply":
        this.#follower.onReadReply(message);
        return;
      case "append-reply":
        this.#election.leadership?.onAppendReply(message);
        return;
      case "heartbeat-reply":
        this.#election.leadership?.onHeartbeatReply(message);
        return;
      case "read-request":
        this.#election.leadership?.onReadRequest(message);
        return;
    }
  }

  /** Answers a sender that is stuck in an old term; without the current term it would be stuck for ever (P37, P38). */
  #answerOldTerm(message: Message): void {
    switch (message.type) {
      case "pre-vote":
        this.#election.refusePreVote(message.from);
        return;
      case "vote":
        this.#election.refuseVote(message.from);
        return;
      case "heartbeat":
        this.#follower.answerHeartbeat(message.from, 0);
        return;
      case "append":
        this.#follower.refuse(message, "no");
        return;
      default:
        return;
    }
  }

  // ---- Effects ----

  /** Returns the effects of all inputs since the last call. Hands out an append only if the writer is idle. */
  drain(writerIdle: boolean): Effects {
    const effects = this.#effects;
    const state = this.#state;
    const { leadership, role, leader } = this.#election;
    effects.snapshotsWanted = [];
    // Before sending, because members that get an answer may also need the commit index.
    leadership?.confirmReads();
    leadership?.sendToPeers(effects.snapshotsWanted);
    effects.append = writerIdle ? this.#takeAppend() : null;

    // Only entries that are committed and on this member's disk (P43); none while another state replaces this one.
    const ready = this.#install.isPlaced ? 0 : Math.min(state.commit, state.log.stableIndex);
    effects.apply = ready > this.#handedOut ? { from: this.#handedOut + 1, to: ready } : null;
    this.#handedOut = Math.max(this.#handedOut, ready);

    effects.messages = state.outbox;
    state.outbox = [];
    effects.reads = state.reads.takeConfirmed();
    effects.readsFailedUpTo = state.reads.takeFailed();
    effects.role = this.#election.takeChanged() ? { role, term: state.term, leader } : null;
    effects.lossProven = this.#follower.takeLossProven();
    effects.installCancelled = this.#install.takeCancelled();
    effects.snapshotInstalled = this.#install.takeLogDurable();
    return effects;
  }

  #takeAppend(): AppendEffect | null {
    const { writes, log } = this.#state;
    if (!writes.isDirty && !log.hasUnwritten) {
      return null;
    }
    const writeSeq = writes.begin();
    const resetTo = this.#install.takeReset(writeSeq);
    const rows = log.takeUnwritten(writeSeq);
    const { term, vote, commit } = this.#state;
    return { writeSeq, term, vote, commit, from: log.lastIndex - rows.length + 1, rows, resetTo };
  }
}
