/**
 * Judges the answers that clients got about locks. It needs no model of the service: every rule compares facts that two
 * operations have shown, by the revisions in their answers and by their times. An operation of unknown outcome never
 * makes a history wrong by itself.
 *
 * - Tokens grow over the life of a lock, and a hold belongs to one request.
 * - There is no other hold beside a writer's or an exclusive one.
 * - The holds of a semaphore have the permits that they asked for, and a grant exceeds no number of permits.
 * - A hold is live from its grant to its end, and never again. A guarded write takes effect only within that time.
 * - No hold ends before its time unless an operation ends it, and none lives long after its time.
 * - Waiters are served in the order of waiting, and none is forgotten (`lock-queue.ts`).
 */

import type { ExpiryLimits } from "./expiries.ts";
import { contradictionsOfLife, type KnownBound } from "./life.ts";
import {
  describeLockRecord,
  type LockRecord,
  type LockView,
  lockAnswerOf,
  SHOWN_HOLDS_MAX,
  viewOf,
} from "./lock-history.ts";
import { type Hold, holdsOf } from "./lock-holds.ts";
import { contradictionsOfQueue } from "./lock-queue.ts";
import { contradictionsOfOrder, type RevisionAnswer } from "./revision-order.ts";

const NO_ONE_ELSE: ReadonlySet<string> = new Set(["exclusive", "write"]);

/** Returns the contradictions in the history of locks in words; empty if there are none. */
export function lockCheck(records: readonly LockRecord[], limits: ExpiryLimits): readonly string[] {
  const relevant = records.filter(({ outcome }) => outcome.kind !== "not-executed");
  const wrong = [...contradictionsOfOrder(revisionAnswersOfLocks(relevant))];
  for (const [lock, ofLock] of Map.groupBy(relevant, ({ operation }) => operation.lock)) {
    const found = [
      ...ofLock.flatMap((record) => contradictionsOfView(record)),
      ...contradictionsOfOwners(ofLock),
      ...contradictionsOfHolds(holdsOf(ofLock), limits),
      ...contradictionsOfQueue(ofLock, limits),
    ];
    wrong.push(...found.map((what) => `lock ${lock}: ${what}`));
  }
  return wrong;
}

/** The revisions in the answers. They put locks and all other primitives into one order. */
export function revisionAnswersOfLocks(records: readonly LockRecord[]): readonly RevisionAnswer[] {
  return records.flatMap((record) => {
    const { startMs, endMs, operation } = record;
    const answer = lockAnswerOf(record);
    const revision = answer === null ? null : "view" in answer ? answer.view.revision : revisionOf(answer);
    if (answer === null || revision === null) {
      return [];
    }
    const isGrant = answer.kind === "acquired" && (operation.kind !== "change" || operation.token !== answer.token);
    const isChange = answer.kind === "released" || answer.kind === "written";
    const own = isGrant ? answer.token : isChange ? revision : null;
    return [{ name: `${describeLockRecord(record)} on ${operation.lock}`, startMs, endMs, revision, own }];
  });
}

function revisionOf(answer: { readonly kind: string; readonly revision?: number }): number | null {
  return answer.revision ?? null;
}

/** The rules that the state shown by one answer breaks. */
function contradictionsOfView(record: LockRecord): readonly string[] {
  const view = viewOf(record);
  const answer = lockAnswerOf(record);
  if (view === null) {
    return [];
  }
  const wrong: string[] = [];
  const { holds, revision, state } = view;
  if (holds.length > 1 && holds.some(({ mode }) => NO_ONE_ELSE.has(mode))) {
    wrong.push("no hold beside a writer's or an exclusive one");
  }
  if (new Set(holds.map(({ owner }) => owner)).size < holds.length) {
    wrong.push("no request has two holds at a time");
  }
  if (holds.some(({ token }) => token > revision)) {
    wrong.push("a hold is granted before it is shown");
  }
  const shownPermits = holds.reduce((sum, { permits = 0 }) => sum + permits, 0);
  const { permits: most, heldPermits = 0 } = view;
  if (
    most !== undefined &&
    (shownPermits > heldPermits || (holds.length < SHOWN_HOLDS_MAX && shownPermits !== heldPermits))
  ) {
    wrong.push("a semaphore counts the permits of its holds");
  }
  const isNewHold = record.operation.kind === "acquire" && answer?.kind === "acquired" && !answer.isRepeated;
  if (isNewHold && heldPermits > (most ?? 0)) {
    wrong.push("permits are never exceeded by a grant");
  }
  const own = answer?.kind === "acquired" ? holds.find(({ token }) => token === answer.token) : undefined;
  if (isNewHold && own?.permits !== record.operation.permits) {
    wrong.push("a hold has the permits that its request asked for");
  }
  if (!isStateOf(view)) {
    wrong.push(`the state follows from the holds, it is ${state}`);
  }
  if (answer?.kind === "acquired" && !holds.some(({ token, mode }) => token === answer.token && mode === answer.mode)) {
    wrong.push("the owner of an acquired hold is among the owners shown");
  }
  const shown = holds.map(({ token, mode, owner }) => `${token} (${mode}, ${owner})`).join(", ");
  return wrong.map((rule) => `${rule}: ${describeLockRecord(record)} was shown ${shown || "none"} at ${revision}`);
}

