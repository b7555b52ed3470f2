import { expect } from "chai";
import fc from "fast-check";
import { withExpiries } from "./expiries.ts";
import type { KeyAnswer, KeyOperation, RecordedOperation } from "./history.ts";
import { contradiction, execute, type KeyState, unknownRevision } from "./key-model.ts";
import { RANDOM_EXPIRY_LATE_MS, type RandomHistoryOptions, randomHistory } from "./random-history.ts";
import { describeVerdict } from "./report.ts";
import { SEARCH_LIMIT_MS, searchCheck } from "./search.ts";
import { contentShownBy, isWrite, revisionAnsweredBy, ShownRevisions, shownBy } from "./shown-revisions.ts";
import type { Verdict } from "./verdict.ts";
import { witnessCheck } from "./witness.ts";

type Random = (bound: number) => number;
/** Makes a wrong history from a correct one; null if the change does not fit anywhere in this one. */
type Falsification = (operations: readonly RecordedOperation[], random: Random) => RecordedOperation[] | null;

const SIZE: RandomHistoryOptions = { clients: 5, keys: 2, operationsPerClient: 20, unknownPercent: 8 };
const TINY: RandomHistoryOptions = { clients: 3, keys: 1, operationsPerClient: 2, unknownPercent: 20 };

/** A larger number has too many orders. */
const OPERATIONS_OF_ALL_ORDERS_MAX = 9;

/** fast-check gives the numbers, so that it can report and shrink a failure. */
const random = fc.infiniteStream(fc.nat({ max: 0xffff })).map((stream): Random => {
  return (bound) => (stream.next().value as number) % bound;
});

function search(operations: readonly RecordedOperation[]): Verdict {
  return searchCheck(operations, { nowMs: () => performance.now(), limitMs: SEARCH_LIMIT_MS });
}

/** The history with the expiries of its keys. */
function expiring(operations: readonly RecordedOperation[]): readonly RecordedOperation[] {
  return withExpiries(operations, {
    clockDrift: 0,
    clockResolutionMs: 0,
    lateMsMax: RANDOM_EXPIRY_LATE_MS,
    leaderless: [],
  });
}

describe("random histories", () => {
  it("that were lived pass both checks", () => {
    fc.assert(
      fc.property(random, (next) => {
        const history = randomHistory(next, SIZE);
        for (const verdict of [witnessCheck(history), search(history)]) {
          expect(verdict.kind, describeVerdict(verdict)).to.equal("correct");
        }
      }),
      { numRuns: 200 },
    );
  });

  it("with many unknown outcomes pass both checks", () => {
    fc.assert(
      fc.property(random, (next) => {
        const history = randomHistory(next, { ...SIZE, operationsPerClient: 10, unknownPercent: 25 });
        for (const verdict of [witnessCheck(history), search(history)]) {
          expect(verdict.kind, describeVerdict(verdict)).to.equal("correct");
        }
      }),
      { numRuns: 200 },
    );
  });

  it("with keys with a TTL pass both checks", () => {
    fc.assert(
      fc.property(random, (next) => {
        const history = expiring(randomHistory(next, { ...SIZE, ttlPercent: 40 }));
        for (const verdict of [witnessCheck(history), search(history)]) {
          expect(verdict.kind, describeVerdict(verdict)).to.equal("correct");
        }
      }),
      { numRuns: 300 },
    );
  });

  for (const [name, falsify] of falsifications()) {
    it(`are found out with ${name}`, () => {
      let falsified = 0;
      fc.assert(
        fc.property(random, (next) => {
          const wrong = falsify(randomHistory(next, SIZE), next);
          if (wrong !== null) {
            falsified++;
            expect(search(wrong).kind, "search check").to.equal("violation");
            expect(witnessCheck(wrong).kind, "witness check").to.equal("violation");
          }
        }),
        { numRuns: 60 },
      );
      expect(falsified, "histories in which it fits").to.be.above(20);
    });
  }

  it("of a few operations are judged by the search as by trying all orders", () => {
    const verdicts = new Map<boolean, number>();
    fc.assert(
      fc.property(random, (next) => {
        const lived = randomHistory(next, { ...TINY, ttlPercent: next(3) * 15 });
        const history = expiring(shuffleAnswers(lived, next)).slice(0, OPERATIONS_OF_ALL_ORDERS_MAX);
        const expected = isLinearizable(history);
        verdicts.set(expected, (verdicts.get(expected) ?? 0) + 1);
        expect(search(history).kind).to.equal(expected ? "correct" : "violation");
      }),
      { numRuns: 3_000 },
    );
    expect(Math.min(verdicts.get(true) ?? 0, verdicts.get(false) ?? 0), "of either kind").to.be.above(50);
  });
});

