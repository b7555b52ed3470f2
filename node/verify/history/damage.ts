/**
 * Makes correct histories wrong, each in the way of a possible bug of a cluster. The result is wrong in nearly every
 * case: a few damaged histories can still be explained.
 */

import type { KeyAnswer, KeyContent, RecordedOperation } from "./history.ts";
import { contentShownBy, isWrite, revisionAnsweredBy, shownBy, valueWrittenBy } from "./shown-revisions.ts";

type Random = (bound: number) => number;
/** Makes a wrong history from a correct one; null if the damage does not fit anywhere in this one. */
export type Damage = (operations: readonly RecordedOperation[], random: Random) => RecordedOperation[] | null;

/** A read that found the key. */
interface Read {
  readonly recorded: RecordedOperation;
  readonly answer: KeyContent & { readonly kind: "found"; readonly revision: number };
}

/** All kinds of damage, named by what the clients see. */
export const DAMAGES: ReadonlyMap<string, Damage> = new Map<string, Damage>([
  ["two reads with each other's answers", swappedAnswers],
  ["an acknowledged write that no client made", droppedWrite],
  ["a read from before its write", readTooEarly],
  ["a read that is older than an earlier one", readBackwards],
  ["a value that comes back after it was overwritten", revivedValue],
  ["a value that comes back after its key was deleted", revivedKey],
  ["a write that was executed twice", executedTwice],
  ["an unknown effect that is seen, lost and seen again", flickeringEffect],
  ["two swaps of one revision", doubleSwap],
  ["a previous value that was not there", wrongPrevious],
  ["an acknowledged delete without effect", ineffectiveDelete],
  ["a refused write that is seen", refusedButSeen],
]);

/** Damage to expiry; these histories contain the ends of keys. */
export const EXPIRY_DAMAGES: ReadonlyMap<string, Damage> = new Map<string, Damage>([
  ["a value that outlives its TTL", afterItsTime],
  ["a value that expires too early", beforeItsTime],
]);

function swappedAnswers(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const pairs = pairsOf(
    readsOf(operations),
    (one, other) => isBefore(one, other) && one.answer.value !== other.answer.value,
  );
  const pair = pick(pairs, random);
  if (pair === null) {
    return null;
  }
  const [one, other] = pair;
  return answered(answered(operations, one.recorded, other.answer), other.recorded, one.answer);
}

function droppedWrite(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const seen = new Set(readsOf(operations).map(({ answer }) => answer.value));
  const writes = operations.filter(({ operation, outcome }) => {
    const value = valueWrittenBy(operation);
    return value !== null && seen.has(value) && outcome.kind === "ok";
  });
  const dropped = pick(writes, random);
  return dropped === null ? null : operations.filter((recorded) => recorded !== dropped);
}

function readTooEarly(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const read = pick(readsOf(operations), random);
  const write = operations.find(({ operation }) => valueWrittenBy(operation) === read?.answer.value);
  if (read === null || write === undefined) {
    return null;
  }
  const endMs = write.startMs - 1;
  return replaced(operations, read.recorded, { ...read.recorded, startMs: endMs - 1, endMs });
}

function readBackwards(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const pairs = pairsOf(readsOf(operations), (one, other) => {
    return isBefore(one, other) && one.answer.modRevision < other.answer.modRevision;
  });
  const pair = pick(pairs, random);
  if (pair === null) {
    return null;
  }
  const [older, newer] = pair;
  const { id } = operations.reduce((last, recorded) => (recorded.id > last.id ? recorded : last));
  const startMs = newer.recorded.endMs + 1;
  return [...operations, { ...older.recorded, id: id + 1, startMs, endMs: startMs + 1 }];
}

function revivedValue(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const pairs = pairsOf(readsOf(operations), (one, other) => {
    return isBefore(one, other) && one.answer.modRevision < other.answer.modRevision;
  });
  const pair = pick(pairs, random);
  return pair === null
    ? null
    : answered(operations, pair[1].recorded, { ...pair[1].answer, value: pair[0].answer.value });
}

function revivedKey(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const reads = readsOf(operations);
  const absences = operations.filter(({ operation, outcome }) => {
    return operation.kind === "get" && outcome.kind === "ok" && outcome.answer.kind === "absent";
  });
  const pairs = absences.flatMap((recorded) =>
    reads
      .filter((read) => read.recorded.operation.key === recorded.operation.key)
      .filter((read) => read.recorded.endMs < recorded.startMs)
      .filter(({ answer }) => isDeletedBetween(operations, answer, recorded))
      .map(({ answer }) => [recorded, answer] as const),
  );
  const pair = pick(pairs, random);
  return pair === null ? null : answered(operations, pair[0], pair[1]);
}

