/**
 * The life of a call that waits for the outcome of a command, and what is certain about each of its attempts.
 *
 *   held         It waits for a leader, for capacity, or for the end of another change.
 *                Next: handed-out.
 *   handed-out   The leader of one term has the attempt, and the outcome is unknown.
 *                Next: applied; held again with a new attempt, once this one is refuted.
 *   applied      Its entry is applied, and the answer follows in the same turn.
 *                Next: queued, provisional.
 *   queued       Its entry is applied, and it waits in the state for a lock.
 *   provisional  Its entry has changed the membership, and the change is not final yet.
 *   ended        It is answered, refused or dropped. Every other state may lead here, and nothing follows.
 *
 * A snapshot may show the outcome of an attempt that is handed out. Then the call skips `applied`.
 *
 * Every attempt has a sequence number that this process never reuses. The entry carries it, and applying the entry
 * answers the waiter of that attempt and no other (P56). An attempt is handed to the leader of one term, and can only
 * become an entry of exactly that term. It is refuted, which means certainly never executed, by any of these: a
 * refusal, another entry at its index, an applied entry of a later term, or a snapshot that must contain it and has no
 * stored answer for it. Only then does the call get a new attempt. A lost connection, a new leader or stepping down
 * prove nothing (P52).
 *
 * A caller may leave before the outcome is known. The call lives on without it while its attempt may have an effect
 * that must be undone.
 */

import { RecentTable } from "../../collections/index.ts";
import { CoordinationError, type Outcome } from "../../state/index.ts";
import type { RequestTrace } from "../../tracing/index.ts";
import type { Proposal, ProposalDone } from "../context/index.ts";
import type { HeldCalls, Lane } from "./held-calls.ts";

/** What a call has in every state. */
interface Call {
  readonly proposal: Proposal;
  readonly deadlineMs: number;
  /** Until when the call may wait before it is handed to a log. */
  readonly waitUntilMs: number;
  /** Sequence number of the current attempt. */
  readonly seq: number;
  /** Null = its request has none. */
  readonly trace: RequestTrace | null;
  /** For `HeldCalls`. */
  readonly lane: Lane<Held>;
  next: Held | null;
  isOpen: boolean;
}

export interface Held extends Call {
  readonly state: "held";
  readonly done: ProposalDone;
  /** The earliest time of the next attempt; null = at once. */
  readonly notBeforeMs: number | null;
  /** The last refusal that concerned this call alone, which is its answer if it waits too long; null = none. */
  readonly refusal: CoordinationError | null;
}

/** A call whose attempt is with a leader or in the log. */
interface Attempted extends Call {
  /** When the attempt was handed out. */
  readonly handedOutMs: number;
  /** Term of the leader. */
  readonly term: number;
  /** Index of the entry; 0 = not known. */
  readonly index: number;
}

export interface HandedOut extends Attempted {
  readonly state: "handed-out";
  /** Null = the caller is gone. */
  readonly done: ProposalDone | null;
}

export interface Applied extends Attempted {
  readonly state: "applied";
  /** Null = the caller is gone. */
  readonly done: ProposalDone | null;
}

export interface Queued extends Attempted {
  readonly state: "queued";
  readonly done: ProposalDone;
}

export interface Provisional extends Call {
  readonly state: "provisional";
  readonly done: ProposalDone;
  /** The answer once the change is final. */
  readonly outcome: Outcome;
}

export interface Ended extends Call {
  readonly state: "ended";
}

export type Waiter = Held | HandedOut | Applied | Queued | Provisional | Ended;
/** A waiter whose attempt was handed out and is not answered. */
export type AttemptedWaiter = HandedOut | Applied | Queued;
/** A waiter whose command may still be logged, refuted or answered. */
export type OpenWaiter = Held | AttemptedWaiter;

/** A waiter whose entry may be in a snapshot; certain = it is there, or will never be in the log. */
export interface CoveredWaiter {
  readonly waiter: AttemptedWaiter;
  readonly isCertain: boolean;
}

/** A request for a lock whose deadline has passed while its caller waits. */
export interface LateWaiter {
  readonly waiter: AttemptedWaiter;
  readonly done: ProposalDone;
}

/** Without a usable leader, a call waits at a member for at most this long, in milliseconds (S36). */
const LEADER_WAIT_MS_MAX = 3_000;
/** A call never waits into the last share of its deadline, which is at least `RESERVE_MS_MIN` long (S36). */
const RESERVE_SHARE = 0.1;
const RESERVE_MS_MIN = 50;

/** Until when a call that arrives now may wait for a leader. */
export function leaderWaitUntil(nowMs: number, deadlineMs: number): number {
  const reserveMs = Math.max(RESERVE_MS_MIN, (deadlineMs - nowMs) * RESERVE_SHARE);
  return Math.min(nowMs + LEADER_WAIT_MS_MAX, deadlineMs - reserveMs);
}

/**
 * A waiter as it is stored: one object for its whole life, because every write has one. The state says which fields
 * mean something. Only the transitions below see it; all others see a `Waiter`.
 */