function falsifications(): Map<string, Falsification> {
  return new Map([
    ["a stale read", staleRead],
    ["a lost write", lostWrite],
    ["a value from nowhere", valueFromNowhere],
    ["an effect of what was not executed", notExecutedTookEffect],
    ["a write that is counted too often", executedTooOften],
  ]);
}

function staleRead(operations: readonly RecordedOperation[], next: Random): RecordedOperation[] | null {
  return alter(operations, next, (read) => {
    const { key } = read.operation;
    const puts = operations.filter(({ operation, outcome }) => {
      return operation.kind === "put" && operation.key === key && outcome.kind === "ok";
    });
    for (const newer of puts.filter(({ endMs }) => endMs < read.startMs)) {
      const older = puts.find(({ endMs }) => endMs < newer.startMs);
      if (older?.operation.kind === "put" && older.outcome.kind === "ok" && older.outcome.answer.kind === "put") {
        return { ...foundOf(read), value: older.operation.value, modRevision: older.outcome.answer.revision };
      }
    }
    return null;
  });
}

function lostWrite(operations: readonly RecordedOperation[], next: Random): RecordedOperation[] | null {
  return alter(operations, next, (read) => {
    const { key } = read.operation;
    const ofKey = operations.filter(({ operation, outcome }) => {
      return operation.key === key && outcome.kind !== "not-executed";
    });
    const deletes = ofKey.filter(({ operation }) => operation.kind === "delete");
    const survives = ofKey.some(
      (write) =>
        write.operation.kind === "put" &&
        write.endMs < read.startMs &&
        deletes.every((remove) => remove.endMs < write.startMs || remove.startMs > read.endMs),
    );
    return survives ? { kind: "absent" } : null;
  });
}

function valueFromNowhere(operations: readonly RecordedOperation[], next: Random): RecordedOperation[] | null {
  return alter(operations, next, (read) => ({ ...foundOf(read), value: "no client wrote this" }));
}

function executedTooOften(operations: readonly RecordedOperation[], next: Random): RecordedOperation[] | null {
  return alter(operations, next, (read) => {
    const found = foundOf(read);
    return { ...found, version: found.version + operations.length };
  });
}

function notExecutedTookEffect(operations: readonly RecordedOperation[], next: Random): RecordedOperation[] | null {
  const shown = new Set(
    operations.flatMap(({ outcome }) => (outcome.kind === "ok" ? (shownBy(outcome.answer)?.value ?? []) : [])),
  );
  const candidates = operations.filter(({ operation }) => operation.kind === "put" && shown.has(operation.value));
  const refused = candidates[next(Math.max(1, candidates.length))];
  return refused === undefined
    ? null
    : operations.map((recorded) =>
        recorded === refused
          ? { ...recorded, endMs: recorded.startMs + 1, outcome: { kind: "not-executed" } }
          : recorded,
      );
}

/** Replaces the answer of one read that found a value, if the change is possible for any. */
function alter(
  operations: readonly RecordedOperation[],
  next: Random,
  change: (read: RecordedOperation) => KeyAnswer | null,
): RecordedOperation[] | null {
  const changes = operations.flatMap((recorded) => {
    const { operation, outcome } = recorded;
    const isRead = operation.kind === "get" && outcome.kind === "ok" && outcome.answer.kind === "found";
    const answer = isRead ? change(recorded) : null;
    return answer === null ? [] : [{ recorded, answer }];
  });
  const chosen = changes[next(Math.max(1, changes.length))];
  return chosen === undefined
    ? null
    : operations.map((recorded) =>
        recorded === chosen.recorded ? { ...recorded, outcome: { kind: "ok", answer: chosen.answer } } : recorded,
      );
}

