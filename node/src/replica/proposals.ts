/**
 * Calls on their way into the log: proposed here when this member leads, forwarded to the leader otherwise.
 *
 * A forwarded attempt names the term of the leader that it is meant for; that leader appends it in this very term or
 * says that it never will. It is never passed on, and never sent twice (S36). A refusal that passes by itself leaves
 * the call where it is, until there is a leader, or room, or its time is up. A change of the membership is answered
 * when it is applied and no joint configuration is left of it.
 */

import {
  decodeForward,
  encodeForward,
  encodeForwarded,
  encodeForwardRefused,
  type Forward,
  type Forwarded,
  type ForwardRefused,
  type Frame,
  FrameType,
} from "../peers/index.ts";
import {
  type ChangeProposalRefusal,
  EntryType,
  encodeEntry,
  entryIndex,
  entryTerm,
  isJoint,
  mark,
  type Origin,
  type Proposed,
  type RaftCore,
  type Refusal,
} from "../raft/index.ts";
import { hasStampReader, stamp } from "../stamps/index.ts";
import {
  acquisitionOutcome,
  CoordinationError,
  changeOf,
  decodeCommand,
  decodeMembershipEntry,
  isGrowing,
  type LookedAt,
  type Outcome,
  readCluster,
  readProgress,
  refusalOf,
  refusalOfChange,
  type StateReader,
  storedOutcome,
} from "../state/index.ts";
import type { AppliedEntry } from "./apply-loop.ts";
import type { Clock } from "./clock.ts";
import type { ClusterTick } from "./cluster-tick.ts";
import type { ReplicaStatistics } from "./replica-statistics.ts";
import { ToldRefusals } from "./told-refusals.ts";
import type { Transport } from "./transport.ts";
import {
  clusterProposalOf,
  deadlineError,
  type Proposal,
  type ProposalDone,
  type SnapshotVerdict,
  type Waiter,
  Waiters,
} from "./waiters.ts";

export interface ProposalsOptions {
  readonly memberId: number;
  readonly boot: number;
  readonly core: RaftCore;
  readonly state: StateReader;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly tick: ClusterTick;
  readonly statistics: ReplicaStatistics;
  /** The newest configuration that a majority knows for good to be committed. */
  readonly lastingConfigIndex: () => number;
  /** Commands, and bytes of them, that one turn hands out. */
  readonly perTurn: number;
  readonly bytesPerTurn: number;
  /** Cluster ticks that answers are stored, in milliseconds. */
  readonly replayWindowMs: number;
  /** Whether the disk has room for commands that make the state larger. */
  readonly hasRoom: () => boolean;
  /** There is more to hand out: asks for another turn. */
  readonly arm: () => void;
  /** What was just refused would be refused again at once: lets proposals rest until the next tick. */
  readonly hold: () => void;
}

/** Why a leader did not append an attempt. */
type AppendRefusal = Refusal | ChangeProposalRefusal | "storage-full";

/** A change of the membership that is applied, while a joint configuration is left of it or it may be forgotten. */
interface Settling {
  readonly done: ProposalDone;
  readonly outcome: Outcome;
  readonly deadlineMs: number;
}

export class Proposals {
  readonly #options: ProposalsOptions;
  readonly #waiters = new Waiters();
  /** Calls whose present attempt is not handed out, in the order of their arrival. */
  #waiting: Waiter[] = [];
  #settling: Settling[] = [];
  /** What others were refused here. */
  readonly #told = new ToldRefusals();

  constructor(options: ProposalsOptions) {
    this.#options = options;
  }

  /** Calls that wait, held ones included, but for those that may wait for a lock. */
  get size(): number {
    return this.#waiters.size + this.#settling.length;
  }

  /** Calls that may wait for a lock: they last as long as others hold it. */
  get queueing(): number {
    return this.#waiters.queueing;
  }

  /** Returns what is to be called when the caller is gone. */
  add(proposal: Proposal, deadlineMs: number, done: ProposalDone): () => void {
    const { clock, statistics } = this.#options;
    const waiter = this.#waiters.add(clock.monotonicMs(), deadlineMs, proposal, statistics.counted(done));
    this.#waiting.push(waiter);
    stamp("proposal.queued", waiter.seq);
    this.#options.arm();
    return () => this.#abandon(waiter);
  }