function isStateOf({ state, holds }: LockView): boolean {
  const [first] = holds;
  if (first === undefined) {
    return state === "free" || state === "cooldown";
  }
  const expected = { exclusive: "held", read: "read-held", write: "write-held", permits: "held" } as const;
  return state === expected[first.mode];
}

/** The owner of a hold has requested it. A hold that no answer has granted is that of a request that was open. */
function contradictionsOfOwners(records: readonly LockRecord[]): readonly string[] {
  const askedMs = new Map<string, number>();
  for (const { operation, startMs } of records) {
    if (operation.kind === "acquire") {
      askedMs.set(operation.owner, startMs);
    }
  }
  return records.flatMap((record) =>
    (viewOf(record)?.holds ?? [])
      .filter(({ owner }) => (askedMs.get(owner) ?? Number.POSITIVE_INFINITY) > record.endMs)
      .map(({ token, owner }) => {
        return `a hold belongs to its requester: ${describeLockRecord(record)} was shown ${token} of ${owner}`;
      }),
  );
}

function contradictionsOfHolds(holds: readonly Hold[], limits: ExpiryLimits): readonly string[] {
  const wrong = holds.flatMap((hold) => [
    ...contradictionsOfGrant(hold),
    ...contradictionsOfLife("hold", hold.token, hold, limits, describeLockRecord),
  ]);
  for (const [at, hold] of holds.entries()) {
    // One conflict is enough to report: the last one.
    const other = holds.slice(0, at).findLast((before) => overlaps(before, hold, limits));
    if (other !== undefined) {
      wrong.push(
        `no hold beside a writer's or an exclusive one: ${hold.token} was granted while ${other.token} was live, ` +
          `${shownBy("which was seen last by", other.lastRevision)}`,
      );
    }
  }
  return wrong;
}

/** A hold is granted to one request, after its start. It guards writes from then on, if it is for writing. */
function contradictionsOfGrant(hold: Hold): readonly string[] {
  const { token, grants, firstMs, mode, writes } = hold;
  const wrong: string[] = [];
  const [grant, ...others] = grants;
  if (others.length > 0) {
    wrong.push(`a hold is granted to one request: ${token} to ${grants.map(describeLockRecord).join(" and ")}`);
  }
  if (grant !== undefined && firstMs.at < grant.startMs) {
    wrong.push(`a hold is granted after its request began: ${token}, ${shownBy("seen by", firstMs)}`);
  }
  const early = writes.find(({ revision }) => revision <= token);
  if (early !== undefined) {
    wrong.push(
      `a guarded write takes effect within the life of its hold: ${describeLockRecord(early.by)} at ${early.revision}`,
    );
  }
  const [write] = writes;
  if (mode === "read" && write !== undefined) {
    wrong.push(`only a hold for writing guards writes: ${describeLockRecord(write.by)} with a hold for reading`);
  }
  return wrong;
}

/** Whether `before` was certainly live when `hold` was granted, and the two exclude each other. */
function overlaps(before: Hold, hold: Hold, limits: ExpiryLimits): boolean {
  if (!(before.mayRead(hold.token) && hold.mayRead()) && before.lastRevision.at >= hold.token) {
    return true;
  }
  return !(before.mayRead() && hold.mayRead()) && hold.firstMs.at < before.certainUntilMs(limits);
}

function shownBy(what: string, { by }: KnownBound<LockRecord>): string {
  return `${what} ${by === null ? "no operation" : describeLockRecord(by)}`.trim();
}
