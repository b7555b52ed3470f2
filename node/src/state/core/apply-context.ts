/**
 * What applying one entry may read and change: rows, clocks, the revision and the counters.
 *
 * One context serves all entries of a state machine, one after the other: a new context for each would allocate more
 * than most entries need otherwise. `begin` resets the fields of one entry.
 */

import { invariant, safeCount } from "../../primitives/index.ts";
import { entryIndex, entryOrigin, entryTerm, entryTickMs, entryWallMs, type ProposalOrigin } from "../../raft/index.ts";
import type { WatchedChange } from "./changes.ts";
import type { Checkpoint } from "./checkpoints.ts";
import { CoordinationError } from "./coordination-error.ts";
import type { DeduplicationLedger } from "./deduplication-ledger.ts";
import type { HistoryLedger } from "./history-ledger.ts";
import type { StateLimits } from "./limits.ts";
import type { NamespaceAccounts } from "./namespace-accounts.ts";
import type { AnswerForms, Outcome } from "./outcome.ts";
import type { Principal } from "./principal.ts";
import type { Progress, Totals, UsageLevels } from "./progress.ts";
import type { Transaction } from "./transaction.ts";
import type { UsageCounts } from "./usage-counts.ts";

/** The outcome of an acquisition that had to wait: the answer to this attempt. */
export interface EndedWait {
  readonly attempt: ProposalOrigin;
  readonly outcome: Outcome;
}

/** Counts the work of callers. */
interface UsageCounter {
  count(transaction: Transaction, principal: Principal, counts: UsageCounts, at: ApplyContext): void;
  /** Writes all counts into the transaction. */
  flush(transaction: Transaction): void;
}

/** Tables in memory that are written once for each batch of entries. */
export interface Ledgers {
  readonly accounts: NamespaceAccounts;
  readonly history: HistoryLedger;
  readonly deduplication: DeduplicationLedger;
  readonly usage: UsageCounter;
}

const NO_ROW = new Uint8Array(0);
const NO_ENDED_WAITS: readonly EndedWait[] = [];
const NOTHING_WATCHED: readonly WatchedChange[] = [];

export class ApplyContext {
  readonly transaction: Transaction;
  readonly limits: StateLimits;
  /** How much each namespace uses of its quotas. */
  readonly accounts: NamespaceAccounts;
  /** Which part of the history is kept. */
  readonly history: HistoryLedger;
  /** The stored answers of requests. */
  readonly deduplication: DeduplicationLedger;
  readonly usage: UsageCounter;
  /** The stored forms of answers. */
  readonly answers: AnswerForms;
  /** By the ids of locks: a position before which no request waits. Only where searches begin depends on it. */
  readonly firstWaits = new Map<number, number>();
  /** The digest of the cluster at a checkpoint, if this entry carries it. */
  leaderCheckpoint: Checkpoint | null = null;
  #row: Uint8Array = NO_ROW;
  #index: number;
  #term: number;
  #tickMs: number;
  #wallMs: number;
  #endedWaits: EndedWait[] | null = null;
  #watched: readonly WatchedChange[] = NOTHING_WATCHED;
  /** Equals `#watched` if this context may append to it. */
  #ownWatched: WatchedChange[] | null = null;
  #revision: number;
  #dataBytes: number;
  #expiringKeys: number;
  #storedAnswers: number;
  #lockTimers: number;
  #logs: number;
  #eventBytes: number;
  #logTimers: number;
  #logErasures: number;
  readonly #totals: { -readonly [Total in keyof Totals]: number };

  /** @param before progress of the state */
  constructor(transaction: Transaction, limits: StateLimits, ledgers: Ledgers, answers: AnswerForms, before: Progress) {
    this.transaction = transaction;
    this.limits = limits;
    this.accounts = ledgers.accounts;
    this.history = ledgers.history;
    this.deduplication = ledgers.deduplication;
    this.usage = ledgers.usage;
    this.answers = answers;
    this.#index = before.appliedIndex;
    this.#term = before.appliedTerm;
    this.#tickMs = before.tickMs;
    this.#wallMs = before.wallMs;
    this.#revision = before.revision;
    this.#dataBytes = before.dataBytes;
    this.#expiringKeys = before.expiringKeys;
    this.#storedAnswers = before.storedAnswers;
    this.#lockTimers = before.lockTimers;
    this.#logs = before.logs;
    this.#eventBytes = before.eventBytes;
    this.#logTimers = before.logTimers;
    this.#logErasures = before.logErasures;
    this.#totals = { ...before.totals };
  }

  /** Starts the next entry, which is this row. */
  begin(row: Uint8Array): void {
    this.#row = row;
    this.#index = entryIndex(row);
    this.#term = entryTerm(row);
    this.#tickMs = Math.max(this.#tickMs, entryTickMs(row));
    this.#wallMs = Math.max(this.#wallMs, entryWallMs(row));
    this.#endedWaits = null;
    this.#watched = NOTHING_WATCHED;
    this.#ownWatched = null;
    this.leaderCheckpoint = null;
  }

  /** Log index of the entry. */
  get index(): number {
    return this.#index;
  }

  get term(): number {
    return this.#term;
  }

  /** The greatest cluster tick of the log up to this entry; never decreases. */
  get tickMs(): number {
    return this.#tickMs;
  }

  /** The greatest wall clock, likewise. */
  get wallMs(): number {
    return this.#wallMs;
  }

