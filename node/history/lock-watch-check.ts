/**
 * Judges what watchers of locks were told, by what the clients who used the locks were told, and by what other watchers
 * were told: what holds of every watch (`watch-streams.ts`), and besides:
 *
 * - What was acknowledged has been told: every hold that somebody was told to have, and every release.
 * - A hold is that of somebody who asked for it, in that mode, and begins at the revision that is its token.
 * - A hold begins before it ends, ends once, and keeps its owner. An upgrade ends one hold and begins another at one
 *   revision. Nothing is held beside a writer's or an exclusive hold (`lock-watch-chain.ts`).
 * - A hold ends for a reason that somebody has given; by itself not before its time.
 * - What an answer shows of a lock at a revision is what was told up to it.
 */

import type { ClockLimits } from "./expiries.ts";
import { revisionAnswersOfLocks } from "./lock-check.ts";
import { describeLockRecord, type LockRecord, lockAnswerOf } from "./lock-history.ts";
import { type Hold, holdsOf } from "./lock-holds.ts";
import { contradictionsOfLockChain } from "./lock-watch-chain.ts";
import type { WatchedLockChange, Watching } from "./watch-history.ts";
import {
  allTold,
  contradictionsOfStreams,
  coveragesOf,
  type Due,
  missingIn,
  type Subject,
  type Told,
  type WatchLimits,
} from "./watch-streams.ts";

export interface LockWatchLimits extends WatchLimits {
  /** What watchers are told that the lock is called, which histories call so: prefixes are of that. */
  readonly nameOf: (lock: string) => string;
}

/** What the clients asked for and were told of one lock. */
interface Asked {
  readonly records: readonly LockRecord[];
  /** Acquisitions by their owners. */
  readonly acquisitions: ReadonlyMap<string, LockRecord>;
  /** Holds by their tokens. */
  readonly holds: ReadonlyMap<number, Hold>;
}

/** What contradicts what the watchers were told, in words; empty if nothing does. */
export function lockWatchCheck(
  watchings: readonly Watching<WatchedLockChange>[],
  records: readonly LockRecord[],
  limits: LockWatchLimits,
): readonly string[] {
  const subject = subjectOf(limits);
  const relevant = records.filter(({ outcome }) => outcome.kind !== "not-executed");
  const byLock = Map.groupBy(relevant, ({ operation }) => operation.lock);
  const coverages = watchings.flatMap((watching) => coveragesOf(watching, subject));
  const { told, wrong } = allTold(watchings, subject);
  const due = dueOf(relevant, told, limits);
  return [
    ...contradictionsOfStreams(watchings, revisionAnswersOfLocks(relevant), subject, limits),
    ...wrong,
    ...contradictionsOfTruth(watchings, byLock, limits),
    ...coverages.flatMap((coverage) => missingIn(coverage, due)),
    ...coverages.flatMap((coverage) => contradictionsOfLockChain(coverage, relevant, limits.nameOf)),
  ];
}

function subjectOf({ nameOf }: LockWatchLimits): Subject<WatchedLockChange> {
  return {
    things: "locks",
    revisionOf: ({ revision }) => revision,
    nameOf: ({ lock }) => nameOf(lock),
    // Of an upgrade and of a release of all holds one revision has several.
    isAgain: (one, other) => one.kind === other.kind && one.token === other.token,
    isSame: (one, other) =>
      one.lock === other.lock && one.owner === other.owner && one.mode === other.mode && one.reason === other.reason,
  };
}

/** What was acknowledged, or told to others. */
function dueOf(
  records: readonly LockRecord[],
  told: readonly Told<WatchedLockChange>[],
  { nameOf }: LockWatchLimits,
): readonly Due<WatchedLockChange>[] {
  const answered = records.flatMap((record): Due<WatchedLockChange>[] => {
    const answer = lockAnswerOf(record);
    const { lock } = record.operation;
    const shared = { name: nameOf(lock), why: `${describeLockRecord(record)} changed ${lock}` };
    switch (answer?.kind) {
      case "acquired": {
        const { token } = answer;
        return [{ ...shared, revision: token, isAmong: includes((one) => isBegun(one) && one.token === token) }];
      }
      case "released":
        return [
          { ...shared, revision: answer.revision, isAmong: includes((one) => !isBegun(one) && one.lock === lock) },
        ];
      default:
        return [];
    }
  });
  const others = told.map(({ change, by }) => {
    const { revision, lock, kind, token } = change;
    const isAmong = includes((one) => one.kind === kind && one.token === token);
    return { revision, name: nameOf(lock), why: `${by} was told that ${token} of ${lock} was ${kind}`, isAmong };
  });
  return [...answered, ...others];
}

function includes(isMeant: (change: WatchedLockChange) => boolean): Due<WatchedLockChange>["isAmong"] {
  return (changes) => changes.some(isMeant);
}

