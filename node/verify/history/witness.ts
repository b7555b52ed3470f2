/**
 * The witness check: the answers themselves show the order of all operations. A write stands at the revision of its
 * answer, a read at the revision that it was true at. That order must follow the times, and give every answer. The
 * check takes one pass, so it can judge a history of any length, and it covers all keys together.
 *
 * A write of unknown outcome whose value no answer shows has no revision. Any of these writes may explain an answer
 * that does not fit otherwise; the search check is exact about them.
 */

import type { KeyAnswer, KeyContent, RecordedOperation } from "./history.ts";
import { KeyRun } from "./key-run.ts";
import { contentShownBy, isWrite, revisionAnsweredBy, ShownRevisions } from "./shown-revisions.ts";
import { CORRECT, type Verdict, type Violation } from "./verdict.ts";

/** Checks that revisions follow the times, and that every answer follows from the writes before it. */
export function witnessCheck(operations: readonly RecordedOperation[]): Verdict {
  const relevant = operations.filter(({ outcome }) => outcome.kind !== "not-executed");
  const floors = floorsOf(relevant);
  const order = checkOrder(relevant, floors);
  if (order !== null) {
    return { kind: "violation", violation: order };
  }
  const sight = checkSights(relevant);
  if (sight !== null) {
    return { kind: "violation", violation: sight };
  }
  const ceilings = ceilingsOf(relevant);
  const shownRevisions = new ShownRevisions(relevant);
  const runs = new Map<string, KeyRun>();
  for (const recorded of relevant) {
    const { key } = recorded.operation;
    const run = runs.get(key) ?? new KeyRun(key);
    runs.set(key, run);
    run.add(recorded, floors.get(recorded) ?? 0, ceilings.get(recorded) ?? 0, shownRevisions);
  }
  for (const run of runs.values()) {
    const violation = run.run();
    if (violation !== null) {
      return { kind: "violation", violation };
    }
  }
  return CORRECT;
}

function answerOf({ outcome }: RecordedOperation): KeyAnswer | null {
  return outcome.kind === "ok" ? outcome.answer : null;
}

function revisionOf(recorded: RecordedOperation): number | null {
  const answer = answerOf(recorded);
  return answer === null ? null : (revisionAnsweredBy(answer) ?? null);
}

/** For each operation the greatest revision that was answered before it began. */
function floorsOf(operations: readonly RecordedOperation[]): Map<RecordedOperation, number> {
  const byStart = [...operations].sort((a, b) => a.startMs - b.startMs);
  const byEnd = [...operations].sort((a, b) => a.endMs - b.endMs);
  const floors = new Map<RecordedOperation, number>();
  let ended = 0;
  let floor = 0;
  for (const recorded of byStart) {
    for (let next = byEnd[ended]; next !== undefined && next.endMs < recorded.startMs; next = byEnd[ended]) {
      floor = Math.max(floor, revisionOf(next) ?? 0);
      ended++;
    }
    floors.set(recorded, floor);
  }
  return floors;
}

/** For each operation the greatest revision at which it can stand, given all that began after its end. */
function ceilingsOf(operations: readonly RecordedOperation[]): Map<RecordedOperation, number> {
  const byStart = [...operations].sort((a, b) => b.startMs - a.startMs);
  const byEnd = [...operations].sort((a, b) => b.endMs - a.endMs);
  const ceilings = new Map<RecordedOperation, number>();
  let begun = 0;
  let ceiling = Number.POSITIVE_INFINITY;
  for (const recorded of byEnd) {
    for (let next = byStart[begun]; next !== undefined && next.startMs > recorded.endMs; next = byStart[begun]) {
      const answer = answerOf(next);
      const revision = revisionOf(next);
      if (answer !== null && revision !== null) {
        ceiling = Math.min(ceiling, isWrite(answer) ? revision - 1 : revision);
      }
      begun++;
    }
    ceilings.set(recorded, ceiling);
  }
  return ceilings;
}

/** Each write has a revision of its own, and no operation stands before one that had ended when it began. */
function checkOrder(
  operations: readonly RecordedOperation[],
  floors: ReadonlyMap<RecordedOperation, number>,
): Violation | null {
  const writes = new Map<number, RecordedOperation>();
  for (const recorded of operations) {
    const answer = answerOf(recorded);
    const revision = revisionOf(recorded);
    if (answer === null || revision === null) {
      continue;
    }
    const { key } = recorded.operation;
    const floor = floors.get(recorded) ?? 0;
    const other = isWrite(answer) ? writes.get(revision) : undefined;
    if (other !== undefined && (recorded.step === undefined || other.step !== recorded.step)) {
      const why = `revision ${revision} is that of operation ${other.id}`;
      return {
        rule: "a revision has one write",
        key,
        before: [other],
        state: null,
        impossible: [{ operation: recorded, why }],
      };
    }
    if (revision < floor || (isWrite(answer) && revision === floor)) {
      const rule = "revisions never go backwards";
      const why = `when it began, revision ${floor} had been answered`;
      const before = operations.filter((earlier) => earlier.endMs < recorded.startMs && revisionOf(earlier) === floor);
      return { rule, key, before: before.slice(0, 1), state: null, impossible: [{ operation: recorded, why }] };
    }
    if (isWrite(answer)) {
      writes.set(revision, recorded);
    }
  }
  return null;
}

/** All answers that show one write show the same content. */
function checkSights(operations: readonly RecordedOperation[]): Violation | null {
  const first = new Map<string, RecordedOperation>();
  for (const recorded of operations) {
    const content = shownTo(recorded);
    if (content === null) {
      continue;
    }
    const { key } = recorded.operation;
    const name = JSON.stringify([key, content.value]);
    const other = first.get(name) ?? recorded;
    first.set(name, other);
    const same = shownTo(other) ?? content;
    const { createRevision, modRevision, version } = content;
    if (createRevision !== same.createRevision || modRevision !== same.modRevision || version !== same.version) {
      const rule = "all answers show the same content of a write";
      const why = `operation ${other.id} saw other content with ${content.value}`;
      return { rule, key, before: [other], state: null, impossible: [{ operation: recorded, why }] };
    }
  }
  return null;
}

function shownTo(recorded: RecordedOperation): KeyContent | null {
  const answer = answerOf(recorded);
  return answer === null ? null : contentShownBy(answer);
}