  /** The attempt of this entry. */
  get origin(): ProposalOrigin {
    return entryOrigin(this.#row);
  }

  /** Waits that this entry ended, in order. */
  get endedWaits(): readonly EndedWait[] {
    return this.#endedWaits ?? NO_ENDED_WAITS;
  }

  /** Records that the entry ended a wait. */
  endWait(wait: EndedWait): void {
    this.#endedWaits ??= [];
    this.#endedWaits.push(wait);
  }

  /** Changes for watchers, in the order of their revisions. */
  get watched(): readonly WatchedChange[] {
    return this.#watched;
  }

  /** Appends changes for watchers. */
  watch(changes: readonly WatchedChange[]): void {
    if (this.#watched.length === 0) {
      // Most entries make changes once, so use their list as it is.
      this.#watched = changes;
      return;
    }
    this.#ownWatched ??= [...this.#watched];
    for (const change of changes) {
      this.#ownWatched.push(change);
    }
    this.#watched = this.#ownWatched;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Takes the next revision for one visible change. */
  nextRevision(): number {
    this.#revision = safeCount(this.#revision + 1, "revision");
    return this.#revision;
  }

  /** Skips this many revisions; no change ever gets them. */
  skipRevisions(count: number): void {
    this.#revision = safeCount(this.#revision + count, "revision");
  }

  /** Raises QUOTA if this many more bytes of data would exceed the limit. */
  requireQuota(bytes: number): void {
    if (bytes > 0 && this.#dataBytes + bytes > this.limits.dataBytesMax) {
      throw new CoordinationError(
        "QUOTA",
        `the cluster holds ${this.#dataBytes} of at most ${this.limits.dataBytesMax} bytes of data; delete keys first`,
      );
    }
  }

  /** Raises QUOTA if this many more bytes of data would exceed the limit of the namespace or of the cluster. */
  requireNamespaceQuota(namespace: string, bytes: number): void {
    this.requireQuota(bytes);
    this.accounts.of(namespace).requireQuota("bytes", bytes);
  }

  /** Stored bytes are keys, values, stored answers, events, and the remembered keys of events. */
  get usageLevels(): UsageLevels {
    return { bytesStored: this.#dataBytes + this.#eventBytes, memoryBytes: this.#totals.memoryBytes };
  }

  /** Counts bytes of data: positive = added, negative = removed. */
  countData(bytes: number): void {
    this.#dataBytes += bytes;
    invariant(this.#dataBytes >= 0, "data bytes never fall below zero", () => String(this.#dataBytes));
  }

  /** Counts bytes of data of a namespace: positive = added, negative = removed. */
  countDataIn(namespace: string, bytes: number): void {
    this.countData(bytes);
    this.accounts.of(namespace).count("bytes", bytes);
  }

  countExpiringKeys(change: number): void {
    this.#expiringKeys += change;
    invariant(this.#expiringKeys >= 0, "expiring keys never fall below zero");
  }

  countStoredAnswers(change: number): void {
    this.#storedAnswers += change;
    invariant(this.#storedAnswers >= 0, "stored answers never fall below zero");
  }

  countLockTimers(change: number): void {
    this.#lockTimers += change;
    invariant(this.#lockTimers >= 0, "timers of locks never fall below zero");
  }

  /** Raises QUOTA if the cluster has as many event logs as allowed. */
  requireLogQuota(): void {
    if (this.#logs >= this.limits.logsMax) {
      throw new CoordinationError("QUOTA", `the cluster has ${this.limits.logsMax} event logs; delete one first`);
    }
  }

  countLogs(change: number): void {
    this.#logs += change;
    invariant(this.#logs >= 0, "event logs never fall below zero");
  }

  /** Raises QUOTA if this many more bytes of events would exceed the limit. */
  requireEventQuota(bytes: number): void {
    const { eventBytesMax } = this.limits;
    if (this.#eventBytes + bytes > eventBytesMax) {
      throw new CoordinationError(
        "QUOTA",
        `the cluster holds ${this.#eventBytes} of at most ${eventBytesMax} bytes of events; delete logs, or limit them`,
      );
    }
  }

  /** Counts bytes of events and of their remembered keys: positive = added, negative = removed. */
  countEventBytes(bytes: number): void {
    this.#eventBytes += bytes;
    invariant(this.#eventBytes >= 0, "bytes of events never fall below zero", () => String(this.#eventBytes));
  }

  /** The same for a namespace. */
  countEventBytesIn(namespace: string, bytes: number): void {
    this.countEventBytes(bytes);
    this.accounts.of(namespace).count("event_bytes", bytes);
  }

  countLogTimers(change: number): void {
    this.#logTimers += change;
    invariant(this.#logTimers >= 0, "timers of event logs never fall below zero");
  }

  countLogErasures(change: number): void {
    this.#logErasures += change;
    invariant(this.#logErasures >= 0, "deleted event logs never fall below zero");
  }

  countTotal(of: keyof Totals, change: number): void {
    const total = this.#totals[of] + change;
    invariant(total >= 0, "totals never fall below zero", () => of);
    this.#totals[of] = total;
  }

  /** The progress after this entry. */
  progress(): Progress {
    return {
      appliedIndex: this.#index,
      appliedTerm: this.#term,
      tickMs: this.#tickMs,
      wallMs: this.#wallMs,
      revision: this.#revision,
      digest: this.transaction.digest,
      dataBytes: this.#dataBytes,
      expiringKeys: this.#expiringKeys,
      storedAnswers: this.#storedAnswers,
      lockTimers: this.#lockTimers,
      logs: this.#logs,
      eventBytes: this.#eventBytes,
      logTimers: this.#logTimers,
      logErasures: this.#logErasures,
      totals: { ...this.#totals },
    };
  }
}
