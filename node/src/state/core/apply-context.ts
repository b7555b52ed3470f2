/**
 * What applying one entry may read and change: rows, clocks, the revision and the counters.
 *
 * One context serves all entries of a state machine, one after the other: a new context for each would allocate more
 * than most entries need otherwise. `begin` resets the fields of one entry.
 */

import { invariant, safeCount } from "../../primitives/index.ts";
import { entryIndex, entryOrigin, entryTerm, entryTickMs, entryWallMs, type ProposalOrigin } from "../../raft/index.ts";
import type { AnswerLedger } from "./answer-ledger.ts";
import type { KeyChange, WatchedChange } from "./changes.ts";
import type { Checkpoint } from "./checkpoints.ts";
import { CoordinationError, tooLarge } from "./coordination-error.ts";
import type { HistoryLedger } from "./history-ledger.ts";
import type { StateLimits } from "./limits.ts";
import type { NamespaceAccounts } from "./namespace-accounts.ts";
import type { AnswerForms, Outcome } from "./outcome.ts";
import type { Principal } from "./principal.ts";
import type { Progress, Totals, UsageLevels } from "./progress.ts";
import type { Steps } from "./steps.ts";
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

/** The changes of one revision, while its operations run. */
interface OneRevision {
  /** 0 until the first change. */
  revision: number;
  readonly changes: WatchedChange[];
  /** Changes of keys, and bytes of their names and values. Those of locks are as many as the operations at most. */
  keys: number;
  bytes: number;
}

/** Tables in memory that are written once for each batch of entries. */
export interface Ledgers {
  readonly accounts: NamespaceAccounts;
  readonly history: HistoryLedger;
  readonly answerLedger: AnswerLedger;
  readonly usage: UsageCounter;
}

/** Keys that several operations change that are one change. */
export const REVISION_CHANGES_MAX = 10_000;
/** The history stores a revision as one row, and members send it to watchers. */
const REVISION_BYTES_MAX = 8 * 1024 * 1024;
const MS_PER_SECOND = 1000;
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
  readonly answerLedger: AnswerLedger;
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
  #totals: { -readonly [Total in keyof Totals]: number };
  /** Null if every change gets a revision of its own. */
  #oneRevision: OneRevision | null = null;

  /** @param before progress of the state */
  constructor(transaction: Transaction, limits: StateLimits, ledgers: Ledgers, answers: AnswerForms, before: Progress) {
    this.transaction = transaction;
    this.limits = limits;
    this.accounts = ledgers.accounts;
    this.history = ledgers.history;
    this.answerLedger = ledgers.answerLedger;
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

  /** What operations of one revision may have changed is as it was before them. */
  #restore(before: Progress): void {
    this.#revision = before.revision;
    this.#dataBytes = before.dataBytes;
    this.#expiringKeys = before.expiringKeys;
    this.#eventBytes = before.eventBytes;
    this.#logTimers = before.logTimers;
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

  /** The cluster tick in milliseconds at which a time to live ends that begins now. */
  deadlineAfter(ttlSeconds: number): number {
    return this.#tickMs + ttlSeconds * MS_PER_SECOND;
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

  /** Takes the next revision for one visible change. Several operations that are one change get the same. */
  nextRevision(): number {
    const one = this.#oneRevision;
    if (one !== null && one.revision !== 0) {
      return one.revision;
    }
    this.#revision = safeCount(this.#revision + 1, "revision");
    if (one !== null) {
      one.revision = this.#revision;
    }
    return this.#revision;
  }

  /**
   * Runs operations as one change of a namespace: all at one revision. If one raises an error, none of them has changed
   * anything. They must change only rows, counters and the account of the namespace.
   *
   * @param record records the changes of the revision; not called if there are none.
   */
  *atOneRevision<Value>(
    namespace: string,
    operations: Steps<Value>,
    record: (context: ApplyContext, revision: number, changes: readonly WatchedChange[]) => void,
  ): Steps<Value> {
    const { transaction } = this;
    const account = this.accounts.of(namespace);
    const before = this.progress();
    const usage = { ...account.usage };
    const one: OneRevision = { revision: 0, changes: [], keys: 0, bytes: 0 };
    transaction.setSavepoint();
    this.#oneRevision = one;
    try {
      const value = yield* operations;
      transaction.endSavepoint();
      this.#oneRevision = null;
      if (one.changes.length > 0) {
        record(this, one.revision, one.changes);
      }
      return value;
    } catch (error) {
      this.#oneRevision = null;
      transaction.rollBack(before.digest);
      account.restore(usage);
      this.#restore(before);
      throw error;
    }
  }

  /**
   * Collects changes that are part of one revision, and returns true; false if every change gets a revision of its own.
   * Raises TOO_LARGE if the revision has too many.
   */
  collect(changes: readonly WatchedChange[]): boolean {
    const one = this.#oneRevision;
    if (one === null) {
      return false;
    }
    for (const change of changes) {
      one.changes.push(change);
      if (change.about === "key") {
        one.keys++;
        one.bytes += sizeOf(change);
      }
    }
    requireRevisionSize(one);
    return true;
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

/** Bytes of the name and values of a change. */
function sizeOf({ kind, current, previous }: KeyChange): number {
  const added = kind === "put" ? current.value.length : 0;
  return current.key.length + added + (previous?.value.length ?? 0);
}

function requireRevisionSize({ keys, bytes }: OneRevision): void {
  if (keys > REVISION_CHANGES_MAX) {
    const what = `the transaction changes more than ${REVISION_CHANGES_MAX} keys; divide it`;
    throw tooLarge(what, REVISION_CHANGES_MAX);
  }
  if (bytes > REVISION_BYTES_MAX) {
    const what = `the transaction replaces, removes and writes more than ${REVISION_BYTES_MAX} bytes of keys and values; divide it`;
    throw tooLarge(what, REVISION_BYTES_MAX);
  }
}
