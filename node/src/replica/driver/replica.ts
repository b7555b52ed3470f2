/**
 * The driver of one member: it feeds the consensus core, writes its appends, applies committed entries, and answers.
 *
 * Everything happens in turns of the event loop. A turn takes all input since the last one (frames of other members,
 * durable writes, due ticks, proposals, reads), drains the core once, and starts the resulting work. Nothing in a turn
 * waits, and no command creates a promise. During a log write, entries collect for the next one (group commit).
 *
 * A member that does not lead forwards its proposals to the leader, and answers its own callers when it applies them.
 * Applying is deterministic, so the result is the same. The log, the state, the connections and the clocks are passed
 * in, so that a simulator can run this file unchanged.
 */

import { encodeMessage, type Frame, type LinkKind, messageKind, messageType } from "../../peers/index.ts";
import { invariant, mark } from "../../primitives/index.ts";
import type { AppendEffect, Effects, Message, RaftCore, Role } from "../../raft/index.ts";
import {
  type ClientRequest,
  type ClusterOperation,
  type CoordinationError,
  type CountedReader,
  type MembershipEntry,
  readCluster,
  readProgress,
} from "../../state/index.ts";
import type { RequestTrace, Timeline } from "../../tracing/index.ts";
import { type AppliedEntry, ApplyLoop, type ApplyObserver, ClusterDiskSpace, NamespaceSurvey } from "../apply/index.ts";
import {
  type Clock,
  type ClusterTick,
  type CommitTimes,
  Compaction,
  type ConnectedStart,
  clusterProposalOf,
  type DiskSpaceLevel,
  Eligibility,
  type IncomingSnapshot,
  membershipProposalOf,
  overloadOfCalls,
  overloadOfWaits,
  type Proposal,
  type ProposalDone,
  proposalOf,
  type ReplicaLimits,
  type ReplicaOptions,
  type ReplicaStatistics,
  type ReplicaStatus,
  reasonToWait,
  replicaContextOf,
  shuttingDown,
} from "../context/index.ts";
import {
  type ArchiveReport,
  Handover,
  LeaderCalls,
  LeaderMaintenance,
  type MembershipViewDone,
  type TransferDone,
} from "../leader/index.ts";
import { deadlineError, PendingReads, Proposals, type ReadDone } from "../proposals/index.ts";
import { type ReplicaBackups, Snapshots } from "../snapshots/index.ts";
import type { ArrivedFrame } from "./arrived-frame.ts";
import { DataLossRecovery } from "./data-loss-recovery.ts";
import { Freshness } from "./freshness.ts";
import { IncomingFrames } from "./incoming-frames.ts";
import { MemberCalls } from "./member-calls.ts";
import { MemberRecord } from "./member-record.ts";
import { ReplicaReport } from "./replica-report.ts";

/** Milliseconds between two ticks of the core. */
const TICK_MS = 50;
/** After a stall at most this many ticks are caught up: fewer than an election timeout. */
const CATCH_UP_TICKS_MAX = 19;

export class Replica {
  /** Counters since the start of this driver. */
  readonly statistics: ReplicaStatistics;
  /** Finds the namespaces that are near a limit. */
  readonly namespaces = new NamespaceSurvey();
  /** Questions to other members about themselves, and the answers to theirs. */
  readonly memberCalls: MemberCalls;
  /** Reports beside `status`. */
  readonly report: ReplicaReport;
  readonly #options: ReplicaOptions;
  readonly #limits: ReplicaLimits;
  readonly #clock: Clock;
  readonly #timeline: Timeline | null;
  readonly #core: RaftCore;
  readonly #eligibility: Eligibility;
  readonly #frames: IncomingFrames;
  readonly #proposals: Proposals;
  readonly #reads = new PendingReads();
  readonly #leaderCalls: LeaderCalls;
  readonly #tick: ClusterTick;
  readonly #applyLoop: ApplyLoop;
  readonly #snapshots: Snapshots;
  readonly #commitTimes: CommitTimes;
  readonly #freshness: Freshness;
  readonly #leaderMaintenance: LeaderMaintenance;
  readonly #clusterDiskSpace: ClusterDiskSpace;
  readonly #record: MemberRecord;
  readonly #stopTimer: () => void;
  #dataLossRecovery: DataLossRecovery | null;