function executedTwice(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const read = pick(readsOf(operations), random);
  if (read === null) {
    return null;
  }
  const { createRevision, modRevision, version } = read.answer;
  // Later states in the life of the key have one version more.
  return operations.map((recorded) => {
    const { outcome } = recorded;
    const answer = outcome.kind === "ok" ? outcome.answer : null;
    const isLater =
      answer?.kind === "found" &&
      recorded.operation.key === read.recorded.operation.key &&
      answer.createRevision === createRevision &&
      answer.version >= version;
    if (!isLater) {
      return recorded;
    }
    const isIt = answer.modRevision === modRevision;
    const changed = { ...answer, version: answer.version + 1, ...(isIt ? { modRevision: modRevision + 1 } : {}) };
    return { ...recorded, outcome: { kind: "ok", answer: changed } };
  });
}

function flickeringEffect(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const unknown = new Set(
    operations.flatMap(({ operation, outcome }) =>
      outcome.kind === "unknown" ? (valueWrittenBy(operation) ?? []) : [],
    ),
  );
  const reads = readsOf(operations);
  const shown = pick(
    reads.filter(({ answer }) => unknown.has(answer.value)),
    random,
  );
  const before = reads.find((read) => {
    return shown !== null && isSameKey(read, shown) && read.answer.modRevision < shown.answer.modRevision;
  });
  if (shown === null || before === undefined) {
    return null;
  }
  const { id } = operations.reduce((last, recorded) => (recorded.id > last.id ? recorded : last));
  const endMs = shown.recorded.endMs;
  const lost = { ...before.recorded, id: id + 1, startMs: endMs + 0.25, endMs: endMs + 0.5 };
  const again = { ...shown.recorded, id: id + 2, startMs: endMs + 0.75, endMs: endMs + 1 };
  return [...operations, lost, again];
}

function doubleSwap(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const failed = operations.filter(({ operation, outcome, startMs }) => {
    const expected = operation.kind === "compare-and-swap" ? (operation.expectedModRevision ?? 0) : 0;
    const isFailure = expected !== 0 && outcome.kind === "ok" && outcome.answer.kind === "not-swapped";
    // The expected revision must be overwritten before the swap begins. Otherwise the swap could have succeeded.
    const isOver = operations.some((other) => {
      const answer = other.outcome.kind === "ok" ? other.outcome.answer : null;
      const isLater = answer !== null && isWrite(answer) && (revisionAnsweredBy(answer) ?? 0) > expected;
      return isLater && other.operation.key === operation.key && other.endMs < startMs;
    });
    return isFailure && isOver;
  });
  const chosen = pick(failed, random);
  if (chosen?.outcome.kind !== "ok" || chosen.outcome.answer.kind !== "not-swapped") {
    return null;
  }
  return answered(operations, chosen, { kind: "swapped", revision: chosen.outcome.answer.revision + 1 });
}

function wrongPrevious(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const told = operations.filter(({ operation, outcome }) => {
    return operation.kind !== "get" && outcome.kind === "ok" && contentShownBy(outcome.answer) !== null;
  });
  const chosen = pick(told, random);
  const reads = readsOf(operations).filter(({ recorded }) => recorded.operation.key === chosen?.operation.key);
  const answer = chosen?.outcome.kind === "ok" ? chosen.outcome.answer : null;
  const shown = answer === null ? null : contentShownBy(answer);
  const other = pick(
    reads.filter((read) => read.answer.value !== shown?.value),
    random,
  );
  if (chosen === null || other === null || (answer?.kind !== "put" && answer?.kind !== "deleted")) {
    return null;
  }
  const { value, createRevision, modRevision, version } = other.answer;
  return answered(operations, chosen, { ...answer, previous: { value, createRevision, modRevision, version } });
}

function ineffectiveDelete(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const pairs = operations.flatMap((recorded) => {
    const { outcome, operation } = recorded;
    if (outcome.kind !== "ok" || outcome.answer.kind !== "deleted" || outcome.answer.previous === undefined) {
      return [];
    }
    const { previous } = outcome.answer;
    return operations
      .filter((later) => later.operation.kind === "get" && later.operation.key === operation.key)
      .filter((later) => later.outcome.kind === "ok" && later.startMs > recorded.endMs)
      .map((later) => [later, previous] as const);
  });
  const pair = pick(pairs, random);
  if (pair === null || pair[0].outcome.kind !== "ok") {
    return null;
  }
  const { answer } = pair[0].outcome;
  const revision = answer.kind === "found" ? answer.revision : pair[1].modRevision;
  return answered(operations, pair[0], { kind: "found", ...pair[1], revision });
}

function refusedButSeen(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const seen = new Set(
    operations.flatMap(({ outcome }) => (outcome.kind === "ok" ? (shownBy(outcome.answer)?.value ?? []) : [])),
  );
  const chosen = pick(
    operations.filter(({ operation }) => seen.has(valueWrittenBy(operation) ?? "")),
    random,
  );
  const endMs = chosen === null ? 0 : Math.min(chosen.endMs, chosen.startMs + 1);
  return chosen === null ? null : replaced(operations, chosen, { ...chosen, endMs, outcome: { kind: "not-executed" } });
}

