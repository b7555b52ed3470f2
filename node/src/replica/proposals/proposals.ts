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
} from "../../peers/index.ts";
import { invariant, mark } from "../../primitives/index.ts";
import {
  type ChangeProposalRefusal,
  EntryType,
  encodeEntry,
  entryIndex,
  entryTerm,
  isJoint,
  type ProposalOrigin,
  type Proposed,
  type Refusal,
} from "../../raft/index.ts";
import {
  accessesOf,
  acquisitionOutcome,
  CoordinationError,
  changeOf,
  decodeCommand,
  decodeMembershipEntry,
  isGrowing,
  type Outcome,
  type ReadContext,
  readCluster,
  readProgress,
  refusalOf,
  refusalOfChange,
  type StateLimits,
  type StateReader,
  storedOutcome,
} from "../../state/index.ts";
import type { RequestTrace } from "../../tracing/index.ts";
import type { AppliedEntry } from "../apply/index.ts";
import {
  clusterProposalOf,
  type Proposal,
  type ProposalDone,
  type ReplicaContext,
  type ReplicaLimits,
} from "../context/index.ts";
import { HeldCalls } from "./held-calls.ts";
import { RefusalResendBuffer } from "./refusal-resend-buffer.ts";
import {
  type AttemptedWaiter,
  deadlineError,
  type HandedOut,
  type Held,
  type Provisional,
  type Waiter,
  Waiters,
} from "./waiters.ts";

/** What this part shares with others; it only reads the state. */
export type ProposalsContext = Pick<
  ReplicaContext,
  "memberId" | "boot" | "core" | "transport" | "clock" | "tick" | "statistics" | "timeline" | "arm"
> & {
  readonly state: StateReader;
  readonly limits: Pick<ReplicaLimits, "proposalsPerTurn" | "proposalWorkMax"> & {
    readonly state: Pick<StateLimits, "replayWindowMs">;
  };
};

export interface ProposalsOptions {
  /** Index of the newest configuration that a majority durably knows as committed. */
  readonly quorumKnownConfigIndex: () => number;
  /** Whether the disks have space for commands that make the state larger. */
  readonly hasCapacity: () => boolean;
  /** Pauses proposals until the next tick, because a retry would be refused again at once. */
  readonly backOff: () => void;
}

/** Why a leader did not append an attempt. */
type AppendRefusal = Refusal | ChangeProposalRefusal | "storage-full";

/** What a snapshot shows about a waiting attempt whose entry may be in it. */
type SnapshotVerdict = { readonly outcome: Outcome } | "refuted" | "wait" | "unknown";

export class Proposals {
  readonly #context: ProposalsContext;
  readonly #options: ProposalsOptions;
  readonly #held: HeldCalls<Held>;
  readonly #waiters: Waiters;
  /** Applied changes of the membership that are joint, or that a majority may still forget. */
  #provisional: Provisional[] = [];
  /** Recent refusals that this member has sent to others. */
  readonly #sentRefusals = new RefusalResendBuffer();

  constructor(context: ProposalsContext, options: ProposalsOptions) {
    this.#context = context;
    this.#options = options;
    this.#held = new HeldCalls<Held>(context.limits.proposalWorkMax, context.arm);
    this.#waiters = new Waiters(this.#held);
  }

  /** Waiting calls, without those that may wait for a lock. */
  get size(): number {
    return this.#waiters.size + this.#provisional.length;
  }

  /** Calls that may wait for a lock. They last as long as others hold it. */
  get queueing(): number {
    return this.#waiters.queueing;
  }

  /** Returns a function to call when the caller is gone. */
  add(proposal: Proposal, deadlineMs: number, done: ProposalDone, trace: RequestTrace | null = null): () => void {
    const { clock, statistics } = this.#context;
    const nowMs = clock.monotonicMs();
    const waiter = this.#waiters.add(nowMs, deadlineMs, proposal, statistics.counted(done), trace);
    if (trace !== null) {
      trace.queuedMs = nowMs;
    }
    this.#context.arm();
    return () => this.#abandon(waiter);
  }

  // ---- Outcomes of attempts ----

