/**
 * Leading one term: what the leader knows of its peers, and what only it does.
 *
 * Made when an election is won and dropped with the term, so that nothing of it can outlive the leadership: the
 * progress of the peers, the change of the configuration that is pending, a transfer that is under way. When a rule
 * says that the leadership is over, `isOver` turns true and the core steps down.
 */

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
import { mark } from "./mark.ts";
import type { AppendReply, HeartbeatReply, ReadRequest } from "./message.ts";
import { Progress } from "./progress.ts";
import { majorityReached, quorumReached } from "./quorum.ts";
import { Transfer, type TransferRefusal } from "./transfer.ts";
import { invariant } from "./violation.ts";

/** Why a leader refused a proposal. A refused proposal appended nothing. */
export type ProposalRefusal = "transferring" | "no-quorum" | "overloaded";

/** A change of the configuration that may be proposed; a joint one is ended by the leader itself. */
export type ProposedChange = ConfigurationChange & { readonly type: "add-slot" | "reconfigure" };

/** Why a leader refused a change of the configuration. */
export type ReconfigurationRefusal =
  | ProposalRefusal
  | ChangeRefusal
  /** A leader neither removes nor demotes itself. */
  | "is-leader"
  /** A learner that is to be promoted cannot be trusted to keep up. */
  | "learner-not-ready"
  /** The new configuration would have no majority of voters that are in contact and fit. */
  | "quorum-unsafe";

/** The type of the entry that carries a change. */
const CHANGE_ENTRY_TYPE = { "add-slot": EntryType.AddSlot, reconfigure: EntryType.Reconfigure } as const;

export class Leadership {
  readonly #state: CoreState;
  readonly #peers = new Map<number, Progress>();
  readonly #catchUps = new Map<number, CatchUp>();
  readonly #transfer: Transfer;
  /** When the election was won: a quorum has just been heard then. */
  readonly #electedTick: number;
  /** Index of the empty entry that begins this leadership. */
  readonly #termStart: number;
  /** No further change of the configuration before this index is applied (P16). */
  #pendingConfigIndex: number;
  #uncommittedBytes: number;
  #isHeartbeatDue = true;
  #isOver = false;

  constructor(state: CoreState) {
    this.#state = state;
    this.#electedTick = state.tick;
    this.#transfer = new Transfer(state, this.#peers);
    this.#trackPeers();
    this.#uncommittedBytes = state.log.bytesInMemory(state.commit + 1, state.log.lastIndex);
    // An entry of the own term must commit before anything older is known to be committed (P5, P6), and no change of
    // the configuration may be proposed before all that the log holds are applied (P16).
    this.#append(encodeEntry(EntryType.Empty, NO_ENVELOPE, new Uint8Array(0)));
    this.#termStart = state.log.lastIndex;
    this.#pendingConfigIndex = state.log.lastIndex;
  }

  /** Whether the core has to step down, in the same term. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether an entry of this term is committed, so that reads may be answered (P6, P7). */
  get isSettled(): boolean {
    return this.#state.commit >= this.#termStart;
  }

  get isTransferring(): boolean {
    return this.#transfer.isUnderWay;
  }

  peer(id: number): Progress | undefined {
    return this.#peers.get(id);
  }

  /** Whether the member is a learner that has caught up and is in contact and fit. */
  isPromotable(id: number): boolean {
    return this.#state.configuration.learners.includes(id) && this.#isReady(id);
  }

