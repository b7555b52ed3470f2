/**
 * Callers that wait for the result of an attempt to log a command, and what is certain about each attempt.
 *
 * Every attempt has a sequence number that this process never reuses. The entry carries it, and applying the entry
 * answers the waiter of that attempt and no other (P56). An attempt is handed to the leader of one term, and can only
 * become an entry of exactly that term. It is refuted, which means certainly never executed, by any of these: a
 * refusal, another entry at its index, an applied entry of a later term, or a snapshot that must contain it and has no
 * stored answer for it. Only then does the call get a new attempt. A lost connection, a new leader or stepping down
 * prove nothing (P52).
 */

import { hash } from "node:crypto";
import { RecentTable } from "../collections/index.ts";
import { EntryType } from "../raft/index.ts";
import {
  type ClientRequest,
  type ClusterOperation,
  CoordinationError,
  encodeCommand,
  encodeMembershipEntry,
  encodeRequest,
  type HttpCommand,
  type MembershipEntry,
  type Need,
  needOf,
  type Outcome,
  type Principal,
  type RequestIdentity,
} from "../state/index.ts";

export type ProposalDone = (error: CoordinationError | null, outcome: Outcome | null) => void;

/** A command that is to be logged. */
export interface Proposal {
  readonly type: EntryType;
  readonly payload: Uint8Array;
  /** The key under which its answer is stored when it is executed; null if no answer is stored. */
  readonly stored: StoredUnder | null;
  /** The client and the rights that its request needs; only for requests of clients. */
  readonly asking?: { readonly principal: Principal; readonly need: Need };
  /** Only for requests for a lock: the client and the request. The request is undone when its caller is gone. */
  readonly acquisition?: { readonly principal: Principal; readonly request: RequestIdentity };
  /** Whether it may wait for as long as others hold the lock. */
  readonly mayQueue?: boolean;
}

/** The proposal for a client's request. */
export function proposalOf(asked: ClientRequest | HttpCommand): Proposal {
  if (asked.request === null) {
    return { type: EntryType.Command, payload: encodeCommand(asked), stored: null };
  }
  const { principal, operation } = asked;
  const { payload, request } = encodeRequest(asked, sha256);
  const stored = { subject: principal.subject, request };
  const asking = { principal, need: needOf(operation) };
  const proposal = { type: EntryType.Command, payload, stored, asking };
  // Renewing a hold, or changing its mode, adds no hold that would have to be released.
  const acquires = operation.kind === "acquire-lock" && operation.fencingToken === 0;
  return acquires ? { ...proposal, acquisition: { principal, request }, mayQueue: operation.waitMs > 0 } : proposal;
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash("sha256", bytes, "buffer");
}

/** The proposal for an operation of the cluster itself or of an administrator. */
export function clusterProposalOf(operation: ClusterOperation): Proposal {
  const payload = encodeCommand({ principal: null, request: null, operation });
  const isRecognisable = "request" in operation && operation.request !== null;
  const stored = isRecognisable ? { subject: operation.subject, request: operation.request } : null;
  return { type: EntryType.Command, payload, stored };
}

/** The proposal for a change of the membership. */
export function membershipProposalOf(entry: MembershipEntry): Proposal {
  const { subject, request, operation } = entry;
  const type = operation.kind === "add-slot" ? EntryType.AddSlot : EntryType.Reconfigure;
  const stored = request === null ? null : { subject, request };
  return { type, payload: encodeMembershipEntry(entry), stored };
}

export interface StoredUnder {
  readonly subject: string;
  readonly request: RequestIdentity;
}

export interface Waiter {
  readonly deadlineMs: number;
  /** Until when the call may wait before it is handed to a log. */
  readonly holdUntilMs: number;
  readonly proposal: Proposal;
  done: ProposalDone;
  /** Sequence number of the current attempt. */
  seq: number;
  /**
   * After a refusal that concerns this call: the earliest time of the next attempt, and the refusal. Null otherwise.
   */
  resting: { readonly untilMs: number; readonly refusal: CoordinationError } | null;
  /**
   * When the attempt was handed out; null before. From then on its outcome is unknown until it is applied or refuted.
   */
  handedOutMs: number | null;
  /** Term in which it was handed out, and the index of its entry; 0 = not known. */
  term: number;
  index: number;
  /** The entry of the attempt was applied here: nothing can refute it any more, and its answer follows. */
  isApplied: boolean;
  /** It was applied and waits for a lock: another entry will answer it. */
  isQueued: boolean;
  /** The caller is gone; only the effect of the attempt still has to be undone. */
  isAbandoned: boolean;
}