  // ---- What becomes of attempts ----

  /** An entry is applied and can be read: answers whose attempt it is, and those whose waiting it has ended. */
  answerAll({ seq, outcome, settled }: Pick<AppliedEntry, "seq" | "outcome" | "settled">): void {
    if (seq !== 0) {
      this.answer(seq, outcome);
    }
    for (const attempt of settled) {
      mark("replica.acquisition.settled");
      this.answer(attempt.seq, attempt.outcome);
    }
  }

  /** The outcome of an attempt of this process is known, unless it says that it waits for a lock: answers its caller. */
  answer(seq: number, outcome: Outcome | null): void {
    const isQueued = outcome !== null && "kind" in outcome.answer && outcome.answer.kind === "queued-lock";
    const waiter = isQueued ? this.#waiters.get(seq) : this.#waiters.take(seq);
    if (waiter === undefined) {
      return;
    }
    if (waiter.isAbandoned) {
      // Whatever it has come to, nobody knows of it.
      this.#cancel(waiter);
      return;
    }
    waiter.isQueued = isQueued;
    if (isQueued) {
      mark("replica.acquisition.queued");
      return;
    }
    const isRefused = outcome === null || outcome.answer instanceof CoordinationError;
    stamp("proposal.answered", seq);
    if (waiter.proposal.type === EntryType.Command || isRefused) {
      waiter.done(null, outcome);
    } else {
      this.#settling.push({ done: waiter.done, outcome, deadlineMs: waiter.deadlineMs });
    }
  }

  /**
   * Answers changes of the membership of which no joint configuration is left and that a majority knows for good, so
   * that whoever was removed may be destroyed (P18), and those whose time is up.
   */
  settle(nowMs: number): void {
    if (this.#settling.length === 0) {
      return;
    }
    const { core, lastingConfigIndex } = this.#options;
    const isSettled = !isJoint(core.configuration) && core.configuration.index <= lastingConfigIndex();
    for (const one of this.#settling.splice(0)) {
      if (isSettled) {
        one.done(null, one.outcome);
      } else if (one.deadlineMs > nowMs) {
        this.#settling.push(one);
      } else {
        // It is under way, and those whom it removes may still be needed: that is not what was asked for.
        one.done(deadlineError(), null);
      }
    }
  }

  /** This member was removed, which it is told when that lasts: answers the changes that it has applied. */
  settleRemoved(): void {
    if (!isJoint(this.#options.core.configuration)) {
      for (const { done, outcome } of this.#settling.splice(0)) {
        done(null, outcome);
      }
    }
  }

  /** An entry was applied; `seq` is its attempt if it is one of this process, else 0. Frees whom it refutes. */
  applied(row: Uint8Array, seq: number): void {
    for (const waiter of this.#waiters.refutedBy(entryIndex(row), entryTerm(row), seq)) {
      mark("replica.attempt.refuted");
      this.#retry(waiter.seq);
    }
  }

  /** The state was replaced by that of a snapshot of the entry (index, term). */
  onSnapshotInstalled(index: number, term: number): void {
    for (const { waiter, isCertain } of this.#waiters.coveredBy(index, term)) {
      const verdict = this.#judge(waiter, isCertain);
      if (verdict === "refuted") {
        mark("replica.attempt.refuted-by-snapshot");
        this.#retry(waiter.seq);
      } else if (verdict === "unknown" && waiter.isAbandoned) {
        this.#cancel(waiter);
      } else if (verdict === "unknown") {
        const message = "this member was caught up by a snapshot, which does not show what became of the call";
        this.#waiters.refuse(waiter, new CoordinationError("LEADER_CHANGED", message, { outcome: "unknown" }));
      } else if (verdict !== "wait") {
        mark("replica.attempt.answered-by-snapshot");
        // Also of one that waits for a lock: nothing refutes it any more.
        waiter.isApplied = true;
        this.answer(waiter.seq, verdict.outcome);
      }
    }
  }

  /** What the replaced state shows about an attempt that may be in it. */
  #judge(waiter: Waiter, isCertain: boolean): SnapshotVerdict {
    const { proposal, handedOutMs } = waiter;
    const { state, clock, replayWindowMs } = this.#options;
    if (proposal.acquisition !== undefined) {
      return this.#judgeAcquisition(waiter, proposal.acquisition, isCertain);
    }
    const ageMs = clock.monotonicMs() - (handedOutMs ?? 0);
    // An answer that may have been dropped already says nothing by its absence.
    if (proposal.stored === null || ageMs > replayWindowMs / 2) {
      return "unknown";
    }
    const { subject, request } = proposal.stored;
    const outcome = storedOutcome(state, subject, request, this.#lookedAt());
    if (outcome !== null) {
      return this.#mayKnow(proposal) ? { outcome } : "unknown";
    }
    return isCertain ? "refuted" : "wait";
  }

  /**
   * Whether who asks may do so still. Else a stored answer may be one of long before, which they must not be told again,
   * and the attempt one that was refused: the state does not show which it is (S13).
   */
  #mayKnow({ asking }: Proposal): boolean {
    const { state, clock } = this.#options;
    return asking === undefined || refusalOf(state, asking.principal, asking.need, clock.wallMs()) === null;
  }