function foundOf({ outcome }: RecordedOperation): KeyAnswer & { readonly kind: "found" } {
  if (outcome.kind !== "ok" || outcome.answer.kind !== "found") {
    throw new Error("only reads that found something are altered");
  }
  return outcome.answer;
}

/** Swaps answers between operations of a kind, which sometimes makes the history wrong. */
function shuffleAnswers(operations: readonly RecordedOperation[], next: Random): RecordedOperation[] {
  const outcomes = operations.map(({ outcome }) => outcome);
  for (let at = outcomes.length - 1; at > 0; at--) {
    const other = next(at + 1);
    const isSameKind = operations[at]?.operation.kind === operations[other]?.operation.kind;
    const [a, b] = [outcomes[at], outcomes[other]];
    if (isSameKind && a?.kind === "ok" && b?.kind === "ok") {
      outcomes[at] = b;
      outcomes[other] = a;
    }
  }
  return operations.map((recorded, at) => ({ ...recorded, outcome: outcomes[at] ?? recorded.outcome }));
}

/** The operations executed so far, in the order that is being tried. */
interface Past {
  readonly state: KeyState;
  /** The creation before each life, as far as answers show it. */
  readonly creations: ReadonlySet<number>;
}

/** The definition of linearizability, taken literally. */
function isLinearizable(operations: readonly RecordedOperation[]): boolean {
  const shownRevisions = new ShownRevisions(operations);
  const revisionOf = ({ id, operation, outcome }: RecordedOperation): number => {
    const answered = outcome.kind === "ok" ? revisionAnsweredBy(outcome.answer) : undefined;
    return answered ?? shownRevisions.revisionOf({ operation }) ?? unknownRevision(id);
  };
  const told = new Set(
    operations
      .filter(({ operation }) => operation.kind !== "get")
      .filter(isWriteOrUnknown)
      .map(revisionOf),
  );
  const extend = (left: readonly RecordedOperation[], past: Past): boolean => {
    if (left.every(({ outcome }) => outcome.kind !== "ok")) {
      return true;
    }
    return left.some((recorded) => {
      const { operation, outcome, startMs, consequenceOf } = recorded;
      if (left.some(({ endMs, outcome: other }) => other.kind === "ok" && endMs < startMs)) {
        return false;
      }
      if (outcome.kind === "not-executed" || left.some(({ id }) => id === consequenceOf)) {
        return false;
      }
      const before = outcome.kind === "ok" ? accepting(past, operation, outcome.answer, told) : past.state;
      if (before === undefined) {
        return false;
      }
      const state = execute(before, operation, revisionOf(recorded));
      const isOver = before !== null && state === null;
      const creations = isOver ? new Set([...past.creations, before.createRevision]) : past.creations;
      const rest = left.filter((other) => other !== recorded);
      return extend(rest, { state, creations });
    });
  };
  return extend(operations, { state: null, creations: new Set() });
}

function isWriteOrUnknown({ outcome }: RecordedOperation): boolean {
  return outcome.kind === "unknown" || (outcome.kind === "ok" && isWrite(outcome.answer));
}

/** The state with what the answer shows of it; undefined if the answer is impossible. */
function accepting(
  { state, creations }: Past,
  operation: KeyOperation,
  answer: KeyAnswer,
  told: ReadonlySet<number>,
): KeyState | undefined {
  if (contradiction(state, operation, answer) !== null) {
    return undefined;
  }
  const content = contentShownBy(answer);
  if (state === null || content === null || state.createRevision >= 0) {
    return state;
  }
  // If no answer shows which revision created the key, it is this one, unless that revision made another life or write.
  const { createRevision } = content;
  return told.has(createRevision) || creations.has(createRevision) ? undefined : { ...state, createRevision };
}