/** What a snapshot shows about a waiting attempt whose entry may be in it. */
export type SnapshotVerdict = { readonly outcome: Outcome } | "refuted" | "wait" | "unknown";

/** Without a usable leader, a call waits at a member for at most this long, in milliseconds (S36). */
const HOLD_MS_MAX = 3_000;
/** A call never waits into the last share of its deadline, which is at least `RESERVE_MS_MIN` long (S36). */
const RESERVE_SHARE = 0.1;
const RESERVE_MS_MIN = 50;

/** Until when a call that arrives now may wait for a leader. */
export function holdUntil(nowMs: number, deadlineMs: number): number {
  const reserveMs = Math.max(RESERVE_MS_MIN, (deadlineMs - nowMs) * RESERVE_SHARE);
  return Math.min(nowMs + HOLD_MS_MAX, deadlineMs - reserveMs);
}

export class Waiters {
  readonly #bySeq = new RecentTable<Waiter>();
  /** Waiters whose index is known. */
  readonly #byIndex = new RecentTable<Waiter>();
  #seq = 0;
  /** Number of waiters that may wait for a lock. */
  #queueing = 0;
  /** Term of the last entry that was applied here. */
  #appliedTerm = 0;

  /** Number of waiters, without those that may wait for a lock. */
  get size(): number {
    return this.#bySeq.size - this.#queueing;
  }

  /** Number of waiters that may wait for a lock, whether they do so already or not. */
  get queueing(): number {
    return this.#queueing;
  }

  add(nowMs: number, deadlineMs: number, proposal: Proposal, done: ProposalDone): Waiter {
    this.#seq++;
    const waiter: Waiter = {
      deadlineMs,
      holdUntilMs: holdUntil(nowMs, deadlineMs),
      proposal,
      done,
      seq: this.#seq,
      resting: null,
      handedOutMs: null,
      term: 0,
      index: 0,
      isApplied: false,
      isQueued: false,
      isAbandoned: false,
    };
    this.#remember(waiter);
    return waiter;
  }

  /** Whether it still waits. */
  has(waiter: Waiter): boolean {
    return this.#bySeq.get(waiter.seq) === waiter;
  }

  /** The waiter of this attempt, if it still waits. */
  get(seq: number): Waiter | undefined {
    return this.#bySeq.get(seq);
  }

  /** The attempt was handed to the leader of this term. */
  handOut(waiter: Waiter, term: number, nowMs: number): void {
    waiter.handedOutMs = nowMs;
    waiter.term = term;
  }

  /** The leader has appended the attempt at this index. */
  appended(seq: number, index: number): void {
    const waiter = this.#bySeq.get(seq);
    if (waiter !== undefined && waiter.index === 0) {
      waiter.index = index;
      this.#byIndex.set(index, waiter);
    }
  }

  /**
   * An entry was applied here; `seq` is its attempt if it is one of this process, else 0. Returns the waiters that it
   * refutes: the one whose index it has but whose attempt it is not, and those of an earlier term. Marks the waiter
   * whose attempt it is as applied, because further entries may be reported before its answer is given.
   */
  refutedBy(index: number, term: number, seq: number): readonly Waiter[] {
    const own = seq === 0 ? undefined : this.#bySeq.get(seq);
    if (own !== undefined) {
      own.isApplied = true;
    }
    const atIndex = this.#byIndex.get(index);
    const isNewTerm = term > this.#appliedTerm;
    if (atIndex === undefined && !isNewTerm) {
      return NO_WAITERS;
    }
    this.#appliedTerm = term;
    const refuted: Waiter[] = [];
    if (atIndex !== undefined && !atIndex.isApplied) {
      refuted.push(atIndex);
    }
    if (isNewTerm) {
      for (const waiter of this.#bySeq.values()) {
        const isOver = waiter.handedOutMs !== null && waiter.term < term && !waiter.isApplied;
        if (isOver && waiter !== atIndex) {
          refuted.push(waiter);
        }
      }
    }
    return refuted;
  }

