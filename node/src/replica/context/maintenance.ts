/**
 * Commands that the leader proposes because time has passed: expiry of keys and locks, removal of old stored answers,
 * of old history and of old data of event logs, and ticks. Other commands erase freed rows step by step.
 *
 * A command only names candidates. Apply decides by the entry's own tick (S22). One such command is in the log at a
 * time.
 */

import {
  type ClusterOperation,
  DEFAULT_STATE_LIMITS,
  dueLockTimers,
  dueSessions,
  expiredKeys,
  type HistoryLimits,
  hasDueEventKeys,
  hasDueRetention,
  hasErasures,
  hasExpiredAnswers,
  hasNamespaceErasures,
  isHistoryDue,
  isUsageDue,
  type Progress,
  type StateReader,
} from "../../state/index.ts";

export interface MaintenanceLimits {
  /**
   * Bounds of one command, and so of the work to apply it (S44): keys that it names, timers of locks that it names,
   * rows of usage that it drops.
   */
  readonly expiriesMax: number;
  readonly lockTimersMax: number;
  /** Sessions that one command names, and what belongs to them, unless it names only one. Others wait for all of it. */
  readonly sessionsMax: number;
  readonly sessionObjectsMax: number;
  readonly prunesMax: number;
  /** Rows of memory pages that one command removes; also bounds the work to apply it. */
  readonly erasuresMax: number;
  /** Rows of deleted namespaces that one command erases, about; and the time between two of them, in cluster milliseconds. */
  readonly namespaceRowsMax: number;
  readonly namespacePauseMs: number;
  /** Rows of events' idempotency keys that one command examines, and rows of events that one removes. */
  readonly duplicatesMax: number;
  readonly retentionMax: number;
  /**
   * Delay after which expired generations of answers, keys of events, and events are dropped, in cluster milliseconds.
   * Under a steady load they expire one by one, and an entry for each could double the log.
   */
  readonly pruneDelayMs: number;
  /** A leader that logged nothing for this long logs a tick while any timer runs, in milliseconds (S21). */
  readonly idleTickMs: number;
  /** How long answers are kept, in cluster milliseconds. */
  readonly replayWindowMs: number;
  /**
   * Revisions of the history that one command drops. A command is due only when at least so many are beyond the limits.
   */
  readonly trimsMax: number;
  /** Delay after which expired changes are dropped, in cluster milliseconds; the reason is that of `pruneDelayMs`. */
  readonly trimDelayMs: number;
  readonly history: HistoryLimits;
  /** The cluster version is raised once all members could run the next one for this long, in milliseconds. */
  readonly versionRaiseMs: number;
}

export const DEFAULT_MAINTENANCE_LIMITS: Omit<MaintenanceLimits, "replayWindowMs"> = {
  expiriesMax: 64,
  lockTimersMax: 64,
  sessionsMax: 64,
  sessionObjectsMax: 256,
  prunesMax: 512,
  erasuresMax: 256,
  namespaceRowsMax: 256,
  namespacePauseMs: 25,
  duplicatesMax: 512,
  retentionMax: 256,
  pruneDelayMs: 1_000,
  idleTickMs: 10_000,
  trimsMax: 512,
  trimDelayMs: 10_000,
  history: DEFAULT_STATE_LIMITS.history,
  versionRaiseMs: 60_000,
};

export class Maintenance {
  readonly #state: StateReader;
  readonly #limits: MaintenanceLimits;
  /** The applied index at which a search found nothing to erase. The search waits for the next entry. */
  #erasedIndex = Number.NaN;
  /** When it last found rows of deleted namespaces, as a cluster tick. */
  #namespacesMs = Number.NEGATIVE_INFINITY;

  constructor(state: StateReader, limits: MaintenanceLimits) {
    this.#state = state;
    this.#limits = limits;
  }

