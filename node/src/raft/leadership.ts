/**
 * Leading one term: what the leader knows about its peers, and what only a leader does.
 *
 * Created when this member wins an election and dropped with the term, so that nothing of it outlives the leadership:
 * the progress of the peers, the pending configuration change, a transfer. When a rule ends the leadership, `isOver`
 * turns true and the core steps down.
 */

import { invariant, mark } from "../primitives/index.ts";
import { CatchUp } from "./catch-up.ts";
import {
  type ChangeRefusal,
  type ConfigurationChange,
  changeConfiguration,
  isJoint,
  members,
} from "./configuration.ts";
import type { CoreState } from "./core-state.ts";
import { EntryType, encodeEntry, entryIndex, entryOriginMember, entryTerm, entryType, NO_ENVELOPE } from "./entry.ts";
import type { AppendReply, HeartbeatReply, ReadRequest } from "./message.ts";
import { Progress } from "./progress.ts";
import { majorityReached, quorumReached } from "./quorum.ts";
import { Transfer, type TransferRefusal } from "./transfer.ts";

/** Why a leader refused a proposal. A refused proposal appended nothing. */
export type ProposalRefusal = "transferring" | "no-quorum" | "overloaded";

/** A configuration change that a caller may propose. The leader itself ends a joint configuration. */
export type ProposedChange = ConfigurationChange & { readonly type: "add-slot" | "reconfigure" };

/** Why a leader refused a configuration change. */
export type ReconfigurationRefusal =
  | ProposalRefusal
  | ChangeRefusal
  /** A leader neither removes nor demotes itself. */
  | "is-leader"
  /** The learner to promote has not shown that it keeps up. */
  | "learner-not-ready"
  /** The new configuration would have no majority of voters that are fit and in contact. */
  | "quorum-unsafe";

/** The type of the entry that carries a change. */
const CHANGE_ENTRY_TYPE = { "add-slot": EntryType.AddSlot, reconfigure: EntryType.Reconfigure } as const;

export class Leadership {
  readonly #state: CoreState;
  readonly #peers = new Map<number, Progress>();
  readonly #catchUps = new Map<number, CatchUp>();
  readonly #transfer: Transfer;
  /** When this member won the election: it has just heard a quorum then. */
  readonly #electedTick: number;
  /** Index of the empty entry that begins this leadership. */
  readonly #termStart: number;
  /** The leader takes no further configuration change until this index is applied (P16). */
  #pendingConfigIndex: number;
  #uncommittedBytes: number;
  #isHeartbeatDue = true;
  #hasEnded = false;

  constructor(state: CoreState) {
    this.#state = state;
    this.#electedTick = state.tick;
    this.#transfer = new Transfer(state, this.#peers);
    this.#trackPeers();
    this.#uncommittedBytes = state.log.bytesInMemory(state.commit + 1, state.log.lastIndex);
    // An entry of this term must commit before the leader knows that any older entry is committed (P5, P6). The leader
    // takes no configuration change until it has applied everything in its log (P16).
    this.#append(encodeEntry(EntryType.Empty, NO_ENVELOPE, new Uint8Array(0)));
    this.#termStart = state.log.lastIndex;
    this.#pendingConfigIndex = state.log.lastIndex;
  }

  /** Whether the core must step down, in the same term. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether an entry of this term is committed, so that the leader may answer reads (P6, P7). */
  get hasCommittedInTerm(): boolean {
    return this.#state.commit >= this.#termStart;
  }

  get isTransferring(): boolean {
    return this.#transfer.isUnderWay;
  }

  peer(id: number): Progress | undefined {
    return this.#peers.get(id);
  }

  /** Whether the member is a learner that has caught up, is in contact and is fit. */
  isPromotable(id: number): boolean {
    return this.#state.configuration.learners.includes(id) && this.#isReady(id);
  }

