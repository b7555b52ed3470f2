/**
 * Who waits for the result of an attempt to log a command, and what is certain about it meanwhile.
 *
 * Every attempt has a sequence number that this process never uses twice; the entry carries it, and applying an entry
 * with a waiting attempt's origin answers that waiter and nobody else (P56). An attempt is handed to the leader of one
 * term and can only become an entry of exactly that term. So it is refuted, certainly never executed, by a refusal, by
 * another entry at the index that it was given, by any applied entry of a later term, or by a snapshot that must hold
 * it and has no answer stored for it; only then is a new attempt made. A lost connection, a new leader or stepping down
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

/** What is to be logged. */
export interface Proposal {
  readonly type: EntryType;
  readonly payload: Uint8Array;
  /** Under what its answer is stored when it is executed; null if none is. */
  readonly stored: StoredUnder | null;
  /** Who asks for it and what that takes, if it is a client's request. */
  readonly asking?: { readonly principal: Principal; readonly need: Need };
  /** Whose request for a lock it is, if it is one: then what it leads to is undone when its caller is gone. */
  readonly acquisition?: { readonly principal: Principal; readonly request: RequestIdentity };
  /** It may last as long as others hold what it asks for. */
  readonly mayQueue?: boolean;
}

/** A client's request as what is to be logged. */
export function proposalOf(asked: ClientRequest | HttpCommand): Proposal {
  if (asked.request === null) {
    return { type: EntryType.Command, payload: encodeCommand(asked), stored: null };
  }
  const { principal, operation } = asked;
  const { payload, request } = encodeRequest(asked, sha256);
  const stored = { subject: principal.subject, request };
  const asking = { principal, need: needOf(operation) };
  const proposal = { type: EntryType.Command, payload, stored, asking };
  // To renew a hold, or to change its mode, adds none that would have to be given back.
  const acquires = operation.kind === "acquire-lock" && operation.fencingToken === 0;
  return acquires ? { ...proposal, acquisition: { principal, request }, mayQueue: operation.waitMs > 0 } : proposal;
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash("sha256", bytes, "buffer");
}

/** What the cluster does by itself, or an administrator asks of it, as what is to be logged. */
export function clusterProposalOf(operation: ClusterOperation): Proposal {
  const payload = encodeCommand({ principal: null, request: null, operation });
  const isRecognisable = "request" in operation && operation.request !== null;
  const stored = isRecognisable ? { subject: operation.subject, request: operation.request } : null;
  return { type: EntryType.Command, payload, stored };
}

/** A change of the membership as what is to be logged. */
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
  /** Until when the call may be held back without being handed to a log. */
  readonly holdUntilMs: number;
  readonly proposal: Proposal;
  done: ProposalDone;
  /** Number of the present attempt. */
  seq: number;
  /** Not to be handed out before this time, and why it was refused last; null if it was not, or for nothing of its own. */
  resting: { readonly untilMs: number; readonly refusal: CoordinationError } | null;
  /** When the attempt was handed out, so that its outcome is unknown until it is applied or refuted; null before. */
  handedOutMs: number | null;
  /** Term in which it was handed out, and the index that it was given; 0 = not known. */
  term: number;
  index: number;
  /** The entry of the attempt was applied here: nothing refutes it any more, and its answer follows. */
  isApplied: boolean;
  /** It was applied and waits for a lock: another entry has its answer. */
  isQueued: boolean;
  /** Nobody is there to be answered; only what the attempt leads to is still to be undone. */
  isAbandoned: boolean;
}

/** What a snapshot shows about a waiting attempt whose entry may be in it. */
export type SnapshotVerdict = { readonly outcome: Outcome } | "refuted" | "wait" | "unknown";

/** A member without a usable leader holds a call for at most this long (S36). */
const HOLD_MS_MAX = 3_000;
/** And never into the last share of its deadline, which is at least this long (S36). */
const RESERVE_SHARE = 0.1;
const RESERVE_MS_MIN = 50;

/** Until when a call that arrives now may be held back. */
export function holdUntil(nowMs: number, deadlineMs: number): number {
  const reserveMs = Math.max(RESERVE_MS_MIN, (deadlineMs - nowMs) * RESERVE_SHARE);
  return Math.min(nowMs + HOLD_MS_MAX, deadlineMs - reserveMs);
}

export class Waiters {
  readonly #bySeq = new RecentTable<Waiter>();
  /** Those whose index is known. */
  readonly #byIndex = new RecentTable<Waiter>();
  #seq = 0;
  /** How many of them may wait for a lock. */
  #queueing = 0;
  /** Term of the last entry that was applied here. */
  #appliedTerm = 0;

  /** All who wait, but for those that may wait for a lock. */
  get size(): number {
    return this.#bySeq.size - this.#queueing;
  }

  /** Those that may wait for a lock, whether they do already or not. */
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
   * An entry was applied here; `seq` is its attempt if it is one of this process, else 0. Returns those that are refuted
   * by it: whose index it has and whose attempt it is not, and whose term is over. Whoever it answers is noted, for
   * further entries may be told before that answer is given.
   */
  refutedBy(index: number, term: number, seq: number): readonly Waiter[] {
    const own = seq === 0 ? undefined : this.#bySeq.get(seq);
    if (own !== undefined) {
      own.isApplied = true;
    }
    const atIndex = this.#byIndex.get(index);
    const isNewTerm = term > this.#appliedTerm;
    if (atIndex === undefined && !isNewTerm) {
      return NOBODY;
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
   * The state was replaced by that of a snapshot of the entry (index, term): what was applied in between was not seen.
   * Returns the attempts whose entry may be in it; `isCertain` is true for those that are in it or can never be.
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

  /** The present attempt can never be executed: the waiter goes on with a new one. */
  renew(waiter: Waiter): void {
    this.#forget(waiter);
    this.#seq++;
    waiter.seq = this.#seq;
    waiter.handedOutMs = null;
    waiter.term = 0;
    waiter.index = 0;
    this.#remember(waiter);
  }

  /** The caller is gone, or was told that its outcome is not known. */
  abandon(waiter: Waiter): void {
    waiter.isAbandoned = true;
    waiter.done = () => undefined;
  }

  /** Takes the waiter of an applied attempt out, if it still waits; its caller is to be answered. */
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
   * Refuses whoever has waited too long. `nextMs` is when this is called again: who may not be held until then is
   * refused now. `heldReason` says why calls are held back at the moment that have no reason of their own. Returns those
   * that asked for a lock: they stay, for what becomes of their attempts is to be undone.
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

  /** Ends all waiting: this process stops. What was handed out may have been executed, or may be still. */
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

const NOBODY: readonly Waiter[] = [];

/** The deadline ended while the outcome was open (S12). A request without an id is not known when it comes again. */
export function deadlineError(hasRequestId = true): CoordinationError {
  const advice = hasRequestId ? "sending the same request-id again returns it" : "it may have been executed";
  return new CoordinationError("DEADLINE", `the deadline ended before the result was known; ${advice}`, {
    outcome: "unknown",
  });
}
