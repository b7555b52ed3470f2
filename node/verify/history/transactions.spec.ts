import { expect } from "chai";
import fc from "fast-check";
import { History, type KeyContent, type OpenOperation, type RecordedOperation } from "./history.ts";
import { describeVerdict } from "./report.ts";
import { searchCheck } from "./search.ts";
import { contentShownBy, valueWrittenBy } from "./shown-revisions.ts";
import {
  beginTransaction,
  contradictionOfTransaction,
  type TransactedKey,
  type TransactionAnswer,
} from "./transactions.ts";
import type { Verdict } from "./verdict.ts";
import { witnessCheck } from "./witness.ts";

type Random = (bound: number) => number;

const LOOKS_MAX = 4_000;

function search(operations: readonly RecordedOperation[]): Verdict {
  let looks = 0;
  return searchCheck(operations, { nowMs: () => looks++, limitMs: LOOKS_MAX });
}

/** What a key has after its first write, at this revision. */
function first(value: string, revision: number): KeyContent {
  return { value, createRevision: revision, modRevision: revision, version: 1 };
}

/** A history of steps whose times the caller sets. */
class Written {
  readonly history: History;
  #nowMs = 0;

  constructor() {
    this.history = new History(() => this.#nowMs);
  }

  /** A transaction from one time to another; without an answer its outcome is unknown. */
  transact(keys: readonly TransactedKey[], startMs: number, endMs: number, answer: TransactionAnswer | null): this {
    this.#nowMs = startMs;
    const open = beginTransaction(this.history, "c", keys);
    this.#nowMs = endMs;
    open.end(answer === null ? { kind: "unknown" } : { kind: "ok", answer });
    return this;
  }

  read(contents: Record<string, KeyContent | null>, startMs: number, revision: number): this {
    const keys = Object.keys(contents).map((key) => ({ key, write: null }));
    return this.transact(keys, startMs, startMs + 1, { succeeded: true, revision, contents: Object.values(contents) });
  }

  get verdicts(): string[] {
    return [witnessCheck(this.history.operations).kind, search(this.history.operations).kind];
  }
}

const A_AND_B: readonly TransactedKey[] = [
  { key: "a", write: { kind: "put", value: "a1" } },
  { key: "b", write: { kind: "put", value: "b1" } },
];
const DONE: TransactionAnswer = { succeeded: true, revision: 2, contents: [null, null] };
const CORRECT = ["correct", "correct"];
const WRONG = ["violation", "violation"];

describe("transactions in a history", () => {
  it("are seen whole, with one revision for all keys", () => {
    const written = new Written().transact(A_AND_B, 0, 1, DONE).read({ a: first("a1", 2), b: first("b1", 2) }, 2, 2);
    expect(written.verdicts).to.deep.equal(CORRECT);
  });

  it("are not seen in part", () => {
    const written = new Written().transact(A_AND_B, 0, 9, DONE).read({ a: first("a1", 2), b: null }, 2, 2);
    expect(written.verdicts).to.deep.equal(WRONG);
  });

  it("happen whole if one value of them is seen, although no client got their answer", () => {
    const seen = () => new Written().transact(A_AND_B, 0, 1, null).read({ a: first("a1", 2) }, 2, 2);
    expect(seen().read({ b: first("b1", 2) }, 4, 2).verdicts).to.deep.equal(CORRECT);
    expect(seen().read({ b: null }, 4, 2).verdicts).to.deep.equal(WRONG);
  });

  it("may happen or not if nothing of them is seen", () => {
    const unseen = () => new Written().transact(A_AND_B, 0, 1, null);
    expect(unseen().read({ a: null, b: null }, 2, 1).verdicts).to.deep.equal(CORRECT);
    const deleted = () => {
      const both: TransactedKey[] = ["a", "b"].map((key) => ({ key, write: { kind: "delete" } }));
      const answer = { succeeded: true, revision: 2, contents: [null, null] };
      return new Written().transact(A_AND_B, 0, 1, answer).transact(both, 2, 3, null);
    };
    expect(deleted().read({ a: null, b: null }, 4, 3).verdicts).to.deep.equal(CORRECT);
    // The witness check is not exact about what has no revision.
    expect(deleted().read({ a: null, b: first("b1", 2) }, 4, 3).verdicts[1]).to.equal("violation");
  });

  it("are in one order for all keys: two that each miss the other's write contradict each other", () => {
    const written = new Written()
      .transact(
        [
          { key: "a", write: { kind: "put", value: "a1" } },
          { key: "b", write: null },
        ],
        0,
        9,
        DONE,
      )
      .transact(
        [
          { key: "b", write: { kind: "put", value: "b1" } },
          { key: "a", write: null },
        ],
        0,
        9,
        {
          ...DONE,
          revision: 3,
        },
      );
    expect(written.verdicts).to.deep.equal(WRONG);
  });

  it("answer as their comparisons demand", () => {
    const keys: TransactedKey[] = [{ key: "a", expectedModRevision: 2, write: { kind: "put", value: "x" } }];
    const answer = (succeeded: boolean, modRevision: number): TransactionAnswer => {
      return { succeeded, revision: 5, contents: [modRevision === 0 ? null : first("a", modRevision)] };
    };
    expect(contradictionOfTransaction(keys, answer(true, 2))).to.equal(null);
    expect(contradictionOfTransaction(keys, answer(false, 3))).to.equal(null);
    expect(contradictionOfTransaction(keys, answer(true, 0))).to.match(/comparison of a/);
    expect(contradictionOfTransaction(keys, answer(false, 2))).to.match(/all comparisons/);
  });
});

/** Real keys that execute transactions at moments between their starts and ends. */
class Life {
  readonly history: History;
  readonly #random: Random;
  readonly #keys = new Map<string, KeyContent>();
  /** The revision of each key in the newest answer: no client knows others. */
  readonly #told = new Map<string, number>();
  #revision = 1;
  #nowMs = 0;
  #values = 0;
  /** Transactions that have begun, each with what is left to do. */
  #open: {
    keys: readonly TransactedKey[];
    open: OpenOperation<TransactionAnswer>;
    answer: TransactionAnswer | null;
  }[] = [];