function isBegun({ kind }: WatchedLockChange): boolean {
  return kind === "acquired";
}

/** Every change is one that somebody asked for, or that time has made. */
function contradictionsOfTruth(
  watchings: readonly Watching<WatchedLockChange>[],
  byLock: ReadonlyMap<string, readonly LockRecord[]>,
  limits: ClockLimits,
): readonly string[] {
  const asked = new Map([...byLock].map(([lock, records]) => [lock, askedOf(records)]));
  return watchings.flatMap(({ client, streams }) =>
    streams
      .flatMap(({ messages }) => messages)
      .flatMap(({ changes, atMs }) =>
        changes.flatMap((change) => {
          const ofLock = asked.get(change.lock) ?? askedOf([]);
          const why = isBegun(change) ? whyNotBegun(change, atMs, ofLock) : whyNotEnded(change, atMs, ofLock, limits);
          const { token, lock, revision } = change;
          return why === null ? [] : [`watch of ${client}: ${why}: ${token} of ${lock} at ${revision}`];
        }),
      ),
  );
}

function askedOf(records: readonly LockRecord[]): Asked {
  return {
    records,
    acquisitions: new Map(
      records.flatMap((record) => {
        return record.operation.kind === "acquire" ? [[record.operation.owner, record] as const] : [];
      }),
    ),
    holds: new Map(holdsOf(records).map((hold) => [hold.token, hold])),
  };
}

/** Why the hold cannot have begun, or changed its mode; null if it can. */
function whyNotBegun(change: WatchedLockChange, atMs: number, asked: Asked): string | null {
  const { reason, token, owner, mode, revision } = change;
  if (reason !== "downgraded" && token !== revision) {
    return "a hold begins at the revision that is its token";
  }
  const acquisition = asked.acquisitions.get(owner);
  if (acquisition === undefined || acquisition.startMs > atMs) {
    return "a hold is that of somebody who asked for it";
  }
  switch (reason) {
    case "normal": {
      const { operation } = acquisition;
      const isMode = operation.kind === "acquire" && operation.mode === mode;
      return isMode && mayHave(acquisition, token) ? null : "a hold is what its owner asked for";
    }
    case "upgraded":
      return mode === "write" && isAsked(asked, atMs, ({ kind }) => kind === "change")
        ? null
        : "an upgrade is asked for";
    case "downgraded":
      return mode === "read" && isAsked(asked, atMs, (one) => isChangeOf(one, token, "read"))
        ? null
        : "a downgrade is asked for";
    default:
      return `no hold begins because another one is ${reason}`;
  }
}

/** Whether the acquisition may have come to this hold: of one that was sent more than once others may have gone before. */
function mayHave(acquisition: LockRecord, token: number): boolean {
  const answer = lockAnswerOf(acquisition);
  return (
    answer === null ||
    !("isRepeated" in answer) ||
    answer.isRepeated ||
    (answer.kind === "acquired" && answer.token === token)
  );
}

/** Why the hold cannot have ended for this reason; null if it can. */
function whyNotEnded(change: WatchedLockChange, atMs: number, asked: Asked, limits: ClockLimits): string | null {
  const { token, reason } = change;
  const hold = asked.holds.get(token);
  switch (reason) {
    case "normal": {
      // Whoever asked may have left meanwhile: then the hold is undone (S25).
      const isUndone = !(hold?.grants ?? []).some(isSole);
      const isReleased = isAsked(asked, atMs, (one) => one.kind === "release" && one.token === token);
      return isReleased || isUndone ? null : "a hold is released by somebody";
    }
    case "forced": {
      const isForced = isAsked(asked, atMs, (one) => {
        return one.kind === "force-release" && (one.token === 0 || one.token === token);
      });
      return isForced ? null : "a hold is taken away by somebody";
    }
    case "expired":
      return hold !== undefined && atMs < hold.earliestExpiryMs(limits) ? "no hold expires before its time" : null;
    case "upgraded":
      return isAsked(asked, atMs, (one) => isChangeOf(one, token, "write")) ? null : "an upgrade is asked for";
    default:
      return `no hold ends because it is ${reason}`;
  }
}

/** Whether nobody but the attempt that was answered can have come to the hold. */
function isSole(grant: LockRecord): boolean {
  const answer = lockAnswerOf(grant);
  return answer !== null && "isRepeated" in answer && !answer.isRepeated;
}

function isChangeOf(operation: LockRecord["operation"], token: number, mode: "read" | "write"): boolean {
  return operation.kind === "change" && operation.token === token && operation.mode === mode;
}

/** Whether somebody had begun to ask for something like this. */
function isAsked({ records }: Asked, atMs: number, isMeant: (operation: LockRecord["operation"]) => boolean): boolean {
  return records.some(({ operation, startMs }) => startMs <= atMs && isMeant(operation));
}