  /** The same for a request for a lock: what is stored of it lives as long as it waits or holds, however long that is. */
  #judgeAcquisition(
    { seq, handedOutMs, isApplied, proposal }: Waiter,
    { principal, request }: NonNullable<Proposal["acquisition"]>,
    isCertain: boolean,
  ): SnapshotVerdict {
    const { memberId, boot, state, clock, replayWindowMs } = this.#options;
    const attempt = { memberId, boot, seq };
    const outcome = acquisitionOutcome(state, { principal, request, attempt }, this.#lookedAt());
    if (outcome !== null) {
      mark("replica.acquisition.found-in-snapshot");
      // What is no refusal tells of this very attempt, which was not refused.
      const isOwn = !(outcome.answer instanceof CoordinationError);
      return isOwn || this.#mayKnow(proposal) ? { outcome } : "unknown";
    }
    const ageMs = clock.monotonicMs() - (handedOutMs ?? 0);
    if (isApplied || ageMs > replayWindowMs / 2) {
      return "unknown";
    }
    return isCertain ? "refuted" : "wait";
  }

  #lookedAt(): LookedAt {
    const { state, tick, replayWindowMs } = this.#options;
    return { tickMs: tick.nowMs, sinceMs: tick.nowMs - replayWindowMs, revision: readProgress(state).revision };
  }

  /** Refuses whoever has waited too long; `nextMs` is when this is called again. */
  expire(nowMs: number, nextMs: number, heldReason: () => CoordinationError): void {
    for (const waiter of this.#waiters.expire(nowMs, nextMs, heldReason)) {
      const { done } = waiter;
      this.#abandon(waiter);
      done(deadlineError(), null);
    }
    this.#waiting = this.#waiting.filter((waiter) => this.#waiters.has(waiter));
  }

  /** Ends all waiting: this process stops. */
  refuseAll(): void {
    this.#waiting = [];
    this.#waiters.refuseAll();
    for (const { done } of this.#settling.splice(0)) {
      const message = "this member is shutting down while the change is under way";
      done(new CoordinationError("SHUTTING_DOWN", message, { outcome: "unknown" }), null);
    }
  }

  // ---- Callers that are gone ----

  /** Nobody is there to be answered: what is in no log yet is dropped, what a lock was asked for with is undone (S25). */
  #abandon(waiter: Waiter): void {
    if (!this.#waiters.has(waiter) || waiter.isAbandoned) {
      return;
    }
    this.#waiters.abandon(waiter);
    if (waiter.handedOutMs === null) {
      this.#waiters.take(waiter.seq);
    } else if (waiter.isQueued) {
      this.#cancel(waiter);
    }
    // Else it may be applied or never be: its entry tells, or what refutes it.
  }

  /** The attempt was applied and its caller is gone: proposes to undo it until that is in the log. */
  #cancel(waiter: Waiter): void {
    this.#waiters.take(waiter.seq);
    const { memberId, boot } = this.#options;
    const { acquisition } = waiter.proposal;
    if (acquisition === undefined) {
      return;
    }
    mark("replica.acquisition.cancelled");
    const { principal, request } = acquisition;
    const attempt = { memberId, boot, seq: waiter.seq };
    const { subject } = principal;
    const operation = { kind: "cancel-acquisition", subject, requestId: request.requestId, attempt } as const;
    const proposal = clusterProposalOf(operation);
    const propose = (): void => {
      const deadlineMs = this.#options.clock.monotonicMs() + CANCEL_DEADLINE_MS;
      this.add(proposal, deadlineMs, (error) => {
        // To undo it twice is to undo it once, so an unknown outcome is tried again like none.
        if (error !== null && error.reason !== "SHUTTING_DOWN") {
          propose();
        }
      });
    };
    propose();
  }

  // ---- Handing out ----

  /** Hands out what waits, as much as one turn may. */
  handOut(): void {
    const { leader, role, term } = this.#options.core;
    if (this.#waiting.length === 0 || (role !== "leader" && (role !== "follower" || leader === 0))) {
      return;
    }
    const nowMs = this.#options.clock.monotonicMs();
    const isReady = ({ resting }: Waiter) => resting === null || resting.untilMs <= nowMs;
    const batch = this.#nextBatch(isReady);
    if (batch.length === 0) {
      return;
    }
    if (role === "leader") {
      this.#proposeHere(batch);
    } else {
      this.#forward(batch, leader, term);
    }
    this.#waiting = this.#waiting.filter((waiter) => this.#waiters.has(waiter) && waiter.handedOutMs === null);
    if (this.#waiting.some(isReady)) {
      this.#options.arm();
    }
  }

  /** The oldest calls that fit into one turn, of those that need not rest. */
  #nextBatch(isReady: (waiter: Waiter) => boolean): Waiter[] {
    const { perTurn, bytesPerTurn } = this.#options;
    const batch: Waiter[] = [];
    let bytes = 0;
    for (const waiter of this.#waiting) {
      const { payload } = waiter.proposal;
      if (batch.length === perTurn || (batch.length > 0 && bytes + payload.length > bytesPerTurn)) {
        break;
      }
      if (this.#waiters.has(waiter) && isReady(waiter)) {
        batch.push(waiter);
        bytes += payload.length;
      }
    }
    return batch;
  }

  #proposeHere(batch: readonly Waiter[]): void {
    const { memberId, boot } = this.#options;
    const originOf = ({ seq }: Waiter): Origin => ({ memberId, boot, seq });
    const commands = batch.filter((waiter) => waiter.proposal.type === EntryType.Command && this.#admits(waiter));
    if (commands.length > 0) {
      const accepted = this.#proposeCommands(
        commands.map((waiter) => ({ payload: waiter.proposal.payload, origin: originOf(waiter) })),
      );
      if (typeof accepted === "string") {
        // Nothing was appended; the calls stay where they are until there is room or their time is up.
        mark("replica.propose.held");
        this.#options.hold();
        return;
      }
      for (const [at, waiter] of commands.entries()) {
        this.#onAppended(waiter, accepted.term, accepted.firstIndex + at);
      }
    }
    for (const waiter of batch) {
      if (waiter.proposal.type !== EntryType.Command) {
        const accepted = this.#proposeChange(waiter.proposal.type, waiter.proposal.payload, originOf(waiter));
        if (typeof accepted !== "string") {
          this.#onAppended(waiter, accepted.term, accepted.firstIndex);
        } else {
          this.#onRefused(waiter, accepted);
        }
      }
    }
  }

  /** Whether there is room for the command; refuses it if not. */
  #admits(waiter: Waiter): boolean {
    if (this.#options.hasRoom() || !isGrowing(decodeCommand(waiter.proposal.payload))) {
      return true;
    }
    this.#onRefused(waiter, "storage-full");
    return false;
  }

  #onAppended(waiter: Waiter, term: number, index: number): void {
    this.#waiters.handOut(waiter, term, this.#options.clock.monotonicMs());
    this.#waiters.appended(waiter.seq, index);
    stamp("proposal.appended", index, waiter.seq, this.#options.memberId);
  }

  #proposeCommands(commands: readonly { readonly payload: Uint8Array; readonly origin: Origin }[]) {
    const { core, tick, clock } = this.#options;
    const tickMs = tick.nowMs;
    const wallMs = clock.wallMs();
    return core.propose(
      commands.map(({ payload, origin }) => encodeEntry(EntryType.Command, { tickMs, wallMs, origin }, payload)),
    );
  }

  #proposeChange(type: EntryType, payload: Uint8Array, origin: Origin): Proposed | ChangeProposalRefusal {
    const { core, state, tick, clock } = this.#options;
    const { operation, expectIndex } = decodeMembershipEntry(payload);
    const members = readCluster(state)?.members ?? [];
    const isClaimed = (id: number): boolean => members.some((one) => one.id === id && one.incarnation.length > 0);
    const row = encodeEntry(type, { tickMs: tick.nowMs, wallMs: clock.wallMs(), origin }, payload);
    return core.proposeChange(row, changeOf(operation), expectIndex, isClaimed);
  }

  /** Hands the calls to the leader of this term, each as an attempt that can be an entry of that term or of none. */
  #forward(batch: readonly Waiter[], leader: number, term: number): void {
    const { transport, clock } = this.#options;
    const attempts = batch.map(({ seq, proposal }) => ({ seq, kind: proposal.type, row: proposal.payload }));
    if (!transport.send(leader, "log", FrameType.Forward, encodeForward({ term, attempts }))) {
      mark("replica.forward.held");
      this.#options.hold();
      return;
    }
    this.#options.statistics.forwarded += batch.length;
    const nowMs = clock.monotonicMs();
    for (const waiter of batch) {
      this.#waiters.handOut(waiter, term, nowMs);
      stamp("proposal.forwarded", waiter.seq, leader);
    }
  }

  // ---- Frames about attempts ----

  /** Frames that were taken and certainly never left: attempts in them can never be executed. */
  onUnsent(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (frame.type === FrameType.Forward) {
        for (const { seq } of decodeForward(frame.body).attempts) {
          mark("replica.forward.unsent");
          this.#retry(seq);
        }
      }
    }
  }

  /** The leader has appended these attempts. */
  onForwarded({ term, appended }: Forwarded): void {
    for (const { seq, index } of appended) {
      if (this.#waiters.get(seq)?.term === term) {
        this.#waiters.appended(seq, index);
      }
    }
  }

  /** The leader has not appended these attempts and never will. */
  onForwardRefused({ seqs, reason }: ForwardRefused): void {
    for (const seq of seqs) {
      const waiter = this.#waiters.get(seq);
      if (waiter !== undefined) {
        this.#onRefused(waiter, reason);
      }
    }
  }

  /** Appends what a follower forwards, if this member leads the very term that it was meant for. */
  onForward(peer: number, boot: number, { term, attempts }: Forward): void {
    const { core, transport } = this.#options;
    const appended: { readonly seq: number; readonly index: number }[] = [];
    const refused = new Map<AppendRefusal, number[]>();
    const refuse = (reason: AppendRefusal, seqs: readonly number[]): void => {
      refused.set(reason, [...(refused.get(reason) ?? []), ...seqs]);
    };
    if (core.role !== "leader" || core.term !== term) {
      refuse(
        "not-leader",
        attempts.map(({ seq }) => seq),
      );
    } else {
      this.#appendForwarded(peer, boot, attempts, appended, refuse);
    }
    if (hasStampReader()) {
      for (const { seq, index } of appended) {
        stamp("proposal.appended", index, seq, peer);
      }
    }
    if (appended.length > 0) {
      transport.send(peer, "log", FrameType.Forwarded, encodeForwarded({ term, appended }));
    }
    for (const [reason, seqs] of refused) {
      const answer = { seqs, reason, leader: core.leader, term: core.term };
      this.#told.add(peer, boot, answer, this.#options.clock.monotonicMs());
      transport.send(peer, "log", FrameType.Refused, encodeForwardRefused(answer));
    }
  }

  /** A connection with this start of the peer is new: what it was refused may be lost with the last one. */
  onConnected(peer: number, boot: number): void {
    const { clock, transport } = this.#options;
    if (transport.isConnected(peer, "log")) {
      for (const answer of this.#told.of(peer, boot, clock.monotonicMs())) {
        transport.send(peer, "log", FrameType.Refused, encodeForwardRefused(answer));
      }
    }
  }

  #appendForwarded(
    peer: number,
    boot: number,
    attempts: Forward["attempts"],
    appended: { readonly seq: number; readonly index: number }[],
    refuse: (reason: AppendRefusal, seqs: readonly number[]) => void,
  ): void {
    const hasRoom = this.#options.hasRoom();
    const commands: { readonly payload: Uint8Array; readonly origin: Origin }[] = [];
    for (const { seq, kind, row } of attempts) {
      const origin = { memberId: peer, boot, seq };
      if (kind !== EntryType.Command) {
        const accepted = this.#proposeChange(kind as EntryType, row, origin);
        if (typeof accepted === "string") {
          refuse(accepted, [seq]);
        } else {
          appended.push({ seq, index: accepted.firstIndex });
        }
      } else if (hasRoom || !isGrowing(decodeCommand(row))) {
        commands.push({ payload: row, origin });
      } else {
        refuse("storage-full", [seq]);
      }
    }
    if (commands.length > 0) {
      const seqs = commands.map(({ origin }) => origin.seq);
      const accepted = this.#proposeCommands(commands);
      if (typeof accepted === "string") {
        refuse(accepted, seqs);
      } else {
        appended.push(...seqs.map((seq, at) => ({ seq, index: accepted.firstIndex + at })));
      }
    }
  }

  // ---- Refusals ----

  /** The attempt was certainly not appended: its caller goes on with a new one, or hears why not. */
  #onRefused(waiter: Waiter, reason: string): void {
    if (reason === "storage-full") {
      const message = "the disk of the cluster has too little room for more data; deleting still works";
      this.#waiters.refuse(waiter, new CoordinationError("STORAGE_FULL", message));
      return;
    }
    if (isDefinite(reason) && waiter.proposal.type !== EntryType.Command) {
      const cluster = readCluster(this.#options.state);
      // A member that is yet to be caught up knows no cluster; the leader that has refused does.
      const refusal =
        cluster === undefined
          ? new CoordinationError("NO_LEADER", "this member has not caught up yet; try another one")
          : refusalOfChange(reason, cluster);
      if (reason !== "change-in-progress") {
        this.#waiters.refuse(waiter, refusal);
        return;
      }
      // Most of what is in progress is over in milliseconds: the beginning of a term, or the end of the last change.
      if (waiter.handedOutMs !== null) {
        this.#retry(waiter.seq);
      }
      waiter.resting = { untilMs: this.#options.clock.monotonicMs() + REST_MS, refusal };
      return;
    }
    if (waiter.handedOutMs !== null) {
      this.#retry(waiter.seq);
    }
    this.#options.hold();
  }

  /** The attempt can never be executed: its caller goes on with a new one, while it may still be held. */
  #retry(seq: number): void {
    const waiter = this.#waiters.get(seq);
    if (waiter === undefined) {
      return;
    }
    if (waiter.isAbandoned) {
      this.#waiters.take(seq);
      return;
    }
    this.#waiters.renew(waiter);
    this.#waiting.push(waiter);
    this.#options.arm();
  }
}

/** How long one proposal to undo an acquisition may take; there is another after it. */
const CANCEL_DEADLINE_MS = 60_000;

/** A change that was refused because another is in progress is tried again after this long, in milliseconds. */
const REST_MS = 50;

/** Reasons that concern a change of the membership alone; all others concern every call. */
const DEFINITE = [
  "change-in-progress",
  "last-voter",
  "unknown-member",
  "contradictory",
  "not-founded",
  "config-changed",
  "is-leader",
  "learner-not-ready",
  "quorum-unsafe",
] as const satisfies readonly Exclude<ChangeProposalRefusal, Refusal>[];

function isDefinite(reason: string): reason is (typeof DEFINITE)[number] {
  return DEFINITE.some((definite) => definite === reason);
}
