/**
 * Judges the order in which a lock serves its waiters, from the answers alone. The time at which a request joined the
 * queue is known only within bounds. It joined after it was sent, and before its answer by at least the waited time in
 * it. No request overtakes one that certainly waited before it began, in whichever mode (S29).
 */

import { type ExpiryLimits, shortestMs } from "./expiries.ts";
import { describeLockRecord, type LockRecord, lockAnswerOf, viewOf } from "./lock-history.ts";

/** A request that waited, or got the lock without a wait. */
interface Wait {
  readonly record: LockRecord;
  /** Token of its hold; null if it gave up. */
  readonly token: number | null;
  /** It was in the queue at this time, and stayed there … */
  readonly fromMs: number;
  /** … until the grant of its token, or, without one, at least until this time. */
  readonly untilMs: number;
}

/**
 * Returns the contradictions to the order of a lock's queue in words; empty if there are none. All operations are of
 * one lock.
 */
export function contradictionsOfQueue(records: readonly LockRecord[], limits: ExpiryLimits): readonly string[] {
  const waits = records.flatMap((record) => waitOf(record, limits) ?? []);
  return [...overtaken(waits), ...forgotten(records), ...passedOver(records, waits)];
}

function waitOf(record: LockRecord, limits: ExpiryLimits): Wait | null {
  const { operation, startMs, endMs } = record;
  const answer = lockAnswerOf(record);
  if (operation.kind !== "acquire" || (answer?.kind !== "acquired" && answer?.kind !== "not-acquired")) {
    return null;
  }
  const fromMs = endMs - shortestMs(answer.waitedMs, limits);
  if (answer.kind === "acquired") {
    return { record, token: answer.token, fromMs, untilMs: endMs };
  }
  return { record, token: null, fromMs, untilMs: startMs + shortestMs(operation.waitMs, limits) };
}

function overtaken(waits: readonly Wait[]): readonly string[] {
  const wrong: string[] = [];
  for (const { record, token } of waits) {
    const before =
      token === null
        ? undefined
        : waits.find((other) => {
            const isBefore = other.fromMs < record.startMs;
            return isBefore && (other.token === null ? record.endMs < other.untilMs : other.token > token);
          });
    if (before !== undefined) {
      const got = before.token === null ? "waited on" : `got ${before.token}`;
      wrong.push(
        `waiters are served in the order of waiting: ${describeLockRecord(record)} got ${token}, before ` +
          `${describeLockRecord(before.record)}, which was in the queue when that began, and ${got}`,
      );
    }
  }
  return wrong;
}

/** No client waits for a free lock, and none is refused one. The check does not know the limit of readers. */
function forgotten(records: readonly LockRecord[]): readonly string[] {
  return records.flatMap((record) => {
    const { operation } = record;
    const answer = lockAnswerOf(record);
    const view = viewOf(record);
    const isFree = view?.state === "free";
    // A replay shows the lock as it is later.
    const isRefused = answer?.kind === "not-acquired" && !answer.isRepeated;
    const mayRead = operation.kind === "acquire" && operation.mode === "read";
    const isOpen = isFree || (mayRead && view?.state === "read-held" && view.waiters === 0);
    if (isRefused && isOpen) {
      return [`no waiter is forgotten: ${describeLockRecord(record)} did not get a lock shown as ${view?.state}`];
    }
    if (isFree && view.waiters > 0) {
      return [
        `no waiter is forgotten: ${describeLockRecord(record)} was shown a free lock and ${view.waiters} waiters`,
      ];
    }
    return [];
  });
}

/**
 * When a client gives a writer's or an exclusive hold back, the first in the queue gets the lock at the next revision.
 */
function passedOver(records: readonly LockRecord[], waits: readonly Wait[]): readonly string[] {
  const granted = new Set(records.flatMap((record) => viewOf(record)?.holds.map(({ token }) => token) ?? []));
  for (const { token } of waits) {
    granted.add(token ?? 0);
  }
  return records.flatMap((release) => {
    const answer = lockAnswerOf(release);
    if (release.operation.kind !== "release" || answer?.kind !== "released" || granted.has(answer.revision + 1)) {
      return [];
    }
    const { revision } = answer;
    const isForReading = !isAloneHold(records, release.operation.token);
    // A client without an answer, or with an answer to a later attempt, may have got it.
    const isHidden = records.some((record) => record.startMs <= release.endMs && mayHide(record));
    const waiting = waits.find(({ token, fromMs, untilMs }) => {
      return fromMs < release.startMs && (token === null ? untilMs > release.endMs : token > revision);
    });
    if (isForReading || isHidden || waiting === undefined) {
      return [];
    }
    return [
      `no waiter is forgotten: ${describeLockRecord(release)} gave the lock back at ${revision}, ` +
        `and no waiter got it, while ${describeLockRecord(waiting.record)} waited`,
    ];
  });
}

/** Whether the hold with the token was granted as the only one, and stayed so. */
function isAloneHold(records: readonly LockRecord[], token: number): boolean {
  const isGranted = records.some((record) => {
    const answer = lockAnswerOf(record);
    return answer?.kind === "acquired" && answer.token === token && ["exclusive", "write"].includes(answer.mode);
  });
  const isDowngraded = records.some(({ operation }) => {
    return operation.kind === "change" && operation.token === token && operation.mode === "read";
  });
  return isGranted && !isDowngraded;
}

function mayHide(record: LockRecord): boolean {
  const answer = lockAnswerOf(record);
  if (record.operation.kind !== "acquire") {
    return false;
  }
  const isRepeated = (answer?.kind === "acquired" || answer?.kind === "not-acquired") && answer.isRepeated;
  return answer === null || answer.kind === "refused" || isRepeated;
}
