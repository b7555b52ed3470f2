/**
 * What a history shows of the holds of one lock: the operation that granted each hold, how long it was seen live, and
 * from when it was seen gone. A token identifies a hold; it is the revision of the grant. All facts here are certain,
 * whatever the outcome of the unknown operations.
 */

import { type ClockLimits, type ExpiryLimits, latestEndMs, shortestMs } from "./expiries.ts";
import { type KnownBound, Life, later } from "./life.ts";
import { type LockMode, type LockRecord, lockAnswerOf, SHOWN_HOLDS_MAX, viewOf } from "./lock-history.ts";

/** Reasons of a refusal that mean that the named hold is not live. */
const GONE_REASONS: ReadonlySet<string> = new Set(["LOCK_LOST", "NOT_LOCK_HOLDER", "FENCED"]);

export class Hold extends Life<LockRecord> {
  readonly token: number;
  /** Who asked for it; null if no answer showed that. */
  owner: string | null = null;
  /** Mode of the grant; null if no answer showed it. */
  mode: LockMode | null = null;
  /** Operations whose answers granted the hold, without its renewals. */
  readonly grants: LockRecord[] = [];
  /** Operations that may have renewed it, or changed its mode. */
  readonly changes: LockRecord[] = [];
  /** Writes that took effect under its guard, with their revisions. */
  readonly writes: { readonly by: LockRecord; readonly revision: number }[] = [];
  /** The last revision at which it was live for writing. */
  lastWriting: KnownBound<LockRecord> = { at: Number.NEGATIVE_INFINITY, by: null };

  constructor(token: number) {
    super();
    this.token = token;
  }

  /** The session that it ends with; null if it has a time to live, or if no answer has granted it. */
  get session(): number | null {
    const operation = this.grants[0]?.operation;
    return operation?.kind === "acquire" ? (operation.session ?? null) : null;
  }

  /** The operation shows the hold live in the mode, if known. */
  seeIn(mode: LockMode | null, by: LockRecord, revision: number | null): void {
    if (mode === "permits") {
      this.mode = mode;
    }
    this.see(by, revision);
    if (revision !== null && (mode === "exclusive" || mode === "write")) {
      this.lastWriting = later(this.lastWriting, { at: revision, by });
    }
  }

  /** Whether it may have been a reader's hold at the revision, or at any time without one. Holds of permits are like it. */
  mayRead(revision = Number.POSITIVE_INFINITY): boolean {
    if (this.mode === "permits") {
      return true;
    }
    if (this.mode === "exclusive" || this.lastWriting.at >= revision) {
      return false;
    }
    const mayBeDowngraded = this.changes.some(
      ({ operation }) => operation.kind === "change" && operation.mode === "read",
    );
    return this.mode !== "write" || mayBeDowngraded;
  }

  /** Before this time, only an operation that may have ended the hold can have ended it. */
  certainUntilMs(limits: ExpiryLimits): number {
    const [grant] = this.grants;
    if (grant === undefined) {
      return this.lastMs.at;
    }
    const enders = this.enders.map(({ startMs }) => startMs);
    return Math.max(Math.min(this.earliestExpiryMs(limits), ...enders), this.lastMs.at);
  }

  /** Nothing is known here of a hold that ends with a session: `session-check.ts` judges it. */
  override earliestExpiryMs(limits: ClockLimits): number {
    const [grant] = this.grants;
    if (grant === undefined || this.session !== null) {
      return Number.NEGATIVE_INFINITY;
    }
    return Math.min(
      ...this.#lives(grant).map(({ record, ttlMs }) => {
        const answer = lockAnswerOf(record);
        // The TTL begins with the grant, however long the request waited for it.
        const waitedMs = answer?.kind === "acquired" ? answer.waitedMs : 0;
        return record.startMs + shortestMs(waitedMs, limits) + shortestMs(ttlMs, limits);
      }),
    );
  }

  override latestExpiryMs(limits: ExpiryLimits): number {
    const [grant] = this.grants;
    if (grant === undefined || this.session !== null) {
      return Number.POSITIVE_INFINITY;
    }
    return Math.max(...this.#lives(grant).map(({ record, ttlMs }) => latestEndMs(record.endMs, ttlMs, limits)));
  }

  /**
   * Each TTL that may be the last one: that of the grant, and those of the renewals that no other renewal certainly
   * follows.
   */
  #lives(grant: LockRecord): readonly { readonly record: LockRecord; readonly ttlMs: number }[] {
    const renewals = this.changes.filter(isRenewal);
    return [grant, ...renewals]
      .filter((one) => !renewals.some((next) => !mayHaveChanged(next) && next.startMs > one.endMs))
      .map((record) => ({ record, ttlMs: "ttlMs" in record.operation ? record.operation.ttlMs : 0 }));
  }
}

/** All holds of a lock that any answer showed, in the order of their tokens. */
export function holdsOf(records: readonly LockRecord[]): readonly Hold[] {
  const holds = new Map<number, Hold>();
  const holdOf = (token: number): Hold => {
    const hold = holds.get(token) ?? new Hold(token);
    holds.set(token, hold);
    return hold;
  };
  for (const record of records) {
    noteSights(record, holdOf);
  }
  if (records.some(({ operation }) => "mode" in operation && operation.mode === "exclusive")) {
    for (const hold of holds.values()) {
      hold.mode = "exclusive";
    }
  }
  const sorted = [...holds.values()].sort((a, b) => a.token - b.token);
  for (const record of records) {
    noteEnders(record, sorted);
    noteAbsences(record, sorted);
  }
  return sorted;
}