  /** The next command that is due at the cluster tick, or null. `progress` is that of the state. */
  due(progress: Progress, tickMs: number): ClusterOperation | null {
    const due = dueByTime(this.#state, progress, tickMs, this.#limits) ?? this.#dueByEntries(progress, tickMs);
    return due ?? dueForLogs(this.#state, progress, tickMs, this.#limits) ?? dueTick(progress, tickMs, this.#limits);
  }

  /** Commands that only an entry can make due. An idle leader calls this twenty times a second, so it must be cheap. */
  #dueByEntries(progress: Progress, tickMs: number): ClusterOperation | null {
    if (progress.appliedIndex === this.#erasedIndex) {
      return null;
    }
    if (isUsageDue(this.#state, progress.wallMs)) {
      return { kind: "prune-usage", countMax: this.#limits.prunesMax };
    }
    if (hasErasures(this.#state)) {
      return { kind: "erase-memory", rowsMax: this.#limits.erasuresMax };
    }
    if (hasNamespaceErasures(this.#state)) {
      // There may be millions of rows, and other requests come between.
      const { namespaceRowsMax, namespacePauseMs } = this.#limits;
      if (tickMs < this.#namespacesMs + namespacePauseMs) {
        return null;
      }
      this.#namespacesMs = tickMs;
      return { kind: "erase-namespaces", rowsMax: namespaceRowsMax };
    }
    this.#erasedIndex = progress.appliedIndex;
    return null;
  }
}

function dueByTime(
  state: StateReader,
  progress: Progress,
  tickMs: number,
  limits: MaintenanceLimits,
): ClusterOperation | null {
  if (progress.expiringKeys > 0) {
    const keys = expiredKeys(state, tickMs, limits.expiriesMax);
    if (keys.length > 0) {
      return { kind: "expire-keys", keys };
    }
  }
  if (progress.lockTimers > 0) {
    const timers = dueLockTimers(state, tickMs, limits.lockTimersMax);
    if (timers.length > 0) {
      return { kind: "expire-locks", timers };
    }
  }
  if (progress.totals.sessions > 0) {
    const sessions = dueSessions(state, tickMs, limits.sessionsMax, limits.sessionObjectsMax);
    if (sessions.length > 0) {
      return { kind: "expire-sessions", sessions };
    }
  }
  if (progress.storedAnswers > 0 && hasExpiredAnswers(state, tickMs - limits.pruneDelayMs, limits.replayWindowMs)) {
    return { kind: "drop-replays" };
  }
  const slack = { revisions: limits.trimsMax, ageMs: limits.trimDelayMs };
  if (isHistoryDue(state, progress.revision, tickMs, limits.history, slack)) {
    return { kind: "trim-history", countMax: limits.trimsMax };
  }
  return null;
}

/** A tick, so that time advances while any timer runs. */
function dueTick(
  { tickMs: loggedMs, expiringKeys, lockTimers, storedAnswers, logTimers, totals }: Progress,
  tickMs: number,
  { idleTickMs }: MaintenanceLimits,
): ClusterOperation | null {
  const timeMatters = expiringKeys + lockTimers + storedAnswers + logTimers + totals.sessions > 0;
  return timeMatters && tickMs - loggedMs >= idleTickMs ? { kind: "tick" } : null;
}

function dueForLogs(
  state: StateReader,
  { logTimers, logErasures }: Progress,
  tickMs: number,
  { pruneDelayMs, duplicatesMax, retentionMax, erasuresMax }: MaintenanceLimits,
): ClusterOperation | null {
  const dueMs = tickMs - pruneDelayMs;
  if (logTimers > 0 && dueMs > 0 && hasDueEventKeys(state, dueMs)) {
    return { kind: "prune-duplicates", countMax: duplicatesMax };
  }
  if (logTimers > 0 && dueMs > 0 && hasDueRetention(state, dueMs)) {
    return { kind: "apply-retention", rowsMax: retentionMax };
  }
  return logErasures > 0 ? { kind: "erase-logs", rowsMax: erasuresMax } : null;
}