  /**
   * An entry is applied and readable: answers the caller of its attempt, and callers whose wait for a lock it ended.
   */
  answerAll({ seq, outcome, endedWaits }: Pick<AppliedEntry, "seq" | "outcome" | "endedWaits">): void {
    if (seq !== 0) {
      this.answer(seq, outcome);
    }
    for (const attempt of endedWaits) {
      mark("replica.acquisition.settled");
      this.answer(attempt.seq, attempt.outcome);
    }
  }

  /** An attempt of this process is applied: answers its caller, unless the outcome is that it waits for a lock. */
  answer(seq: number, outcome: Outcome | null): void {
    const waiter = this.#waiters.get(seq);
    if (waiter === undefined) {
      return;
    }
    invariant(waiter.state !== "held", "an attempt with an outcome was handed out");
    if (waiter.done === null) {
      // The caller does not know the outcome, so it must be undone.
      this.#cancel(waiter);
      return;
    }
    if (outcome !== null && "kind" in outcome.answer && outcome.answer.kind === "queued-lock") {
      this.#waiters.queue(waiter);
      if (waiter.trace !== null) {
        waiter.trace.lockQueuedMs = this.#context.clock.monotonicMs();
      }
      mark("replica.acquisition.queued");
      return;
    }
    if (waiter.trace !== null) {
      waiter.trace.decidedMs = this.#context.clock.monotonicMs();
    }
    const isRefused = outcome === null || outcome.answer instanceof CoordinationError;
    if (waiter.proposal.type === EntryType.Command || isRefused) {
      this.#waiters.answer(waiter, outcome);
    } else {
      this.#provisional.push(this.#waiters.makeProvisional(waiter, outcome));
    }
  }

  /**
   * Answers changes of the membership that are final: no longer joint, and durably known to a majority, so that removed
   * members may be destroyed (P18). Also answers those whose deadline has passed.
   */
  answerFinalChanges(nowMs: number): void {
    if (this.#provisional.length === 0) {
      return;
    }
    const { core } = this.#context;
    const { quorumKnownConfigIndex } = this.#options;
    const isFinal = !isJoint(core.configuration) && core.configuration.index <= quorumKnownConfigIndex();
    for (const waiter of this.#provisional.splice(0)) {
      if (isFinal) {
        this.#waiters.answer(waiter, waiter.outcome);
      } else if (waiter.deadlineMs > nowMs) {
        this.#provisional.push(waiter);
      } else {
        // The change is in progress, and the members that it removes may still be needed, so it is not a success.
        this.#waiters.refuse(waiter, deadlineError());
      }
    }
  }

