/** Describes for people what an oracle found: the few operations that contradict each other, without the rest. */

import type { KeyAnswer, KeyOperation, RecordedOperation } from "./history.ts";
import type { KeyState } from "./key-model.ts";
import type { Verdict, Violation } from "./verdict.ts";

/** The verdict in words, several lines for a violation. Times are milliseconds since the first operation shown. */
export function describeVerdict(verdict: Verdict): string {
  switch (verdict.kind) {
    case "correct":
      return "the history is correct";
    case "undecided":
      return `undecided in the time given: key ${verdict.key}, ${verdict.operations} operations were not ordered`;
    case "violation":
      return describeViolation(verdict.violation);
  }
}

function describeViolation({ rule, key, before, state, impossible }: Violation): string {
  const shown = [...before, ...impossible.map(({ operation }) => operation)];
  const originMs = Math.min(...shown.map(({ startMs }) => startMs));
  const lines = [`violated: ${rule}`, `key ${key}`];
  for (const operation of before) {
    lines.push(`  ${describeOperation(operation, originMs, key)}`);
  }
  const there = state instanceof Map ? [...state].map(([name, one]) => `${name} is ${describeState(one)}`) : null;
  const now = there?.join(", ") ?? `the key is ${describeState(state as KeyState)}`;
  lines.push(`then ${now}, and cannot go on with any of`);
  for (const { operation, why } of impossible) {
    lines.push(`  ${describeOperation(operation, originMs, key)}: ${why}`);
  }
  return lines.join("\n");
}

function describeOperation(
  { id, client, operation, startMs, endMs, outcome }: RecordedOperation,
  originMs: number,
  key: string,
) {
  const of = operation.key === key ? "" : ` of ${operation.key}`;
  const end = Number.isFinite(endMs) ? (endMs - originMs).toFixed(3) : "?";
  const result = outcome.kind === "ok" ? describeAnswer(outcome.answer) : outcome.kind;
  return `#${id} ${client} [${(startMs - originMs).toFixed(3)}, ${end}] ${describeRequest(operation)}${of} -> ${result}`;
}

function describeRequest(operation: KeyOperation): string {
  switch (operation.kind) {
    case "get":
      return "get";
    case "put":
      return `put ${operation.value}`;
    case "delete":
      return operation.expectedValue === undefined ? "delete" : `expiry of ${operation.expectedValue}`;
    case "compare-and-swap": {
      const { expectedValue, expectedModRevision, newValue } = operation;
      const value = expectedValue === undefined ? [] : [expectedValue];
      const revision = expectedModRevision === undefined ? [] : [`revision ${expectedModRevision}`];
      return `swap ${[...value, ...revision].join(" at ") || "absent"} for ${newValue}`;
    }
  }
}

function describeAnswer(answer: KeyAnswer): string {
  switch (answer.kind) {
    case "found": {
      const { value, createRevision, modRevision, version, revision } = answer;
      return `${describeState({ value, createRevision, modRevision, version })} (at revision ${revision})`;
    }
    case "absent":
      return answer.revision === undefined ? "absent" : `absent (at revision ${answer.revision})`;
    case "put": {
      const { created, revision, previous = null } = answer;
      return `${created ? "created" : "written"} at revision ${revision}${describePrevious(previous)}`;
    }
    case "deleted":
      return `deleted at revision ${answer.revision}${describePrevious(answer.previous ?? null)}`;
    case "done":
      return "done";
    case "swapped":
      return `${answer.kind} at revision ${answer.revision}`;
    case "not-swapped": {
      const { current, revision } = answer;
      const there = current === null ? "absent" : `${current.value} of revision ${current.modRevision}`;
      return `not swapped, it is ${there} (at revision ${revision})`;
    }
  }
}

function describePrevious(previous: KeyState): string {
  return previous === null ? "" : `, before it was ${describeState(previous)}`;
}

function describeState(state: KeyState): string {
  if (state === null) {
    return "absent";
  }
  const at = (revision: number): string => (revision < 0 ? "an unknown revision" : `revision ${revision}`);
  const { value, createRevision, modRevision, version } = state;
  return `${value}, version ${version}, written at ${at(modRevision)}, created at ${at(createRevision)}`;
}