  /** Tick at which a quorum was last heard; this member itself is heard always. */
  get quorumHeardTick(): number {
    const { id, tick, configuration } = this.#state;
    const heard = quorumReached(configuration, (voter) => {
      return voter === id ? tick : (this.#peers.get(voter)?.lastHeardTick ?? Number.NEGATIVE_INFINITY);
    });
    return Math.max(heard, this.#electedTick);
  }

  // ---- Inputs ----

  /** One tick passed. `mayLead` is false while this member only waits to be relieved. */
  tick(mayLead: boolean): void {
    const { tick, limits } = this.#state;
    if (tick - this.quorumHeardTick > limits.contactTicks) {
      mark("raft.check-quorum");
      this.#isOver = true;
      return;
    }
    this.#transfer.tick();
    if (!mayLead && !this.#transfer.isUnderWay) {
      this.#isOver = true;
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

  /** Anything was heard of the peer. */
  heard(id: number): void {
    const progress = this.#peers.get(id);
    if (progress !== undefined) {
      progress.lastHeardTick = this.#state.tick;
    }
  }

  /** The peer has lost acknowledged data: it counts for nothing before it has said again what it has (P46). */
  forgetMatch(id: number): void {
    this.#peers.get(id)?.forgetMatch();
    this.#catchUps.get(id)?.restart();
  }

  /** Appends all rows, of commands, or none, or says why not. */
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

  /** Appends the entry of a change of the configuration, or says why not. */
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

  /** A new own read position, or 0 if no quorum is in contact that could confirm it. */
  readIndex(): number {
    const { reads, commit, tick, limits } = this.#state;
    if (tick - this.quorumHeardTick > limits.noQuorumTicks) {
      return 0;
    }
    this.#isHeartbeatDue = true;
    return reads.ask(commit, tick);
  }

  /**
   * The request itself shows that the peer followed this leader when it asked. If the two of them are a quorum, no other
   * leader had been elected by then, and the peer is answered without a round of heartbeats. That confirms what this
   * peer has asked, and nothing else: other reads may have begun after the request was sent (P8).
   */
  onReadRequest({ from, boot, position }: ReadRequest): void {
    const { reads, commit, tick } = this.#state;
    if (this.isSettled && this.#isQuorumWith(from)) {
      mark("raft.read.confirmed-by-request");
      this.#replyToRead(from, boot, position, commit);
      return;
    }
    reads.askFor(from, boot, position, commit, tick);
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
      progress.refused(message.index, this.#lastPossibleMatch(message.hintIndex, message.hintTerm));
      return;
    }
    if (message.index > this.#state.log.lastIndex) {
      // A peer never acknowledges, in this term, more than it was sent (P34).
      return;
    }
    if (progress.accepted(message.index, this.#state.log.firstIndex, this.#state.tick)) {
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
    progress.isWatched = message.watched;
    progress.readPosition = Math.max(progress.readPosition, message.readPosition);
    progress.heartbeatAnswered(this.#state.log.firstIndex, this.#state.log.lastIndex);
    this.#observeCatchUp(progress);
    this.#stepDownIfRemoved();
  }

  /** Largest own index that may equal the peer's log, which ends at `hintIndex` with entries up to `hintTerm`. */
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

  /** Commits what a quorum has stored, this member included once it is durable here. */
  advanceCommit(): void {
    const { id, term, log, commit, configuration } = this.#state;
    // The own match is the highest stable index, never the highest appended one (P4).
    const reached = quorumReached(configuration, (voter) => {
      return voter === id ? log.stableIndex : (this.#peers.get(voter)?.match ?? 0);
    });
    // An entry of an older term is committed only together with one of the present term (P5).
    if (reached > commit && log.term(reached) === term) {
      this.#uncommittedBytes -= log.bytesInMemory(commit + 1, reached);
      invariant(this.#uncommittedBytes >= 0, "no more is committed than was appended");
      this.#state.commitTo(reached);
    }
  }

  /** Confirms the reads that a quorum has answered since. */
  confirmReads(): void {
    const { id, reads, commit, configuration } = this.#state;
    if (!this.isSettled || reads.isEmpty) {
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

  /** Sends heartbeats if they are due, and entries as far as windows allow; adds who needs a snapshot. */
  sendToPeers(snapshotsWanted: number[]): void {
    const isHeartbeatDue = this.#isHeartbeatDue;
    this.#isHeartbeatDue = false;
    for (const progress of this.#peers.values()) {
      if (isHeartbeatDue) {
        this.#sendHeartbeat(progress);
      }
      while (this.#sendAppend(progress)) {
        // Until the window is full or all is sent.
      }
      if (progress.wantsSnapshot(this.#state.tick)) {
        snapshotsWanted.push(progress.id);
      }
    }
  }

  #sendHeartbeat(progress: Progress): void {
    const { id, term, reads } = this.#state;
    // Never above what the peer holds: it might take other entries for committed (P51).
    const commit = Math.min(progress.match, this.#state.commit);
    this.#state.send({
      type: "heartbeat",
      from: id,
      to: progress.id,
      term,
      commit,
      readPosition: reads.position,
    });
    progress.told(commit);
  }

  /** Sends the next Append to the peer if there is something to say; returns whether entries went out. */
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
    // A configuration lasts only once a majority has said that it knows it as committed (P18).
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

  /** Knows exactly the members of the configuration; who was known stays known. */
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
    // Not below the first entry of the term either, where this begins (P6, P16).
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
    // Of the new voters alone: a change away from members that are lost must stay possible (P21).
    const isSafe = majorityReached(next.voters, (id) => (id === self || this.#isHeardAndFit(id) ? 1 : 0)) === 1;
    return isSafe ? null : "quorum-unsafe";
  }

  #isReady(id: number): boolean {
    const applied = this.#peers.get(id)?.applied ?? 0;
    return (
      this.#isHeardAndFit(id) &&
      this.#catchUps.get(id)?.isReady === true &&
      this.#state.commit - applied <= this.#state.limits.learnerLagEntriesMax
    );
  }

  #isHeardAndFit(id: number): boolean {
    const progress = this.#peers.get(id);
    return (
      progress !== undefined &&
      this.#state.tick - progress.lastHeardTick <= this.#state.limits.noQuorumTicks &&
      !this.#state.damagedPeers.has(id) &&
      !progress.diskFull
    );
  }

  /** Entries were applied. Whoever leads when a joint configuration is, ends it (P22). */
  onApplied(): void {
    const { configuration, applied, log } = this.#state;
    if (isJoint(configuration) && configuration.autoLeave && applied >= this.#pendingConfigIndex) {
      mark("raft.leave");
      this.#append(encodeEntry(EntryType.Leave, NO_ENVELOPE, new Uint8Array(0)));
      this.#pendingConfigIndex = log.lastIndex;
    }
  }

  /**
   * Whether a majority of the voters knows for good that the configuration in force is committed: from then on nobody
   * whom it has removed is needed for anything (P18).
   */
  get isConfigurationLasting(): boolean {
    const { id, configuration, lastingCommit } = this.#state;
    const known = quorumReached(configuration, (voter) => {
      return voter === id ? lastingCommit : (this.#peers.get(voter)?.commit ?? 0);
    });
    return known >= configuration.index;
  }

  /** A leader that is no longer a voter leads on until the others know that it is not (P17, P18). */
  #stepDownIfRemoved(): void {
    const { id, configuration } = this.#state;
    if (!isJoint(configuration) && !configuration.voters.includes(id) && this.isConfigurationLasting) {
      mark("raft.removed-leader-steps-down");
      this.#isOver = true;
    }
  }

  // ---- Transfer of the leadership ----

  /** Hands over to this voter, or says why not. */
  transferTo(target: number): TransferRefusal | null {
    return this.#transfer.begin(target);
  }

  /** Hands over to the voter that is furthest, or says why nobody can take over. */
  transferToBest(): TransferRefusal | null {
    return this.#transfer.beginWithBest();
  }
}

/** Asserts that the rows follow the entry before them, index by index, in terms that never fall (P30); their bytes. */
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