  /** This member was removed, and others say so only when that lasts: answers the changes that it has applied. */
  answerAfterRemoval(): void {
    if (!isJoint(this.#context.core.configuration)) {
      for (const waiter of this.#provisional.splice(0)) {
        this.#waiters.answer(waiter, waiter.outcome);
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
      const verdict = this.#snapshotVerdict(waiter, isCertain);
      if (verdict === "refuted") {
        mark("replica.attempt.refuted-by-snapshot");
        this.#retry(waiter.seq);
      } else if (verdict === "unknown" && waiter.done === null) {
        this.#cancel(waiter);
      } else if (verdict === "unknown") {
        const message = "this member caught up by a snapshot, which does not show the result of the call";
        this.#waiters.refuse(waiter, new CoordinationError("LEADER_CHANGED", message, { outcome: "unknown" }));
      } else if (verdict !== "wait") {
        mark("replica.attempt.answered-by-snapshot");
        this.answer(waiter.seq, verdict.outcome);
      }
    }
  }

  /** What the new state shows about an attempt that may be in it. */
  #snapshotVerdict(waiter: AttemptedWaiter, isCertain: boolean): SnapshotVerdict {
    const { proposal, handedOutMs } = waiter;
    const { state, clock, limits } = this.#context;
    if (proposal.acquisition !== undefined) {
      return this.#acquisitionVerdict(waiter, proposal.acquisition, isCertain);
    }
    const ageMs = clock.monotonicMs() - handedOutMs;
    // The answer may have expired already, so its absence proves nothing.
    if (proposal.stored === null || ageMs > limits.state.replayWindowMs / 2) {
      return "unknown";
    }
    const { subject, request } = proposal.stored;
    const outcome = storedOutcome(state, subject, request, this.#readContext());
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
    const { state, clock } = this.#context;
    if (asking === undefined) {
      return true;
    }
    const { principal, operation } = asking;
    const wallMs = clock.wallMs();
    return accessesOf(operation, principal).every((need) => refusalOf(state, principal, need, wallMs) === null);
  }

  /** The same for a request for a lock. Its stored answer lives as long as the request waits or holds the lock. */
  #acquisitionVerdict(
    { state: waiterState, seq, handedOutMs, proposal }: AttemptedWaiter,
    { principal, request }: NonNullable<Proposal["acquisition"]>,
    isCertain: boolean,
  ): SnapshotVerdict {
    const { memberId, boot, state, clock, limits } = this.#context;
    const attempt = { memberId, boot, seq };
    const outcome = acquisitionOutcome(state, { principal, request, attempt }, this.#readContext());
    if (outcome !== null) {
      mark("replica.acquisition.found-in-snapshot");
      // Anything but a refusal is the outcome of this very attempt.
      const isOwn = !(outcome.answer instanceof CoordinationError);
      return isOwn || this.#mayKnow(proposal) ? { outcome } : "unknown";
    }
    const ageMs = clock.monotonicMs() - handedOutMs;
    if (waiterState !== "handed-out" || ageMs > limits.state.replayWindowMs / 2) {
      return "unknown";
    }
    return isCertain ? "refuted" : "wait";
  }

  #readContext(): ReadContext {
    const { state, tick, limits } = this.#context;
    const sinceMs = tick.nowMs - limits.state.replayWindowMs;
    return { tickMs: tick.nowMs, sinceMs, revision: readProgress(state).revision };
  }

  /** Refuses calls that have waited too long; `nextMs` is when this is called again. */
  expire(nowMs: number, nextMs: number, waitReason: () => CoordinationError): void {
    const reasonOf = (call: Held): CoordinationError => {
      return this.#held.hasRoom(call) ? waitReason() : new CoordinationError("OVERLOADED", TOO_MANY_WRITES);
    };
    for (const { waiter, done } of this.#waiters.expire(nowMs, nextMs, reasonOf)) {
      this.#abandon(waiter);
      done(deadlineError(), null);
    }
    this.#held.forgetEnded();
  }

  /** Ends all waiting: this process stops. */
  refuseAll(): void {
    this.#waiters.refuseAll();
    this.#held.forgetEnded();
    for (const waiter of this.#provisional.splice(0)) {
      const message = "this member is shutting down while the change is in progress";
      this.#waiters.refuse(waiter, new CoordinationError("SHUTTING_DOWN", message, { outcome: "unknown" }));
    }
  }

  // ---- Callers that are gone ----

  /** The caller is gone: drops an attempt that is in no log yet, and undoes a request for a lock (S25). */
  #abandon(waiter: Waiter): void {
    if (waiter.state === "held") {
      this.#waiters.drop(waiter);
    } else if (waiter.state === "queued") {
      this.#cancel(waiter);
    } else if (waiter.state === "handed-out" || waiter.state === "applied") {
      // The attempt may still be applied, or its answer is on its way. Its entry decides, or what refutes it.
      this.#waiters.abandon(waiter);
    }
  }

