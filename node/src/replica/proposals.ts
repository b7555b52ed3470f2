/**
 * Calls that are to be logged: proposed here when this member leads, forwarded to the leader otherwise.
 *
 * A forwarded attempt names the term of its leader. That leader appends it in exactly this term, or answers that it
 * never will. An attempt is never forwarded again, and never sent twice (S36). After a temporary refusal the call waits
 * for a leader, for capacity, or for its deadline. A change of the membership is answered when it is applied and its
 * joint configuration has ended.
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
import { mark } from "../primitives/index.ts";
import {
  type ChangeProposalRefusal,
  EntryType,
  encodeEntry,
  entryIndex,
  entryTerm,
  isJoint,
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
  /** Index of the newest configuration that a majority durably knows as committed. */
  readonly lastingConfigIndex: () => number;
  /** Commands, and their bytes, that one turn hands out. */
  readonly perTurn: number;
  readonly bytesPerTurn: number;
  /** How long answers are stored, in cluster milliseconds. */
  readonly replayWindowMs: number;
  /** Whether the disks have space for commands that make the state larger. */
  readonly hasRoom: () => boolean;
  /** Schedules another turn, because there is more to hand out. */
  readonly arm: () => void;
  /** Pauses proposals until the next tick, because a retry would be refused again at once. */
  readonly hold: () => void;
}

/** Why a leader did not append an attempt. */
type AppendRefusal = Refusal | ChangeProposalRefusal | "storage-full";

/** An applied change of the membership that is not final yet: it is joint, or a majority may still forget it. */
interface Settling {
  readonly done: ProposalDone;
  readonly outcome: Outcome;
  readonly deadlineMs: number;
}

export class Proposals {
  readonly #options: ProposalsOptions;
  readonly #waiters = new Waiters();
  /** Calls whose current attempt is not handed out, in the order of their arrival. */
  #waiting: Waiter[] = [];
  #settling: Settling[] = [];
  /** Recent refusals that this member has sent to others. */
  readonly #told = new ToldRefusals();

  constructor(options: ProposalsOptions) {
    this.#options = options;
  }

  /** Waiting calls, without those that may wait for a lock. */
  get size(): number {
    return this.#waiters.size + this.#settling.length;
  }

  /** Calls that may wait for a lock. They last as long as others hold it. */
  get queueing(): number {
    return this.#waiters.queueing;
  }

  /** Returns a function to call when the caller is gone. */
  add(proposal: Proposal, deadlineMs: number, done: ProposalDone): () => void {
    const { clock, statistics } = this.#options;
    const waiter = this.#waiters.add(clock.monotonicMs(), deadlineMs, proposal, statistics.counted(done));
    this.#waiting.push(waiter);
    stamp("proposal.queued", waiter.seq);
    this.#options.arm();
    return () => this.#abandon(waiter);
  }

  // ---- Outcomes of attempts ----

  /**
   * An entry is applied and readable: answers the caller of its attempt, and callers whose wait for a lock it ended.
   */
  answerAll({ seq, outcome, settled }: Pick<AppliedEntry, "seq" | "outcome" | "settled">): void {
    if (seq !== 0) {
      this.answer(seq, outcome);
    }
    for (const attempt of settled) {
      mark("replica.acquisition.settled");
      this.answer(attempt.seq, attempt.outcome);
    }
  }

