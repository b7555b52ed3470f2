/**
 * Judges what watchers of locks got, by the answers that clients of the locks got, and by what other watchers got. It
 * checks the rules of every watch (`watch-streams.ts`), and besides:
 *
 * - Every acknowledged change reaches the watchers: every hold that an answer shows, and every release.
 * - A hold belongs to a client that requested it, in that mode, and begins at the revision that is its token.
 * - A hold begins before it ends, ends once, and keeps its owner. An upgrade ends one hold and begins another at one
 *   revision. There is no other hold beside a writer's or an exclusive hold (`lock-watch-chain.ts`).
 * - A hold ends for a reason that some operation explains, and does not expire before its time.
 * - The lock in an answer at a revision is the lock that the changes up to that revision make.
 */

import type { ClockLimits } from "./expiries.ts";
import { revisionAnswersOfLocks } from "./lock-check.ts";
import { describeLockRecord, type LockRecord, lockAnswerOf } from "./lock-history.ts";
import { type Hold, holdsOf } from "./lock-holds.ts";
import { contradictionsOfLockChain } from "./lock-watch-chain.ts";
import type { WatchedLockChange, Watching } from "./watch-history.ts";
import {
  contradictionsOfStreams,
  coveragesOf,
  type DeliveredChange,
  type Due,
  deliveredChanges,
  missingIn,
  type Subject,
  type WatchLimits,
} from "./watch-streams.ts";

export interface LockWatchLimits extends WatchLimits {
  /** The name that watchers see for a lock of the history. Prefixes apply to that name. */
  readonly nameOf: (lock: string) => string;
}

/** The requests and answers about one lock. */
interface Asked {
  readonly records: readonly LockRecord[];
  /** Acquisitions by their owners. */
  readonly acquisitions: ReadonlyMap<string, LockRecord>;
  /** Holds by their tokens. */
  readonly holds: ReadonlyMap<number, Hold>;
}

/** Returns the contradictions in what the watchers got in words; empty if there are none. */
export function lockWatchCheck(
  watchings: readonly Watching<WatchedLockChange>[],
  records: readonly LockRecord[],
  limits: LockWatchLimits,
): readonly string[] {
  const subject = subjectOf(limits);
  const relevant = records.filter(({ outcome }) => outcome.kind !== "not-executed");
  const byLock = Map.groupBy(relevant, ({ operation }) => operation.lock);
  const coverages = watchings.flatMap((watching) => coveragesOf(watching, subject));
  const { delivered, wrong } = deliveredChanges(watchings, subject);
  const due = dueOf(relevant, delivered, limits);
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
    // An upgrade, or a release of all holds, makes several changes at one revision.
    isAgain: (one, other) => one.kind === other.kind && one.token === other.token,
    isSame: (one, other) =>
      one.lock === other.lock && one.owner === other.owner && one.mode === other.mode && one.reason === other.reason,
  };
}

/** The changes that were acknowledged, or that other watchers got. */
function dueOf(
  records: readonly LockRecord[],
  delivered: readonly DeliveredChange<WatchedLockChange>[],
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
  const others = delivered.map(({ change, by }) => {
    const { revision, lock, kind, token } = change;
    const isAmong = includes((one) => one.kind === kind && one.token === token);
    return { revision, name: nameOf(lock), why: `${by} saw that ${token} of ${lock} was ${kind}`, isAmong };
  });
  return [...answered, ...others];
}

function includes(isMeant: (change: WatchedLockChange) => boolean): Due<WatchedLockChange>["isAmong"] {
  return (changes) => changes.some(isMeant);
}

function isBegun({ kind }: WatchedLockChange): boolean {
  return kind === "acquired";
}

/** Every change has a request or an expiry as its cause. */
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
    return "a hold belongs to its requester";
  }
  switch (reason) {
    case "normal": {
      const { operation } = acquisition;
      const isMode = operation.kind === "acquire" && operation.mode === mode;
      return isMode && mayHave(acquisition, token) ? null : "a hold is what its owner requested";
    }
    case "upgraded":
      return mode === "write" && isAsked(asked, atMs, ({ kind }) => kind === "change")
        ? null
        : "an upgrade has a request";
    case "downgraded":
      return mode === "read" && isAsked(asked, atMs, (one) => isChangeOf(one, token, "read"))
        ? null
        : "a downgrade has a request";
    default:
      return `no hold begins because another one is ${reason}`;
  }
}

/**
 * Whether the acquisition may have led to this hold. If it was sent several times, earlier holds of it may have been
 * undone.
 */
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
      // The caller may have left meanwhile: then the hold is undone (S25).
      const isUndone = !(hold?.grants ?? []).some(isSole);
      const isReleased = isAsked(asked, atMs, (one) => one.kind === "release" && one.token === token);
      return isReleased || isUndone ? null : "a client releases the hold";
    }
    case "forced": {
      const isForced = isAsked(asked, atMs, (one) => {
        return one.kind === "force-release" && (one.token === 0 || one.token === token);
      });
      return isForced ? null : "a client takes the hold away";
    }
    case "expired":
      return hold !== undefined && atMs < hold.earliestExpiryMs(limits) ? "no hold expires before its time" : null;
    case "upgraded":
      return isAsked(asked, atMs, (one) => isChangeOf(one, token, "write")) ? null : "an upgrade has a request";
    default:
      return `no hold ends because it is ${reason}`;
  }
}

/** Whether only the answered attempt can have got the hold. */
function isSole(grant: LockRecord): boolean {
  const answer = lockAnswerOf(grant);
  return answer !== null && "isRepeated" in answer && !answer.isRepeated;
}

function isChangeOf(operation: LockRecord["operation"], token: number, mode: "read" | "write"): boolean {
  return operation.kind === "change" && operation.token === token && operation.mode === mode;
}

/** Whether a matching request had begun. */
function isAsked({ records }: Asked, atMs: number, isMeant: (operation: LockRecord["operation"]) => boolean): boolean {
  return records.some(({ operation, startMs }) => startMs <= atMs && isMeant(operation));
}