interface StoredWaiter {
  readonly proposal: Proposal;
  readonly deadlineMs: number;
  readonly waitUntilMs: number;
  readonly trace: RequestTrace | null;
  readonly lane: Lane<Held>;
  next: Held | null;
  isOpen: boolean;
  state: Waiter["state"];
  seq: number;
  done: ProposalDone | null;
  notBeforeMs: number | null;
  refusal: CoordinationError | null;
  handedOutMs: number;
  term: number;
  index: number;
  outcome: Outcome | null;
}

export class Waiters {
  readonly #held: HeldCalls<Held>;
  /** Open waiters. */
  readonly #bySeq = new RecentTable<OpenWaiter>();
  /** Those with a known index. */
  readonly #byIndex = new RecentTable<OpenWaiter>();
  #seq = 0;
  /** Number of open waiters that may wait for a lock. */
  #queueing = 0;
  /** Term of the last entry that was applied here. */
  #appliedTerm = 0;

  /** @param held gets the calls that wait to be handed out. */
  constructor(held: HeldCalls<Held>) {
    this.#held = held;
  }

  /** Number of open waiters, without those that may wait for a lock. */
  get size(): number {
    return this.#bySeq.size - this.#queueing;
  }

  /** Number of open waiters that may wait for a lock, whether they do so already or not. */
  get queueing(): number {
    return this.#queueing;
  }

  /** The waiter of this attempt, if it is open. */
  get(seq: number): OpenWaiter | undefined {
    return this.#bySeq.get(seq);
  }

  // ---- Transitions ----

  add(
    nowMs: number,
    deadlineMs: number,
    proposal: Proposal,
    done: ProposalDone,
    trace: RequestTrace | null = null,
  ): Held {
    this.#seq++;
    const stored: StoredWaiter = {
      proposal,
      deadlineMs,
      waitUntilMs: leaderWaitUntil(nowMs, deadlineMs),
      trace,
      lane: this.#held.enter(proposal.subject),
      next: null,
      isOpen: false,
      state: "held",
      seq: this.#seq,
      done,
      notBeforeMs: null,
      refusal: null,
      handedOutMs: 0,
      term: 0,
      index: 0,
      outcome: null,
    };
    const waiter = stored as Held;
    this.#remember(waiter);
    this.#held.add(waiter);
    return waiter;
  }

  /** A refusal concerns this call alone: the next attempt has to wait. */
  rest(waiter: Held, notBeforeMs: number, refusal: CoordinationError): void {
    const stored = waiter as StoredWaiter;
    stored.notBeforeMs = notBeforeMs;
    stored.refusal = refusal;
  }

  /** The attempt was handed to the leader of this term. */
  handOut(waiter: Held, term: number, nowMs: number): void {
    const stored = waiter as StoredWaiter;
    stored.state = "handed-out";
    stored.notBeforeMs = null;
    stored.handedOutMs = nowMs;
    stored.term = term;
  }

  /** The leader of this term has appended the attempt at this index. */
  appended(seq: number, term: number, index: number): void {
    const waiter = this.#bySeq.get(seq);
    if (waiter !== undefined && waiter.state !== "held" && waiter.term === term && waiter.index === 0) {
      (waiter as StoredWaiter).index = index;
      this.#byIndex.set(index, waiter);
    }
  }

  /**
   * An entry was applied here; `seq` is its attempt if it is one of this process, else 0. Returns the waiters that it
   * refutes: the one whose index it has but whose attempt it is not, and those of an earlier term. The waiter whose
   * attempt it is becomes applied at once, because further entries may be reported before its answer is given.
   */
  refutedBy(index: number, term: number, seq: number): readonly HandedOut[] {
    const own = seq === 0 ? undefined : this.#bySeq.get(seq);
    if (own?.state === "handed-out") {
      (own as StoredWaiter).state = "applied";
      if (own.trace !== null) {
        own.trace.index = index;
      }
    }
    const atIndex = this.#byIndex.get(index);
    const isNewTerm = term > this.#appliedTerm;
    if (atIndex === undefined && !isNewTerm) {
      return NO_WAITERS;
    }
    this.#appliedTerm = term;
    const refuted: HandedOut[] = [];
    if (atIndex?.state === "handed-out") {
      refuted.push(atIndex);
    }
    if (isNewTerm) {
      for (const waiter of this.#bySeq.values()) {
        if (waiter.state === "handed-out" && waiter.term < term && waiter !== atIndex) {
          refuted.push(waiter);
        }
      }
    }
    return refuted;
  }

  /** The current attempt can never be executed: the call continues with a new one. Returns it in its new state. */
  renew(waiter: HandedOut): Held {
    this.#forget(waiter);
    const stored = waiter as StoredWaiter;
    this.#seq++;
    stored.state = "held";
    stored.seq = this.#seq;
    stored.handedOutMs = 0;
    stored.term = 0;
    stored.index = 0;
    const held = waiter as Waiter as Held;
    this.#remember(held);
    this.#held.add(held);
    return held;
  }