  #turnArmed = false;
  #stopped = false;
  #durableSeq = 0;
  #writing = false;
  /** Nothing is proposed or asked before the next tick, because the last attempt was refused. */
  #isBackingOff = false;
  #handover: Handover | null = null;

  #lastTickMs: number;
  #ticksDue = 0;
  #loopLagMs = 0;

  constructor(options: ReplicaOptions) {
    const arm = () => this.#arm();
    const onDiverged = (reason: string) => this.#onDiverged(reason);
    const context = replicaContextOf(options, { coreTickMs: TICK_MS, arm, onDiverged });
    const { core, state, log, clock, limits, random } = context;
    this.#options = options;
    this.#limits = limits;
    this.#clock = clock;
    this.#timeline = context.timeline;
    this.#core = core;
    this.#tick = context.tick;
    this.#commitTimes = context.commitTimes;
    this.statistics = context.statistics;
    this.#freshness = new Freshness(context);
    this.#eligibility = new Eligibility(options.damaged);
    this.#dataLossRecovery = options.damaged ? new DataLossRecovery(core) : null;
    this.#updateEligibility();
    this.#frames = new IncomingFrames(context);
    const { first } = options.bounds;
    const { appliedIndex } = readProgress(state);
    this.#applyLoop = new ApplyLoop(context, {
      compaction: new Compaction(limits.compaction, first, appliedIndex, random(1000) / 1000),
      // Entries applied before this start are in a write-ahead log. The next state sync makes it durable.
      durableApplied: first - 1,
      neededFrom: () => this.#snapshots.neededFrom,
      onApplied: (entries) => this.#onApplied(entries),
      onDurable: () => this.#record.onDurable(),
      onRest: arm,
      isWaiting: () => this.#proposals.queueing > 0,
    });
    const applyLoop = this.#applyLoop;
    this.#clusterDiskSpace = new ClusterDiskSpace(context, { applyLoop, onCritical: options.onDiskCritical });
    this.#proposals = new Proposals(context, {
      hasCapacity: () => this.#clusterDiskSpace.hasCapacity,
      quorumKnownConfigIndex: () => this.#record.quorumKnownConfigIndex,
      backOff: () => this.#backOff(),
    });
    this.#leaderCalls = new LeaderCalls(context, (deadlineMs, done) => this.readBarrier(deadlineMs, done));
    this.memberCalls = new MemberCalls(context, options.onMemberCall ?? (() => null));
    this.#leaderMaintenance = new LeaderMaintenance(context, { applyLoop, proposals: this.#proposals });
    this.#snapshots = new Snapshots(context, applyLoop);
    this.report = new ReplicaReport(context, {
      applyLoop,
      snapshots: this.#snapshots,
      eligibility: this.#eligibility,
      freshness: this.#freshness,
      comparison: this.#leaderMaintenance.comparison,
    });
    this.#record = new MemberRecord(context, {
      onChanged: () => this.#onRecord(),
      onQuorumKnown: () => this.#onQuorumKnownConfiguration(),
      makeDurable: () => applyLoop.makeDurable(),
      onMembers: () => options.onMembers(),
    });
    if (this.#record.exists) {
      // Without an applied record, the log keeps its own setting.
      log.setSoleVoter(this.#isSoleVoter());
      this.#record.reportMembers();
    }
    this.#lastTickMs = clock.monotonicMs();
    this.#stopTimer = options.scheduler.every(TICK_MS, () => this.#onTimer());
    this.#arm();
  }

  /** The interface for backups of this member. */
  get backups(): ReplicaBackups {
    return this.#snapshots.backups;
  }

  /** The state as of the last applied slice. */
  get state(): CountedReader {
    return this.#options.state;
  }

  /** Revision of the state as of the last applied slice. */
  get revision(): number {
    return this.#applyLoop.progress.revision;
  }

  /** The newest configuration that lasts, as far as this member has heard since its start; 0 = none (P18). */
  get quorumKnownConfigIndex(): number {
    return this.#record.quorumKnownConfigIndex;
  }

  /** Calls back, in the same turn, after each change of `state`, until the returned function is called. */
  observe(listener: ApplyObserver): () => void {
    return this.#applyLoop.observe(listener);
  }

  /** The greatest cluster tick that this member knows, in milliseconds. */
  get tickMs(): number {
    return this.#tick.nowMs;
  }

  status(): ReplicaStatus {
    return this.report.status(this.#loopLagMs, this.#stopped);
  }

  // ---- Calls ----

  /**
   * Logs the command and calls `done` with its outcome once it is applied, exactly once, never before this returns.
   * `deadlineMs` is a time of the monotonic clock. Errors: UNAVAILABLE (NO_LEADER, OVERLOADED, SHUTTING_DOWN) with
   * outcome `not-executed` unless it says otherwise; DEADLINE_EXCEEDED, outcome `unknown`.
   *
   * Returns a function to call when the caller is gone. After that `done` is not called any more, a command that is in
   * no log yet is dropped, and a request for a lock is undone: it neither waits for the lock nor holds it (S25).
   */
  propose(
    command: ClientRequest,
    deadlineMs: number,
    done: ProposalDone,
    trace: RequestTrace | null = null,
  ): () => void {
    return this.#propose(proposalOf(command, this.state), deadlineMs, done, trace);
  }

  /**
   * The same for a change of the membership, answered once its joint configuration has ended. Raises the contract's
   * errors if it is not allowed. Without a request id, the outcome is `unknown` if this member cannot see the result.
   */
  proposeMembership(entry: MembershipEntry, deadlineMs: number, done: ProposalDone): void {
    this.#propose(membershipProposalOf(entry), deadlineMs, done);
  }

  /** The same for operations of members (about themselves or for another process) and of administrators. */
  proposeClusterOperation(operation: ClusterOperation, deadlineMs: number, done: ProposalDone): void {
    this.#propose(clusterProposalOf(operation), deadlineMs, done);
  }

  /**
   * Calls `done` once `state` contains every write that was acknowledged anywhere before this call. Read in that
   * callback. Errors as for `propose`; a failed barrier has changed nothing.
   */
  readBarrier(deadlineMs: number, done: ReadDone, trace: RequestTrace | null = null): void {
    if (!this.#refuses(done)) {
      this.#reads.add(this.#clock.monotonicMs(), deadlineMs, done, trace);
      this.#arm();
    }
  }

  /** Others say that this member was removed, so the changes of the membership that it has applied are final. */
  onRemoved(): void {
    this.#proposals.answerAfterRemoval();
  }

  /** The leader's view of the members, after a round to a majority. `archive` is this member's report to the leader. */
  membershipView(deadlineMs: number, done: MembershipViewDone, archive: ArchiveReport | null = null): void {
    if (!this.#refuses((refusal) => done(refusal, null))) {
      this.#leaderCalls.add({ kind: "membership", archive, done }, deadlineMs);
    }
  }

  /**
   * Transfers the leadership to the voter `target` (0 = the most up-to-date one) if the term is `ifTerm` (0 = any
   * term). Done when this member hears another leader; UNAVAILABLE if the transfer was given up.
   */
  transferLeadership(target: number, ifTerm: number, deadlineMs: number, done: TransferDone): void {
    if (!this.#refuses((refusal) => done(refusal, null))) {
      this.#leaderCalls.add({ kind: "transfer", target, ifTerm, done }, deadlineMs);
    }
  }

  /**
   * Before this member stops: transfers the leadership if it leads, and calls `done` when it does not lead any more, or
   * after `limitMs` milliseconds. Calls that arrive meanwhile go to the new leader.
   */
  handOver(limitMs: number, done: () => void): void {
    invariant(this.#handover === null, "a member hands over once");
    const nowMs = this.#clock.monotonicMs();
    this.#handover = new Handover(this.#core, nowMs + limitMs, () => this.#options.scheduler.immediate(done));
    this.#proceedHandover(nowMs);
  }

  /** Sets how full the disk is. */
  setDiskSpace(space: DiskSpaceLevel): void {
    this.#eligibility.onSpace(space);
    this.#clusterDiskSpace.onOwnSpace(space);
    this.#updateEligibility();
    this.#arm();
  }

  /** Stops all work and answers all waiting calls. The stores may be closed afterwards. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
    this.#applyLoop.stop();
    this.#leaderMaintenance.stop();
    this.#snapshots.stop();
    this.#proposals.refuseAll();
    this.#reads.refuseAll(shuttingDown());
    this.#leaderCalls.refuseAll(shuttingDown());
    this.memberCalls.stop();
    this.#handover?.end();
  }

  // ---- Events of connections ----

  /** A verified peer has sent a frame; a turn processes it. Raises a FrameError if the frame is malformed. */
  onFrame(peer: number, kind: LinkKind, frame: Frame): void {
    this.#frames.push(peer, kind, frame);
    this.#arm();
  }

  /** A connection with this process of the peer is verified. */
  onConnected(peer: number, connected: ConnectedStart): void {
    this.#frames.onConnected(peer, connected.boot, connected.restarted);
    this.#core.peerConnected(peer, connected);
    this.#proposals.onConnected(peer, connected.boot);
    this.#leaderMaintenance.versions.onConnected(peer, connected);
    this.#arm();
  }

  /** Frames to the peer were dropped, or the connection that carried them has ended. */
  onUnreachable(peer: number): void {
    this.#core.peerUnreachable(peer);
    this.#leaderCalls.onUnreachable(peer);
    this.#proposals.onUnreachable(peer);
    this.memberCalls.onUnreachable(peer);
    this.#arm();
  }

  /** The process of the peer does not run. */
  onGone(peer: number): void {
    this.#core.peerGone(peer);
    this.#arm();
  }

  /** Frames that the transport took and certainly never sent. */
  onUnsent(_peer: number, _kind: LinkKind, frames: readonly Frame[]): void {
    this.#proposals.onUnsent(frames);
  }

  /** A verified peer sends a snapshot. */
  onSnapshot(peer: number, incoming: IncomingSnapshot): void {
    this.#snapshots.receive(peer, incoming);
  }

  // ---- Turns ----

  #propose(proposal: Proposal, deadlineMs: number, done: ProposalDone, trace: RequestTrace | null = null): () => void {
    if (this.#refuses((refusal) => done(refusal, null), deadlineMs, proposal.mayQueue)) {
      return () => undefined;
    }
    return this.#proposals.add(proposal, deadlineMs, done, trace);
  }

  /** Whether a call is refused now; if so, calls `refuse` in a turn of its own. */
  #refuses(refuse: (refusal: CoordinationError) => void, deadlineMs = Infinity, mayQueue = false): boolean {
    const isLate = deadlineMs <= this.#clock.monotonicMs();
    const refusal = this.#refusalNow(mayQueue) ?? (isLate ? deadlineError() : null);
    if (refusal !== null) {
      this.#options.scheduler.immediate(() => refuse(refusal));
    }
    return refusal !== null;
  }

  #refusalNow(mayQueue: boolean): CoordinationError | null {
    if (this.#stopped) {
      return shuttingDown();
    }
    return mayQueue
      ? overloadOfWaits(this.#proposals.queueing, this.#limits)
      : overloadOfCalls(this.#proposals.size + this.#reads.size + this.#leaderCalls.size, this.#limits);
  }

  #arm(): void {
    if (!this.#turnArmed && !this.#stopped) {
      this.#turnArmed = true;
      this.#options.scheduler.immediate(() => this.#turn());
    }
  }

  /** Pauses proposals and reads until the next tick, because a retry would be refused again at once. */
  #backOff(): void {
    this.#isBackingOff = true;
  }

  #onTimer(): void {
    // Ticks are only counted here and consumed in a turn, after another poll of the sockets (P55).
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#lastTickMs;
    const ticks = Math.floor(elapsedMs / TICK_MS);
    this.#loopLagMs = Math.max(0, elapsedMs - TICK_MS);
    this.#lastTickMs += ticks * TICK_MS;
    this.#ticksDue = Math.min(this.#ticksDue + ticks, CATCH_UP_TICKS_MAX);
    this.#arm();
  }

  #turn(): void {
    this.#turnArmed = false;
    if (this.#stopped) {
      return;
    }
    // Process all arrived frames before the ticks, so that a leader that was heard does not time out (P55).
    for (const frame of this.#frames.take()) {
      this.#step(frame);
    }
    if (this.#frames.hasMore) {
      this.#arm();
    }
    if (this.#durableSeq > 0) {
      const writeSeq = this.#durableSeq;
      this.#durableSeq = 0;
      this.#core.onAppendDurable(writeSeq);
    }
    const ticked = this.#ticksDue > 0;
    for (; this.#ticksDue > 0; this.#ticksDue--) {
      this.#core.tick();
    }
    this.#isBackingOff &&= !ticked;
    if (!this.#isBackingOff) {
      this.#proposals.handOut();
      this.#requestReads();
    }
    this.#leaderCalls.proceed();
    this.#record.checkQuorumKnown();
    if (ticked) {
      this.#afterTicks();
    }
    if (this.#stopped) {
      return;
    }
    this.#recoverLostData();
    this.#snapshots.placeIfReady();
    this.#drain();
    this.#options.transport.flush();
  }

  #step(frame: ArrivedFrame): void {
    switch (frame.kind) {
      case "message":
        this.#core.step(frame.message);
        return;
      case "tick":
        if (frame.peer === this.#core.leader && frame.tick.term === this.#core.term) {
          this.#tick.onLeaderTick(frame.tick.term, frame.tick.tickMs);
          this.#freshness.onLeaderCommit(frame.tick.commitIndex, this.#clock.monotonicMs());
          this.#record.onQuorumKnown(frame.tick.quorumKnownConfigIndex);
        }
        return;
      case "report":
        this.#clusterDiskSpace.onReport(frame.peer, frame.report);
        this.#leaderMaintenance.comparison.onReport(frame.peer, frame.report.checkpoint);
        return;
      case "question":
        if (!this.memberCalls.takeQuestion(frame.peer, frame.request)) {
          this.#leaderCalls.onRequest(frame.peer, frame.request);
        }
        return;
      case "reply":
        if (!this.memberCalls.takeAnswer(frame.peer, frame.reply)) {
          this.#leaderCalls.onReply(frame.reply);
        }
        return;
      case "forward":
        this.#proposals.onForward(frame.peer, frame.boot, frame.forward, frame.arrivedMs);
        return;
      case "forwarded":
        this.#proposals.onForwarded(frame.forwarded);
        return;
      case "refused":
        this.#proposals.onForwardRefused(frame.refused);
        return;
    }
  }

  /** A configuration lasts: answers the calls that asked for it, here and at other members. */
  #onQuorumKnownConfiguration(): void {
    this.#leaderMaintenance.sendTick();
    this.#proposals.answerFinalChanges(this.#clock.monotonicMs());
  }

  /** Stops, so that no call is answered from a state that differs from the cluster's. */
  #onDiverged(reason: string): void {
    this.stop();
    this.#options.onDiverged(reason);
  }

  #updateEligibility(): void {
    this.#core.setEligibility(this.#eligibility.memberEligibility(this.#isSoleVoter()));
  }

  #requestReads(): void {
    const { role } = this.#core;
    if (this.#reads.hasUnrequested && (role === "leader" || (role === "follower" && this.#freshness.leader !== 0))) {
      this.#reads.requested(this.#core.readIndex());
    }
  }

  /** Periodic work. It comes after the proposals, so that no call waits without need. */
  #afterTicks(): void {
    const nowMs = this.#clock.monotonicMs();
    const waitReason = () => reasonToWait(this.#core, this.#limits);
    if (this.#eligibility.isStuck(nowMs)) {
      this.#options.onDiskStuck();
      return;
    }
    this.#updateEligibility();
    this.#commitTimes.observe(this.#core.commitIndex, nowMs);
    this.#proposals.expire(nowMs, nowMs + TICK_MS, waitReason);
    this.#proposals.answerFinalChanges(nowMs);
    this.#reads.expire(nowMs, nowMs + TICK_MS, waitReason);
    this.#leaderCalls.onTick(nowMs, waitReason);
    this.memberCalls.onTick(nowMs);
    this.#snapshots.onTick(nowMs);
    this.#applyLoop.onTick(nowMs);
    this.#leaderMaintenance.onTick(nowMs);
    this.#clusterDiskSpace.onTick(nowMs);
    if (this.#handover !== null) {
      this.#proceedHandover(nowMs);
    }
  }

  #proceedHandover(nowMs: number): void {
    if (this.#handover?.proceed(nowMs, this.#isSoleVoter()) === true) {
      // Otherwise it would be elected again, because its log is the most up to date.
      this.#eligibility.onLeaving();
      this.#updateEligibility();
    }
    this.#arm();
  }

  // ---- Effects ----

  #drain(): void {
    // The log must not be reset while a received state is being put in place.
    const effects = this.#core.drain(!this.#writing && !this.#snapshots.isPlacing);
    if (this.#core.role !== "leader") {
      this.#tick.follow(this.#core.lastTerm);
    }
    this.#noteProgress(effects);
    for (const message of effects.messages) {
      this.#send(message);
    }
    // Send first, so that the other members work in parallel with this member's own write.
    this.#options.transport.flush();
    if (effects.append !== null) {
      this.#write(effects.append);
    }
    if (effects.apply !== null) {
      this.#applyLoop.applyUpTo(effects.apply.to);
    }
    this.#onReads(effects);
    for (const peer of effects.snapshotsWanted) {
      this.#snapshots.send(peer);
    }
    if (effects.installCancelled) {
      this.#snapshots.cancelInstall();
    }
    if (effects.snapshotInstalled) {
      this.#onSnapshotInstalled();
    }
    if (effects.role !== null) {
      this.#onRole(effects.role.role, effects.role.term, effects.role.leader);
    }
    if (effects.lossProven) {
      this.#options.onLoss("the leader has seen this member acknowledge entries that its log does not hold");
    }
  }

  /** The time for traces; 0 without them. */
  #traceMs(): number {
    return this.#timeline === null ? 0 : this.#clock.monotonicMs();
  }

  /** For traces. */
  #noteProgress({ apply }: Effects): void {
    if (this.#timeline !== null) {
      const nowMs = this.#clock.monotonicMs();
      this.#timeline.onCommitted(this.#core.commitIndex, nowMs);
      this.#timeline.onApplicable(apply?.to ?? 0, nowMs);
    }
  }

  #send(message: Message): void {
    const { to } = message;
    if (!this.#options.transport.send(to, messageKind(message), messageType(message), encodeMessage(message))) {
      this.#core.peerUnreachable(to);
    }
  }

  #write(append: AppendEffect): void {
    this.#writing = true;
    const begunMs = this.#clock.monotonicMs();
    this.#eligibility.onWriteBegun(begunMs);
    this.#timeline?.onWriteBegun(append.from, append.rows.length, begunMs);
    this.#options.log.write(append, (writeSeq, writeMs) => {
      const durableMs = this.#clock.monotonicMs();
      this.statistics.onAppended(append.rows, durableMs - begunMs, writeMs);
      this.#timeline?.onWritten(append.rows.length, durableMs, writeMs);
      this.#writing = false;
      this.#eligibility.onWritten();
      this.#durableSeq = writeSeq;
      this.#arm();
    });
  }

  #onReads({ reads, readsFailedUpTo }: Effects): void {
    if (readsFailedUpTo > 0) {
      this.#reads.failed(readsFailedUpTo);
      this.#dataLossRecovery?.onReadsFailed(readsFailedUpTo);
      this.#backOff();
    }
    if (reads !== null) {
      const nowMs = this.#traceMs();
      this.#reads.confirmed(reads.position, reads.index, nowMs);
      this.#dataLossRecovery?.onReads(reads.position, reads.index);
      this.#reads.serve(this.#applyLoop.progress.appliedIndex, nowMs);
    }
  }

  #onRole(role: Role, term: number, leader: number): void {
    this.statistics.onRole(role, leader);
    if (role === "leader") {
      this.#tick.start(term);
    } else {
      this.#tick.stop();
      this.#commitTimes.clear();
      this.#campaignIfAlone();
    }
    if (leader !== 0) {
      // Calls that waited for a leader continue at once.
      this.#isBackingOff = false;
      this.#arm();
    }
    this.#options.scheduler.immediate(() => this.#options.onRole(role, term, leader));
  }

  /** A sole voter campaigns as soon as it has applied what it knows as committed; it need not wait for a timeout. */
  #campaignIfAlone(): void {
    if (this.#core.role === "follower" && this.#isSoleVoter() && this.#core.campaign()) {
      this.#arm();
    }
  }

  /** Whether this member is the only voter, as far as it has applied. */
  #isSoleVoter(): boolean {
    const { voters, outgoing } = this.#core.configuration;
    return voters.length === 1 && voters[0] === this.#options.memberId && outgoing.length === 0;
  }

  #onApplied(entries: readonly AppliedEntry[]): void {
    this.#timeline?.onApplied(this.#applyLoop.progress.appliedIndex, this.#clock.monotonicMs());
    for (const { row, seq } of entries) {
      this.#proposals.applied(row, seq);
    }
    this.#record.check();
    mark("replica.answers.before");
    for (const entry of entries) {
      this.#proposals.answerAll(entry);
    }
    mark("replica.answers.after");
    const nowMs = this.#clock.monotonicMs();
    this.#proposals.answerFinalChanges(nowMs);
    this.#reads.serve(this.#applyLoop.progress.appliedIndex, nowMs);
    this.#campaignIfAlone();
    this.#arm();
  }

  #onRecord(): void {
    this.#updateEligibility();
    this.#options.log.setSoleVoter(this.#isSoleVoter());
  }

  /** Continues the healing of a member that has lost data. */
  #recoverLostData(): void {
    if (this.#dataLossRecovery?.proceed() !== true) {
      return;
    }
    this.#dataLossRecovery = null;
    this.#options.log.clearDamage(() => {
      mark("replica.healed");
      this.#eligibility.onDataRecovered();
      this.#updateEligibility();
      this.#options.onDataRecovered();
      this.#arm();
    });
  }

  /** Continues from the received state: log and state are those of the snapshot now. */
  #onSnapshotInstalled(): void {
    const { index, term } = this.#snapshots.switchOver();
    const cluster = readCluster(this.#options.state);
    invariant(cluster !== undefined, "the state of a snapshot has a cluster record");
    this.#core.onSnapshotInstalled(cluster.configuration);
    this.#proposals.onSnapshotInstalled(index, term);
    this.#record.check();
    this.#reads.serve(index);
    this.#arm();
  }
}