  constructor(random: Random) {
    this.#random = random;
    this.history = new History(() => this.#nowMs);
  }

  run(steps: number, clients: number): readonly RecordedOperation[] {
    for (let step = 0; step < steps; step++) {
      this.#nowMs++;
      const one = this.#open[this.#random(clients)];
      if (one === undefined) {
        this.#begin();
      } else if (one.answer === null) {
        one.answer = this.#execute(one.keys);
      } else {
        this.#open = this.#open.filter((other) => other !== one);
        this.#end(one.keys, one.open, one.answer);
      }
    }
    return this.history.operations;
  }

  #end(keys: readonly TransactedKey[], open: OpenOperation<TransactionAnswer>, answer: TransactionAnswer): void {
    if (this.#random(8) === 0) {
      open.end({ kind: "unknown" });
      return;
    }
    open.end({ kind: "ok", answer });
    const { succeeded, revision, contents } = answer;
    for (const [at, { key, write }] of keys.entries()) {
      const isDeleted = succeeded && write?.kind === "delete";
      const modRevision = succeeded && write?.kind === "put" ? revision : (contents[at]?.modRevision ?? 0);
      this.#told.set(key, isDeleted ? 0 : modRevision);
    }
  }

  #begin(): void {
    const names = ["a", "b", "c", "d"].filter(() => this.#random(2) === 0);
    const keys = (names.length === 0 ? ["a"] : names).map((key): TransactedKey => {
      const expected = this.#random(3) === 0 ? { expectedModRevision: this.#told.get(key) ?? 0 } : {};
      const dice = this.#random(10);
      this.#values++;
      const put = { kind: "put", value: `v${this.#values}` } as const;
      return { key, ...expected, write: dice < 3 ? null : dice === 3 ? { kind: "delete" } : put };
    });
    this.#open.push({ keys, open: beginTransaction(this.history, "c", keys), answer: null });
  }

  #execute(keys: readonly TransactedKey[]): TransactionAnswer {
    const contents = keys.map(({ key }) => this.#keys.get(key) ?? null);
    const succeeded = keys.every(({ expectedModRevision }, at) => {
      return expectedModRevision === undefined || expectedModRevision === (contents[at]?.modRevision ?? 0);
    });
    const writes = keys.filter(({ key, write }) => write?.kind === "put" || (write !== null && this.#keys.has(key)));
    if (succeeded && writes.length > 0) {
      this.#revision++;
      for (const { key, write } of writes) {
        const before = this.#keys.get(key);
        if (write?.kind === "put") {
          const { createRevision, version } = before ?? { createRevision: this.#revision, version: 0 };
          const modRevision = this.#revision;
          this.#keys.set(key, { value: write.value, createRevision, modRevision, version: version + 1 });
        } else {
          this.#keys.delete(key);
        }
      }
    }
    return { succeeded, revision: this.#revision, contents };
  }
}

describe("random transactions", () => {
  const random = fc.infiniteStream(fc.nat({ max: 0xffff })).map((stream): Random => {
    return (bound) => (stream.next().value as number) % bound;
  });

  it("that were lived pass both checks", () => {
    fc.assert(
      fc.property(random, (next) => {
        const operations = new Life(next).run(400, 5);
        for (const verdict of [witnessCheck(operations), search(operations)]) {
          expect(verdict.kind, describeVerdict(verdict)).to.equal("correct");
        }
      }),
      { numRuns: 60 },
    );
  });

  it("are found out if one write of a step is lost", () => {
    let falsified = 0;
    fc.assert(
      fc.property(random, (next) => {
        const operations = new Life(next).run(400, 5);
        const isWritten = ({ step, outcome }: RecordedOperation): boolean =>
          step !== undefined && outcome.kind === "ok" && outcome.answer.kind === "put";
        const lost = operations.find((one) => {
          return isWritten(one) && operations.some((other) => other.step !== one.step && showsWriteOf(other, one));
        });
        if (lost === undefined) {
          return;
        }
        falsified++;
        const wrong = operations.map((one): RecordedOperation => {
          return one === lost
            ? { ...one, operation: { kind: "get", key: one.operation.key }, outcome: readOf(one) }
            : one;
        });
        expect(search(wrong).kind).to.equal("violation");
      }),
      { numRuns: 60 },
    );
    expect(falsified).to.be.above(30);
  });
});

/** Whether the answer of the operation shows the value that the other one has written. */
function showsWriteOf({ outcome }: RecordedOperation, { operation }: RecordedOperation): boolean {
  const shown = outcome.kind === "ok" ? contentShownBy(outcome.answer) : null;
  return shown !== null && shown.value === valueWrittenBy(operation);
}

/** The answer of a read that saw what the write has replaced. */
function readOf({ outcome }: RecordedOperation): RecordedOperation["outcome"] {
  const answer = outcome.kind === "ok" && outcome.answer.kind === "put" ? outcome.answer : null;
  const { previous = null, revision = 0 } = answer ?? {};
  return {
    kind: "ok",
    answer: previous === null ? { kind: "absent", revision } : { kind: "found", ...previous, revision },
  };
}