function afterItsTime(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const shown = readsOf(operations).flatMap((read) => {
    const end = endOf(operations, read.answer.value);
    return end !== undefined && Number.isFinite(end.endMs) ? [{ read, end }] : [];
  });
  const chosen = pick(shown, random);
  if (chosen === null) {
    return null;
  }
  const { id } = operations.reduce((last, recorded) => (recorded.id > last.id ? recorded : last));
  const startMs = chosen.end.endMs + 1;
  return [...operations, { ...chosen.read.recorded, id: id + 1, startMs, endMs: startMs + 1 }];
}

function beforeItsTime(operations: readonly RecordedOperation[], random: Random): RecordedOperation[] | null {
  const ended = readsOf(operations).flatMap((read) => {
    const end = endOf(operations, read.answer.value);
    const gone = operations.find((later) => isBefore(read, { recorded: later }) && isAbsence(later));
    return end !== undefined && gone !== undefined && !isTouched(operations, read, gone) ? [end] : [];
  });
  const chosen = pick(ended, random);
  if (chosen === null) {
    return null;
  }
  const startMs = chosen.startMs + FAR_MS;
  return replaced(operations, chosen, { ...chosen, startMs, endMs: chosen.endMs + FAR_MS });
}

/** Longer than any history lasts. */
const FAR_MS = 1e6;

function isAbsence({ operation, outcome }: RecordedOperation): boolean {
  return operation.kind === "get" && outcome.kind === "ok" && outcome.answer.kind === "absent";
}

/** Whether a client may have changed the key after the write of the value that the read saw. */
function isTouched(operations: readonly RecordedOperation[], read: Read, until: RecordedOperation): boolean {
  const write = operations.find(({ operation }) => valueWrittenBy(operation) === read.answer.value);
  return operations.some(({ operation, client, outcome, startMs, endMs }) => {
    const isOther = operation.kind !== "get" && valueWrittenBy(operation) !== read.answer.value && client !== "expiry";
    const overlaps = startMs <= until.endMs && endMs >= (write?.startMs ?? 0);
    return isOther && overlaps && operation.key === until.operation.key && outcome.kind !== "not-executed";
  });
}

/** Whether an acknowledged delete certainly lies between the write of the shown content and the later read. */
function isDeletedBetween(
  operations: readonly RecordedOperation[],
  shown: KeyContent,
  later: RecordedOperation,
): boolean {
  return operations.some(({ operation, outcome, endMs }) => {
    const isDeleted = outcome.kind === "ok" && outcome.answer.kind === "deleted";
    const isOfKey = operation.key === later.operation.key;
    return isOfKey && isDeleted && outcome.answer.revision > shown.modRevision && endMs < later.startMs;
  });
}

/** The expiry of the value; undefined if it has no TTL. */
function endOf(operations: readonly RecordedOperation[], value: string): RecordedOperation | undefined {
  return operations.find(({ operation }) => operation.kind === "delete" && operation.expectedValue === value);
}

function readsOf(operations: readonly RecordedOperation[]): Read[] {
  return operations.flatMap((recorded) => {
    const { operation, outcome } = recorded;
    const isRead = operation.kind === "get" && outcome.kind === "ok" && outcome.answer.kind === "found";
    return isRead ? [{ recorded, answer: outcome.answer }] : [];
  });
}

function pairsOf(reads: readonly Read[], fits: (one: Read, other: Read) => boolean): (readonly [Read, Read])[] {
  return reads.flatMap((one) => reads.filter((other) => fits(one, other)).map((other) => [one, other] as const));
}

/** Whether both reads are of the same key, and `other` began after `one` had ended. */
function isBefore(one: Pick<Read, "recorded">, other: Pick<Read, "recorded">): boolean {
  return isSameKey(one, other) && one.recorded.endMs < other.recorded.startMs;
}

function isSameKey(one: Pick<Read, "recorded">, other: Pick<Read, "recorded">): boolean {
  return one.recorded.operation.key === other.recorded.operation.key;
}

function pick<Item>(items: readonly Item[], random: Random): Item | null {
  return items.length === 0 ? null : (items[random(items.length)] as Item);
}

function answered(
  operations: readonly RecordedOperation[],
  chosen: RecordedOperation,
  answer: KeyAnswer,
): RecordedOperation[] {
  return replaced(operations, chosen, { ...chosen, outcome: { kind: "ok", answer } });
}

function replaced(
  operations: readonly RecordedOperation[],
  chosen: RecordedOperation,
  other: RecordedOperation,
): RecordedOperation[] {
  return operations.map((recorded) => (recorded.id === chosen.id ? other : recorded));
}