  /** The attempt was applied and its caller is gone: proposes to undo it, and retries until that is in the log. */
  #cancel(waiter: AttemptedWaiter): void {
    this.#waiters.drop(waiter);
    const { memberId, boot } = this.#context;
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
      const deadlineMs = this.#context.clock.monotonicMs() + CANCEL_DEADLINE_MS;
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
    const { leader, role, term } = this.#context.core;
    if (role !== "leader" && (role !== "follower" || leader === 0)) {
      return;
    }
    const { proposalsPerTurn } = this.#context.limits;
    const batch = this.#held.take(this.#context.clock.monotonicMs(), proposalsPerTurn);
    if (batch.length === 0) {
      return;
    }
    if (role === "leader") {
      this.#proposeHere(batch);
    } else {
      this.#forward(batch, leader, term);
    }
    this.#held.putBack(batch);
    if (batch.length === proposalsPerTurn) {
      this.#context.arm();
    }
  }

  #proposeHere(batch: readonly Held[]): void {
    const { memberId, boot } = this.#context;
    const originOf = ({ seq }: Held): ProposalOrigin => ({ memberId, boot, seq });
    const commands = batch.filter((waiter) => waiter.proposal.type === EntryType.Command && this.#admits(waiter));
    if (commands.length > 0) {
      const accepted = this.#proposeCommands(
        commands.map((waiter) => ({ payload: waiter.proposal.payload, origin: originOf(waiter) })),
      );
      if (typeof accepted === "string") {
        // Nothing was appended. The calls wait for capacity or for their deadline.
        mark("replica.propose.held");
        this.#options.backOff();
        return;
      }
      for (const [at, waiter] of commands.entries()) {
        this.#onAppended(waiter, accepted.term, accepted.firstIndex + at);
      }
      this.#noteAppended(0, accepted.term, accepted.firstIndex, commands.length, 0);
    }
    for (const waiter of batch) {
      if (waiter.proposal.type !== EntryType.Command) {
        const accepted = this.#proposeChange(waiter.proposal.type, waiter.proposal.payload, originOf(waiter));
        if (typeof accepted !== "string") {
          this.#onAppended(waiter, accepted.term, accepted.firstIndex);
          this.#noteAppended(0, accepted.term, accepted.firstIndex, 1, 0);
        } else {
          this.#onRefused(waiter, accepted);
        }
      }
    }
  }

  /** Whether there is disk space for the command; refuses it if not. */
  #admits(waiter: Held): boolean {
    if (this.#options.hasCapacity() || !isGrowing(decodeCommand(waiter.proposal.payload))) {
      return true;
    }
    this.#onRefused(waiter, "storage-full");
    return false;
  }

  #onAppended(waiter: Held, term: number, index: number): void {
    const nowMs = this.#context.clock.monotonicMs();
    this.#waiters.handOut(waiter, term, nowMs);
    this.#waiters.appended(waiter.seq, term, index);
    if (waiter.trace !== null) {
      waiter.trace.onHandedOut(nowMs, 0, term);
      waiter.trace.index = index;
    }
  }

  #proposeCommands(commands: readonly { readonly payload: Uint8Array; readonly origin: ProposalOrigin }[]) {
    const { core, tick, clock } = this.#context;
    const tickMs = tick.nowMs;
    const wallMs = clock.wallMs();
    return core.propose(
      commands.map(({ payload, origin }) => encodeEntry(EntryType.Command, { tickMs, wallMs, origin }, payload)),
    );
  }

  #proposeChange(type: EntryType, payload: Uint8Array, origin: ProposalOrigin): Proposed | ChangeProposalRefusal {
    const { core, state, tick, clock } = this.#context;
    const { operation, expectIndex } = decodeMembershipEntry(payload);
    const members = readCluster(state)?.members ?? [];
    const isClaimed = (id: number): boolean => members.some((one) => one.id === id && one.incarnation.length > 0);
    const row = encodeEntry(type, { tickMs: tick.nowMs, wallMs: clock.wallMs(), origin }, payload);
    return core.proposeChange(row, changeOf(operation), expectIndex, isClaimed);
  }

  /** Forwards the calls to the leader of this term. Each attempt can only become an entry of that term. */
  #forward(batch: readonly Held[], leader: number, term: number): void {
    const { transport, clock } = this.#context;
    const attempts = batch.map(({ seq, proposal }) => ({ seq, kind: proposal.type, row: proposal.payload }));
    if (!transport.send(leader, "log", FrameType.Forward, encodeForward({ term, attempts }))) {
      mark("replica.forward.held");
      this.#options.backOff();
      return;
    }
    this.#context.statistics.forwarded += batch.length;
    const nowMs = clock.monotonicMs();
    for (const waiter of batch) {
      this.#waiters.handOut(waiter, term, nowMs);
      waiter.trace?.onHandedOut(nowMs, leader, term);
    }
  }

  // ---- Frames about attempts ----

  /** Frames to the peer were dropped, or the connection that carried them has ended. */
  onUnreachable(peer: number): void {
    if (peer === this.#context.core.leader) {
      this.#waiters.closeAll();
    }
  }

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
      this.#waiters.appended(seq, term, index);
      if (this.#context.timeline !== null) {
        this.#waiters.get(seq)?.trace?.onReported(this.#context.clock.monotonicMs(), index);
      }
    }
  }

  /** The leader has not appended these attempts and never will. */
  onForwardRefused({ seqs, reason }: ForwardRefused): void {
    for (const seq of seqs) {
      const waiter = this.#waiters.get(seq);
      if (waiter?.state === "handed-out") {
        this.#onRefused(waiter, reason);
      }
    }
  }

  /**
   * Appends forwarded attempts if this member leads exactly the term that they name.
   *
   * @param arrivedMs only for traces.
   */
  onForward(peer: number, boot: number, { term, attempts }: Forward, arrivedMs = 0): void {
    const { core, transport } = this.#context;
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
    if (appended.length > 0) {
      this.#noteAppended(peer, term, appended[0]?.index ?? 0, appended.length, arrivedMs);
      transport.send(peer, "log", FrameType.Forwarded, encodeForwarded({ term, appended }));
    }
    for (const [reason, seqs] of refused) {
      const answer = { seqs, reason, leader: core.leader, term: core.term };
      this.#sentRefusals.add(peer, boot, answer, this.#context.clock.monotonicMs());
      transport.send(peer, "log", FrameType.Refused, encodeForwardRefused(answer));
    }
  }

  /** Notes entries for traces. `source` 0 = calls of this member, which have no time of arrival. */
  #noteAppended(source: number, term: number, first: number, count: number, arrivedMs: number): void {
    const { timeline, clock } = this.#context;
    timeline?.onAppended(first, count, source, term, arrivedMs, clock.monotonicMs());
  }

  /** This process of the peer has connected again: repeats recent refusals, which the last connection may have lost. */
  onConnected(peer: number, boot: number): void {
    const { clock, transport } = this.#context;
    if (transport.isConnected(peer, "log")) {
      for (const answer of this.#sentRefusals.of(peer, boot, clock.monotonicMs())) {
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
    const hasCapacity = this.#options.hasCapacity();
    const commands: { readonly payload: Uint8Array; readonly origin: ProposalOrigin }[] = [];
    for (const { seq, kind, row } of attempts) {
      const origin = { memberId: peer, boot, seq };
      if (kind !== EntryType.Command) {
        const accepted = this.#proposeChange(kind as EntryType, row, origin);
        if (typeof accepted === "string") {
          refuse(accepted, [seq]);
        } else {
          appended.push({ seq, index: accepted.firstIndex });
        }
      } else if (hasCapacity || !isGrowing(decodeCommand(row))) {
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
  #onRefused(waiter: Held | HandedOut, reason: string): void {
    if (reason === "storage-full") {
      const message = "the disks of the cluster have too little space for more data; deleting still works";
      this.#waiters.refuse(waiter, new CoordinationError("STORAGE_FULL", message));
      return;
    }
    if (isDefinite(reason) && waiter.proposal.type !== EntryType.Command) {
      const cluster = readCluster(this.#context.state);
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
      const held = waiter.state === "held" ? waiter : this.#retry(waiter.seq);
      if (held !== null) {
        this.#waiters.rest(held, this.#context.clock.monotonicMs() + RETRY_DELAY_MS, refusal);
      }
      return;
    }
    if (waiter.state === "handed-out") {
      this.#retry(waiter.seq);
    }
    this.#options.backOff();
  }

  /**
   * The attempt can never be executed: its call continues with a new attempt, while it may still wait. Returns the call
   * if it does.
   */
  #retry(seq: number): Held | null {
    const waiter = this.#waiters.get(seq);
    if (waiter?.state !== "handed-out") {
      return null;
    }
    if (waiter.done === null) {
      this.#waiters.drop(waiter);
      return null;
    }
    const held = this.#waiters.renew(waiter);
    this.#context.arm();
    return held;
  }
}

const TOO_MANY_WRITES = "this member has many writes that are not in the log yet; try again later";

/** Deadline of one proposal to undo an acquisition, in milliseconds; another one follows. */
const CANCEL_DEADLINE_MS = 60_000;

/** A change that was refused because another one is in progress is retried after this long, in milliseconds. */
const RETRY_DELAY_MS = 50;

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