/** Whether a change renewed the hold in any mode, or may have done so. An upgrade makes another hold. */
function isRenewal(record: LockRecord): boolean {
  const answer = lockAnswerOf(record);
  const { operation } = record;
  if (operation.kind !== "change") {
    return false;
  }
  return mayHaveChanged(record) || (answer?.kind === "acquired" && answer.token === operation.token);
}

/**
 * Whether the effect of the change is unknown. A client that gets LOCK_LOST may have changed the hold by an earlier
 * attempt, and lost it then.
 */
function mayHaveChanged(record: LockRecord): boolean {
  const answer = lockAnswerOf(record);
  return answer === null || (answer.kind === "refused" && answer.reason === "LOCK_LOST");
}

function noteSights(record: LockRecord, holdOf: (token: number) => Hold): void {
  const { operation } = record;
  const answer = lockAnswerOf(record);
  for (const { token, mode, owner } of viewOf(record)?.holds ?? []) {
    holdOf(token).owner = owner;
    holdOf(token).seeIn(mode, record, viewOf(record)?.revision ?? null);
  }
  if (operation.kind === "change" && (answer?.kind !== "refused" || mayHaveChanged(record))) {
    holdOf(operation.token).changes.push(record);
  }
  switch (answer?.kind) {
    case "acquired": {
      const hold = holdOf(answer.token);
      hold.seeIn(answer.mode, record, answer.view.revision);
      if (operation.kind !== "change" || operation.token !== answer.token) {
        hold.grants.push(record);
        hold.mode = "mode" in operation ? operation.mode : null;
      }
      if (operation.kind === "change" && operation.token !== answer.token) {
        holdOf(operation.token).seeIn("read", record, answer.token - 1);
      }
      return;
    }
    case "released":
      if ("token" in operation && operation.token !== 0) {
        holdOf(operation.token).seeIn(null, record, answer.revision - 1);
      }
      return;
    case "written":
      if (operation.kind === "guarded-write") {
        const hold = holdOf(operation.token);
        hold.seeIn("write", record, answer.revision);
        hold.writes.push({ by: record, revision: answer.revision });
      }
      return;
    default:
  }
}

/** Notes the operation with all holds that it may have ended early. */
function noteEnders(record: LockRecord, holds: readonly Hold[]): void {
  const { operation } = record;
  const answer = lockAnswerOf(record);
  if (answer?.kind === "acquired" && answer.isRepeated) {
    // An attempt that no client waits for may come last. It is then undone, together with the hold (S25).
    holds.find((hold) => hold.grants.includes(record))?.enders.push(record);
  }
  if (!("token" in operation) || operation.kind === "guarded-write" || answer?.kind === "nothing-released") {
    return;
  }
  // Of the changes, only an upgrade ends the hold that it names.
  const isEnder =
    operation.kind === "change"
      ? operation.mode === "write" && (mayHaveChanged(record) || isUpgrade(record))
      : answer?.kind !== "refused";
  for (const hold of isEnder ? holds : []) {
    const isNamed = operation.token === 0 || operation.token === hold.token;
    if (isNamed && !isBeforeGrant(record, hold)) {
      hold.enders.push(record);
    }
  }
}

/** Whether the operation ended before the grant of the hold, by its revision or by its time. */
function isBeforeGrant(record: LockRecord, { token, grants }: Hold): boolean {
  const answer = lockAnswerOf(record);
  const isOver = answer?.kind === "released" && answer.revision <= token;
  return isOver || record.endMs < (grants[0]?.startMs ?? Number.NEGATIVE_INFINITY);
}

function isUpgrade(record: LockRecord): boolean {
  return lockAnswerOf(record)?.kind === "acquired" && !isRenewal(record);
}

/** Notes the operation with each hold that it shows to be no longer live. */
function noteAbsences(record: LockRecord, holds: readonly Hold[]): void {
  const { operation } = record;
  const answer = lockAnswerOf(record);
  const view = viewOf(record);
  const shown = new Set(view?.holds.map(({ token }) => token));
  const isWhole = shown.size < SHOWN_HOLDS_MAX;
  for (const hold of holds) {
    if (view !== null && isWhole && hold.token <= view.revision && !shown.has(hold.token)) {
      hold.miss(record, view.revision);
    }
    if (answer === null || !("token" in operation)) {
      continue;
    }
    const isNamed = operation.token === hold.token;
    if (answer.kind === "released" && hold.token < answer.revision && (isNamed || operation.token === 0)) {
      hold.miss(record, answer.revision);
    }
    if (answer.kind === "acquired" && isNamed && answer.token !== operation.token) {
      hold.miss(record, answer.token);
    }
    if (answer.kind === "refused" && isNamed && isGone(hold, record, answer.reason)) {
      hold.miss(record, null);
    }
  }
}

/**
 * Whether the refusal shows that the hold is gone: it was granted before, and for writing where the operation needs
 * that.
 */
function isGone(hold: Hold, { operation, startMs }: LockRecord, reason: string): boolean {
  const isForReading = operation.kind === "guarded-write" && hold.mode !== "permits" && hold.mayRead();
  return GONE_REASONS.has(reason) && hold.firstMs.at < startMs && !isForReading;
}