  /** The attempt was applied and waits for a lock: another entry will answer it. */
  queue(waiter: AttemptedWaiter): void {
    (waiter as StoredWaiter).state = "queued";
    this.#held.close(waiter);
  }

  /** The attempt has changed the membership. The caller of this must end the waiter once that is final. */
  makeProvisional(waiter: AttemptedWaiter, outcome: Outcome): Provisional {
    this.#forget(waiter);
    const stored = waiter as StoredWaiter;
    stored.state = "provisional";
    stored.outcome = outcome;
    return stored as Provisional;
  }

  /** The caller is gone, or got the answer that the outcome is unknown. The attempt may still be executed. */
  abandon(waiter: HandedOut | Applied): void {
    (waiter as StoredWaiter).done = null;
  }

  answer(waiter: Waiter, outcome: Outcome | null): void {
    this.#end(waiter)?.(null, outcome);
  }

  refuse(waiter: Waiter, error: CoordinationError): void {
    this.#end(waiter)?.(error, null);
  }

  /** Attempts that were handed out may be lost: they do not keep others waiting any more. */
  closeAll(): void {
    for (const waiter of this.#bySeq.values()) {
      this.#held.close(waiter);
    }
  }

  /** Ends the call without an answer. */
  drop(waiter: Waiter): void {
    this.#end(waiter);
  }

  // ---- Events that concern many waiters ----

  /**
   * A snapshot of the entry (index, term) replaced the state, so this member has not seen the entries in between.
   * Returns the waiters whose entry may be in it. `isCertain` is true for those that are in it or never will be in the
   * log.
   */
  coveredBy(index: number, term: number): readonly CoveredWaiter[] {
    const covered: CoveredWaiter[] = [];
    for (const waiter of this.#bySeq.values()) {
      if (waiter.state !== "held" && term >= waiter.term && waiter.index <= index) {
        covered.push({ waiter, isCertain: waiter.index !== 0 || term > waiter.term });
      }
    }
    return covered;
  }

  /**
   * Refuses waiters that have waited too long. `nextMs` is when this is called again: a waiter that may not wait until
   * then is refused now. `waitReason` is the refusal for calls that have none of their own. Returns the late requests
   * for a lock: they stay here, because the effect of their attempts has to be undone.
   */
  expire(nowMs: number, nextMs: number, waitReason: (call: Held) => CoordinationError): readonly LateWaiter[] {
    const late: LateWaiter[] = [];
    for (const waiter of this.#bySeq.values()) {
      if (waiter.state === "held") {
        if (waiter.waitUntilMs < nextMs) {
          this.refuse(waiter, waiter.refusal ?? waitReason(waiter));
        }
      } else if (waiter.deadlineMs <= nowMs) {
        if (waiter.proposal.acquisition === undefined) {
          this.refuse(waiter, deadlineError(waiter.proposal.stored !== null));
        } else if (waiter.done !== null) {
          late.push({ waiter, done: waiter.done });
        }
      }
    }
    return late;
  }

  /**
   * Refuses all open waiters, because this process stops. Attempts that were handed out may have been, or may yet be,
   * executed.
   */
  refuseAll(): void {
    for (const waiter of this.#bySeq.values()) {
      const outcome = waiter.state === "held" ? "not-executed" : "unknown";
      this.refuse(waiter, new CoordinationError("SHUTTING_DOWN", "this member is shutting down", { outcome }));
    }
  }

  // ---- Tables ----

  /** Returns what takes the answer; null if the caller is gone, or the call has ended before. */
  #end(waiter: Waiter): ProposalDone | null {
    const stored = waiter as StoredWaiter;
    const { done } = stored;
    if (waiter.state !== "ended") {
      waiter.lane.calls--;
      if (waiter.state !== "provisional") {
        this.#forget(waiter);
      }
    }
    stored.state = "ended";
    stored.done = null;
    return done;
  }

  #remember(waiter: OpenWaiter): void {
    this.#bySeq.set(waiter.seq, waiter);
    this.#queueing += waiter.proposal.mayQueue === true ? 1 : 0;
  }

  #forget(waiter: OpenWaiter): void {
    this.#held.close(waiter);
    this.#bySeq.delete(waiter.seq);
    this.#queueing -= waiter.proposal.mayQueue === true ? 1 : 0;
    if (waiter.state !== "held" && waiter.index !== 0 && this.#byIndex.get(waiter.index) === waiter) {
      this.#byIndex.delete(waiter.index);
    }
  }
}

const NO_WAITERS: readonly HandedOut[] = [];

/**
 * The deadline ended while the outcome was open (S12). A request without an id cannot be recognized when it is
 * retried.
 */
export function deadlineError(hasRequestId = true): CoordinationError {
  const advice = hasRequestId ? "sending the same request-id again returns it" : "it may have been executed";
  return new CoordinationError("DEADLINE", `the deadline ended before the result was known; ${advice}`, {
    outcome: "unknown",
  });
}