  /** An attempt of this process is applied: answers its caller, unless the outcome is that it waits for a lock. */
  answer(seq: number, outcome: Outcome | null): void {
    const isQueued = outcome !== null && "kind" in outcome.answer && outcome.answer.kind === "queued-lock";
    const waiter = isQueued ? this.#waiters.get(seq) : this.#waiters.take(seq);
    if (waiter === undefined) {
      return;
    }
    if (waiter.isAbandoned) {
      // The caller does not know the outcome, so it must be undone.
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
   * Answers changes of the membership that are final: no longer joint, and durably known to a majority, so that removed
   * members may be destroyed (P18). Also answers those whose deadline has passed.
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
        // The change is in progress, and the members that it removes may still be needed, so it is not a success.
        one.done(deadlineError(), null);
      }
    }
  }

  /** This member was removed, and others say so only when that lasts: answers the changes that it has applied. */
  settleRemoved(): void {
    if (!isJoint(this.#options.core.configuration)) {
      for (const { done, outcome } of this.#settling.splice(0)) {
        done(null, outcome);
      }
    }
  }

  /**
   * An entry was applied; `seq` is its attempt if it is one of this process, else 0. Retries attempts that it refutes.
   */
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
        const message = "this member caught up by a snapshot, which does not show the result of the call";
        this.#waiters.refuse(waiter, new CoordinationError("LEADER_CHANGED", message, { outcome: "unknown" }));
      } else if (verdict !== "wait") {
        mark("replica.attempt.answered-by-snapshot");
        // Also for a call that waits for a lock: nothing refutes it any more.
        waiter.isApplied = true;
        this.answer(waiter.seq, verdict.outcome);
      }
    }
  }

  /** What the new state shows about an attempt that may be in it. */
  #judge(waiter: Waiter, isCertain: boolean): SnapshotVerdict {
    const { proposal, handedOutMs } = waiter;
    const { state, clock, replayWindowMs } = this.#options;
    if (proposal.acquisition !== undefined) {
      return this.#judgeAcquisition(waiter, proposal.acquisition, isCertain);
    }
    const ageMs = clock.monotonicMs() - (handedOutMs ?? 0);
    // The answer may have expired already, so its absence proves nothing.
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
   * Whether the caller still has the right to ask. If not, the stored answer may be an old one that the caller must not
   * see again, and this attempt may have been refused. The state does not show which (S13).
   */
  #mayKnow({ asking }: Proposal): boolean {
    const { state, clock } = this.#options;
    return asking === undefined || refusalOf(state, asking.principal, asking.need, clock.wallMs()) === null;
  }

  /** The same for a request for a lock. Its stored answer lives as long as the request waits or holds the lock. */
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
      // Anything but a refusal is the outcome of this very attempt.
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

  /** Refuses calls that have waited too long; `nextMs` is when this is called again. */
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
      const message = "this member is shutting down while the change is in progress";
      done(new CoordinationError("SHUTTING_DOWN", message, { outcome: "unknown" }), null);
    }
  }

  // ---- Callers that are gone ----

  /** The caller is gone: drops an attempt that is in no log yet, and undoes a request for a lock (S25). */
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
    // Otherwise the attempt may still be applied. Its entry decides, or what refutes it.
  }

  /** The attempt was applied and its caller is gone: proposes to undo it, and retries until that is in the log. */
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
        // Undoing is idempotent, so an unknown outcome is retried too.
        if (error !== null && error.reason !== "SHUTTING_DOWN") {
          propose();
        }
      });
    };
    propose();
  }

  // ---- Handing out ----

  /** Hands out waiting calls, within the limits of one turn. */
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

  /** The oldest ready calls that fit into one turn. */
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
        // Nothing was appended. The calls wait for capacity or for their deadline.
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

  /** Whether there is disk space for the command; refuses it if not. */
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

  /** Forwards the calls to the leader of this term. Each attempt can only become an entry of that term. */
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

  /** Frames that the transport took and certainly never sent: their attempts can never be executed. */
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

  /** Appends forwarded attempts if this member leads exactly the term that they name. */
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

  /** This process of the peer has connected again: repeats recent refusals, which the last connection may have lost. */
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

  /** The attempt was certainly not appended: its call continues with a new attempt, or is refused with the reason. */
  #onRefused(waiter: Waiter, reason: string): void {
    if (reason === "storage-full") {
      const message = "the disks of the cluster have too little space for more data; deleting still works";
      this.#waiters.refuse(waiter, new CoordinationError("STORAGE_FULL", message));
      return;
    }
    if (isDefinite(reason) && waiter.proposal.type !== EntryType.Command) {
      const cluster = readCluster(this.#options.state);
      // A member that has not caught up yet knows no cluster, unlike the leader that refused.
      const refusal =
        cluster === undefined
          ? new CoordinationError("NO_LEADER", "this member has not caught up yet; try another one")
          : refusalOfChange(reason, cluster);
      if (reason !== "change-in-progress") {
        this.#waiters.refuse(waiter, refusal);
        return;
      }
      // Most changes in progress end within milliseconds: the begin of a term, or the end of the last change.
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

  /** The attempt can never be executed: its call continues with a new attempt, while it may still wait. */
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

/** Deadline of one proposal to undo an acquisition, in milliseconds; another one follows. */
const CANCEL_DEADLINE_MS = 60_000;

/** A change that was refused because another one is in progress is retried after this long, in milliseconds. */
const REST_MS = 50;

/** Reasons that concern only changes of the membership; all others concern every call. */
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