  /** Tick at which the leader last heard a quorum; it always hears itself. */
  get quorumHeardTick(): number {
    const { id, tick, configuration } = this.#state;
    const heard = quorumReached(configuration, (voter) => {
      return voter === id ? tick : (this.#peers.get(voter)?.lastHeardTick ?? Number.NEGATIVE_INFINITY);
    });
    return Math.max(heard, this.#electedTick);
  }

  // ---- Inputs ----

  /** Advances the clock by one tick. `mayLead` is false while this member only waits for another leader. */
  tick(mayLead: boolean): void {
    const { tick, limits } = this.#state;
    if (tick - this.quorumHeardTick > limits.contactTicks) {
      mark("raft.check-quorum");
      this.#hasEnded = true;
      return;
    }
    this.#transfer.tick();
    if (!mayLead && !this.#transfer.isUnderWay) {
      this.#hasEnded = true;
      return;
    }
    if (tick % limits.heartbeatTicks === 0) {
      this.#isHeartbeatDue = true;
    }
    for (const progress of this.#peers.values()) {
      if (progress.isStalled(tick, limits.stallTicks)) {
        mark("raft.window.stalled");
        progress.becomeProbe();
      } else if (progress.isSnapshotOverdue(tick)) {
        mark("raft.snapshot.overdue");
        progress.snapshotFailed(tick);
      }
    }
  }

  /** The leader received any message from the peer. */
  heard(id: number): void {
    const progress = this.#peers.get(id);
    if (progress !== undefined) {
      progress.lastHeardTick = this.#state.tick;
    }
  }

  /** The peer has lost acknowledged data: its match counts as 0 until it acknowledges entries again (P46). */
  forgetMatch(id: number): void {
    this.#peers.get(id)?.forgetMatch();
    this.#catchUps.get(id)?.restart();
  }

  /** Appends all of the command rows or none; returns null, or why it refused. */
  propose(rows: readonly Uint8Array[]): ProposalRefusal | null {
    let bytes = 0;
    for (const row of rows) {
      invariant(entryType(row) === EntryType.Command, "only commands are proposed", () => `type ${entryType(row)}`);
      bytes += row.length;
    }
    const refusal = this.#proposalRefusal(bytes);
    if (refusal === null) {
      for (const row of rows) {
        this.#append(row);
      }
    }
    return refusal;
  }

  /** Appends the entry of a configuration change; returns null, or why it refused. */
  proposeChange(
    row: Uint8Array,
    change: ProposedChange,
    expectIndex: number,
    isEligible: (id: number) => boolean,
  ): ReconfigurationRefusal | null {
    invariant(entryType(row) === CHANGE_ENTRY_TYPE[change.type], "a change has an entry of its type", () => {
      return `${change.type}: ${entryType(row)}`;
    });
    const refusal = this.#proposalRefusal(row.length) ?? this.#changeRefusal(change, expectIndex, isEligible);
    if (refusal === null) {
      this.#append(row);
      this.#pendingConfigIndex = this.#state.log.lastIndex;
      mark("raft.change.appended");
    }
    return refusal;
  }

  /**
   * Returns a new read position of this member, or 0 if the leader is not in contact with a quorum that could confirm
   * it.
   */
  readIndex(): number {
    const { reads, commit, tick, limits } = this.#state;
    if (tick - this.quorumHeardTick > limits.noQuorumTicks) {
      return 0;
    }
    this.#isHeartbeatDue = true;
    return reads.request(commit, tick);
  }

  /**
   * The request itself shows that the peer followed this leader when it asked. If the two of them are a quorum, no
   * other leader had been elected by then, so the leader answers without a round of heartbeats. That confirms only the
   * peer's own requests: other reads may have begun after the request was sent (P8).
   */
  onReadRequest({ from, boot, position }: ReadRequest): void {
    const { reads, commit, tick } = this.#state;
    if (this.hasCommittedInTerm && this.#isQuorumWith(from)) {
      mark("raft.read.confirmed-by-request");
      this.#replyToRead(from, boot, position, commit);
      return;
    }
    reads.requestFor(from, boot, position, commit, tick);
    this.#isHeartbeatDue = true;
  }

  onAppendReply(message: AppendReply): void {
    const progress = this.#peers.get(message.from);
    if (progress === undefined) {
      return;
    }
    progress.commit = Math.max(progress.commit, message.commit);
    progress.diskFull = message.busy === "full";
    if (message.busy !== "no") {
      progress.slowDown();
      return;
    }
    if (message.refused) {
      progress.rejected(message.index, this.#lastPossibleMatch(message.hintIndex, message.hintTerm));
      return;
    }
    if (message.index > this.#state.log.lastIndex) {
      // In this term, a peer never acknowledges more than the leader sent to it (P34).
      return;
    }
    if (progress.acknowledged(message.index, this.#state.log.firstIndex, this.#state.tick)) {
      this.#observeCatchUp(progress);
      this.advanceCommit();
    }
    this.#transfer.proceed();
    this.#stepDownIfRemoved();
  }

  onHeartbeatReply(message: HeartbeatReply): void {
    const progress = this.#peers.get(message.from);
    if (progress === undefined) {
      return;
    }
    progress.commit = Math.max(progress.commit, message.commit);
    progress.applied = message.applied;
    progress.hasWaiters = message.watched;
    progress.readPosition = Math.max(progress.readPosition, message.readPosition);
    progress.onHeartbeatReply(this.#state.log.firstIndex, this.#state.log.lastIndex);
    this.#observeCatchUp(progress);
    this.#stepDownIfRemoved();
  }

  /**
   * Largest index at which the leader's log may equal the peer's, which ends at `hintIndex` with entries up to
   * `hintTerm`.
   */
  #lastPossibleMatch(hintIndex: number, hintTerm: number): number {
    const { log } = this.#state;
    return hintIndex < log.firstIndex - 1 ? hintIndex : log.lastWithTermAtMost(hintIndex, hintTerm);
  }

  #append(row: Uint8Array): void {
    this.#state.append(row);
    this.#uncommittedBytes += row.length;
    const index = this.#state.log.lastIndex;
    if (entryType(row) === EntryType.Command) {
      this.#peers.get(entryOriginMember(row))?.awaits(index);
    } else {
      this.#awaitAtAll(index);
    }
  }

  #awaitAtAll(index: number): void {
    for (const progress of this.#peers.values()) {
      progress.awaits(index);
    }
  }

  #proposalRefusal(bytes: number): ProposalRefusal | null {
    const { tick, commit, applied, unappliedBytes, limits } = this.#state;
    if (this.#transfer.isUnderWay) {
      return "transferring";
    }
    if (tick - this.quorumHeardTick > limits.noQuorumTicks) {
      return "no-quorum";
    }
    const uncommittedFull = this.#uncommittedBytes > 0 && this.#uncommittedBytes + bytes > limits.uncommittedBytesMax;
    const applyBehind = commit - applied > limits.unappliedEntriesMax || unappliedBytes > limits.unappliedBytesMax;
    if (uncommittedFull || applyBehind) {
      mark("raft.propose.overloaded");
      return "overloaded";
    }
    return null;
  }

  /** Commits what a quorum has stored. The leader counts itself once its own copy is durable. */
  advanceCommit(): void {
    const { id, term, log, commit, configuration } = this.#state;
    // The leader's own match is the highest stable index, never the highest appended one (P4).
    const reached = quorumReached(configuration, (voter) => {
      return voter === id ? log.stableIndex : (this.#peers.get(voter)?.match ?? 0);
    });
    // An entry of an older term commits only together with one of the current term (P5).
    if (reached > commit && log.term(reached) === term) {
      this.#uncommittedBytes -= log.bytesInMemory(commit + 1, reached);
      invariant(this.#uncommittedBytes >= 0, "no more is committed than was appended");
      this.#state.commitTo(reached);
    }
  }

  /** Confirms the reads that a quorum has answered since the last call. */
  confirmReads(): void {
    const { id, reads, commit, configuration } = this.#state;
    if (!this.hasCommittedInTerm || reads.isEmpty) {
      return;
    }
    const position = quorumReached(configuration, (voter) => {
      return voter === id ? reads.position : (this.#peers.get(voter)?.readPosition ?? 0);
    });
    for (const { peer, boot, position: asked, index } of reads.confirm(position, this.#termStart, commit)) {
      this.#replyToRead(peer, boot, asked, index);
    }
  }

  #replyToRead(to: number, boot: number, position: number, index: number): void {
    const { id, term } = this.#state;
    this.#state.send({ type: "read-reply", from: id, to, term, boot, position, index });
    this.#peers.get(to)?.awaits(index);
  }

  /** Whether this member and the peer alone are a quorum. A peer that has lost data counts for nothing here (P46). */
  #isQuorumWith(peer: number): boolean {
    const { id, configuration, damagedPeers } = this.#state;
    return (
      !damagedPeers.has(peer) && quorumReached(configuration, (voter) => (voter === id || voter === peer ? 1 : 0)) >= 1
    );
  }

  // ---- Sending ----

  /**
   * Sends heartbeats if they are due, and entries within the windows; adds the peers that need a snapshot to the list.
   */
  sendToPeers(snapshotsWanted: number[]): void {
    const isHeartbeatDue = this.#isHeartbeatDue;
    this.#isHeartbeatDue = false;
    for (const progress of this.#peers.values()) {
      if (isHeartbeatDue) {
        this.#sendHeartbeat(progress);
      }
      while (this.#sendAppend(progress)) {
        // Until the window is full or everything is sent.
      }
      if (progress.wantsSnapshot(this.#state.tick)) {
        snapshotsWanted.push(progress.id);
      }
    }
  }

  #sendHeartbeat(progress: Progress): void {
    const { id, term, reads } = this.#state;
    // Never above the peer's match: otherwise the peer might take different entries for committed (P51).
    const commit = Math.min(progress.match, this.#state.commit);
    this.#state.send({
      type: "heartbeat",
      from: id,
      to: progress.id,
      term,
      commit,
      readPosition: reads.position,
    });
    progress.commitSentTo(commit);
  }

  /** Sends the next Append to the peer if it is useful; returns whether it contained entries. */
  #sendAppend(progress: Progress): boolean {
    const { id, term, tick, commit, log, limits } = this.#state;
    if (progress.isPaused) {
      return false;
    }
    if (progress.next < log.firstIndex) {
      if (!progress.isBackingOff(tick)) {
        mark("raft.snapshot.wanted");
        progress.becomeSnapshot();
      }
      return false;
    }
    const prevIndex = progress.next - 1;
    const rows =
      progress.next <= log.lastIndex ? log.entries(progress.next, log.lastIndex, limits.messageBytesMax) : [];
    if (rows.length === 0 && !progress.mayWantEmptyAppend(commit)) {
      return false;
    }
    const prevTerm = log.term(prevIndex);
    const bytes = checkRows(rows, prevIndex, prevTerm);
    // A configuration change is final only once a majority reports that it knows the change is committed (P18).
    const wantsReply = rows.length > 0 || progress.wantsReply || progress.commit < this.#pendingConfigIndex;
    this.#state.send({
      type: "append",
      from: id,
      to: progress.id,
      term,
      prevIndex,
      prevTerm,
      commit,
      wantsReply,
      rows,
    });
    progress.sent(prevIndex + rows.length, bytes, commit, tick);
    return rows.length > 0;
  }

  // ---- Membership ----

  /** The configuration has changed. */
  onConfiguration(): void {
    this.#trackPeers();
    this.#transfer.onConfiguration();
    this.advanceCommit();
    this.#isHeartbeatDue = true;
  }

  /** Tracks exactly the members of the configuration; a member that stays keeps its progress. */
  #trackPeers(): void {
    const { id: self, configuration, log, reads, limits } = this.#state;
    const ids = new Set(members(configuration));
    for (const id of this.#peers.keys()) {
      if (!ids.has(id)) {
        this.#peers.delete(id);
        this.#catchUps.delete(id);
        reads.forget(id);
      }
    }
    const window = { messagesMax: limits.windowMessagesMax, bytesMax: limits.windowBytesMax };
    for (const id of ids) {
      if (id !== self && !this.#peers.has(id)) {
        this.#peers.set(id, new Progress(id, log.lastIndex + 1, window));
        this.#catchUps.set(id, new CatchUp());
      }
    }
  }

  #observeCatchUp(progress: Progress): void {
    this.#catchUps.get(progress.id)?.observe(progress.match, this.#state.log.lastIndex, this.#state.tick);
  }

  #changeRefusal(
    change: ProposedChange,
    expectIndex: number,
    isEligible: (id: number) => boolean,
  ): ReconfigurationRefusal | null {
    const { id: self, applied, configuration, log } = this.#state;
    // This also waits for the first entry of the term, because `#pendingConfigIndex` starts there (P6, P16).
    if (this.#pendingConfigIndex > applied) {
      return "change-in-progress";
    }
    const next = changeConfiguration(configuration, log.lastIndex + 1, change, expectIndex);
    if (typeof next === "string") {
      return next;
    }
    if (change.type === "add-slot") {
      return null;
    }
    if (change.remove.includes(self) || change.demote.includes(self)) {
      return "is-leader";
    }
    const promoted = change.promote.filter((id) => !configuration.voters.includes(id));
    if (!promoted.every((id) => isEligible(id) && this.#isReady(id))) {
      return "learner-not-ready";
    }
    // Only the new voters count: a change away from lost members must stay possible (P21).
    const isSafe = majorityReached(next.voters, (id) => (id === self || this.#isHeardAndEligible(id) ? 1 : 0)) === 1;
    return isSafe ? null : "quorum-unsafe";
  }

  #isReady(id: number): boolean {
    const applied = this.#peers.get(id)?.applied ?? 0;
    return (
      this.#isHeardAndEligible(id) &&
      this.#catchUps.get(id)?.isReady === true &&
      this.#state.commit - applied <= this.#state.limits.learnerLagEntriesMax
    );
  }

  #isHeardAndEligible(id: number): boolean {
    const progress = this.#peers.get(id);
    return (
      progress !== undefined &&
      this.#state.tick - progress.lastHeardTick <= this.#state.limits.noQuorumTicks &&
      !this.#state.damagedPeers.has(id) &&
      !progress.diskFull
    );
  }

  /** Entries were applied. The leader at the time ends a joint configuration that is applied (P22). */
  onApplied(): void {
    const { configuration, applied, log } = this.#state;
    if (isJoint(configuration) && configuration.autoLeave && applied >= this.#pendingConfigIndex) {
      mark("raft.leave");
      this.#append(encodeEntry(EntryType.Leave, NO_ENVELOPE, new Uint8Array(0)));
      this.#pendingConfigIndex = log.lastIndex;
    }
  }

  /**
   * Whether a majority of the voters durably knows that the current configuration is committed. From then on no removed
   * member is needed for anything (P18).
   */
  get isConfigurationKnownByQuorum(): boolean {
    const { id, configuration, durableCommit } = this.#state;
    const known = quorumReached(configuration, (voter) => {
      return voter === id ? durableCommit : (this.#peers.get(voter)?.commit ?? 0);
    });
    return known >= configuration.index;
  }

  /** A leader that is no longer a voter keeps leading until the others know about the change (P17, P18). */
  #stepDownIfRemoved(): void {
    const { id, configuration } = this.#state;
    if (!isJoint(configuration) && !configuration.voters.includes(id) && this.isConfigurationKnownByQuorum) {
      mark("raft.removed-leader-steps-down");
      this.#hasEnded = true;
    }
  }

  // ---- Transfer of the leadership ----

  /** Transfers the leadership to this voter; returns null, or why it refused. */
  transferTo(target: number): TransferRefusal | null {
    return this.#transfer.begin(target);
  }

  /** Transfers the leadership to the most up-to-date voter; returns null, or why no voter can take over. */
  transferToBest(): TransferRefusal | null {
    return this.#transfer.beginWithBest();
  }
}

/**
 * Asserts that the rows follow the entry before them, index by index, in terms that never fall (P30). Returns their
 * size in bytes.
 */
function checkRows(rows: readonly Uint8Array[], prevIndex: number, prevTerm: number): number {
  let index = prevIndex;
  let term = prevTerm;
  let bytes = 0;
  for (const row of rows) {
    index++;
    invariant(entryIndex(row) === index, "what is sent follows what is there", () => `${entryIndex(row)} at ${index}`);
    invariant(entryTerm(row) >= term, "terms never fall along the log", () => `${entryTerm(row)} after ${term}`);
    term = entryTerm(row);
    bytes += row.length;
  }
  return bytes;
}