  /**
   * A snapshot of the entry (index, term) replaced the state, so this member has not seen the entries in between.
   * Returns the waiters whose entry may be in it. `isCertain` is true for those that are in it or never will be in the
   * log.
   */
  coveredBy(index: number, term: number): { readonly waiter: Waiter; readonly isCertain: boolean }[] {
    const covered: { readonly waiter: Waiter; readonly isCertain: boolean }[] = [];
    for (const waiter of this.#bySeq.values()) {
      const isBehind = waiter.index !== 0 && waiter.index > index;
      if (waiter.handedOutMs !== null && term >= waiter.term && !isBehind) {
        covered.push({ waiter, isCertain: waiter.index !== 0 || term > waiter.term });
      }
    }
    return covered;
  }

  /** The current attempt can never be executed: the waiter continues with a new one. */
  renew(waiter: Waiter): void {
    this.#forget(waiter);
    this.#seq++;
    waiter.seq = this.#seq;
    waiter.handedOutMs = null;
    waiter.term = 0;
    waiter.index = 0;
    this.#remember(waiter);
  }

  /** The caller is gone, or got the answer that the outcome is unknown. */
  abandon(waiter: Waiter): void {
    waiter.isAbandoned = true;
    waiter.done = () => undefined;
  }

  /** Removes and returns the waiter of an applied attempt, if it still waits. The caller of this must answer it. */
  take(seq: number): Waiter | undefined {
    const waiter = this.#bySeq.get(seq);
    if (waiter !== undefined) {
      this.#forget(waiter);
    }
    return waiter;
  }

  refuse(waiter: Waiter, error: CoordinationError): void {
    if (this.has(waiter)) {
      this.#forget(waiter);
      waiter.done(error, null);
    }
  }

  /**
   * Refuses waiters that have waited too long. `nextMs` is when this is called again: a waiter that may not wait until
   * then is refused now. `heldReason` is the refusal for calls that have none of their own. Returns the late requests
   * for a lock: they stay here, because the effect of their attempts has to be undone.
   */
  expire(nowMs: number, nextMs: number, heldReason: () => CoordinationError): readonly Waiter[] {
    const late: Waiter[] = [];
    for (const waiter of this.#bySeq.values()) {
      if (waiter.handedOutMs !== null && waiter.deadlineMs <= nowMs) {
        if (waiter.proposal.acquisition !== undefined) {
          late.push(waiter);
          continue;
        }
        this.refuse(waiter, deadlineError(waiter.proposal.stored !== null));
      } else if (waiter.handedOutMs === null && waiter.holdUntilMs < nextMs) {
        this.refuse(waiter, waiter.resting?.refusal ?? heldReason());
      }
    }
    return late;
  }

  /**
   * Refuses all waiters, because this process stops. Attempts that were handed out may have been, or may yet be,
   * executed.
   */
  refuseAll(): void {
    for (const waiter of this.#bySeq.values()) {
      const outcome = waiter.handedOutMs !== null ? "unknown" : "not-executed";
      this.refuse(waiter, new CoordinationError("SHUTTING_DOWN", "this member is shutting down", { outcome }));
    }
  }

  #remember(waiter: Waiter): void {
    this.#bySeq.set(waiter.seq, waiter);
    this.#queueing += waiter.proposal.mayQueue === true ? 1 : 0;
  }

  #forget(waiter: Waiter): void {
    this.#bySeq.delete(waiter.seq);
    this.#queueing -= waiter.proposal.mayQueue === true ? 1 : 0;
    if (waiter.index !== 0 && this.#byIndex.get(waiter.index) === waiter) {
      this.#byIndex.delete(waiter.index);
    }
  }
}

const NO_WAITERS: readonly Waiter[] = [];

/**
 * The deadline ended while the outcome was open (S12). A request without an id cannot be deduplicated when it is
 * retried.
 */
export function deadlineError(hasRequestId = true): CoordinationError {
  const advice = hasRequestId ? "sending the same request-id again returns it" : "it may have been executed";
  return new CoordinationError("DEADLINE", `the deadline ended before the result was known; ${advice}`, {
    outcome: "unknown",
  });
}
