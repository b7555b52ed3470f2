import { expect } from "chai";
import {
  absent,
  created,
  deleted,
  found,
  get,
  historyOf,
  type Line,
  NOT_EXECUTED,
  notSwapped,
  overwritten,
  put,
  remove,
  swap,
  swapped,
  UNKNOWN,
} from "./example.ts";
import type { RecordedOperation } from "./history.ts";
import { describeVerdict } from "./report.ts";
import { SEARCH_LIMIT_MS, searchCheck } from "./search.ts";
import type { Verdict } from "./verdict.ts";
import { witnessCheck } from "./witness.ts";

type Oracle = (operations: readonly RecordedOperation[]) => Verdict;

const search: Oracle = (operations) => searchCheck(operations, { nowMs: () => 0, limitMs: SEARCH_LIMIT_MS });
const BOTH: readonly (readonly [string, Oracle])[] = [
  ["witness check", witnessCheck],
  ["search check", search],
];

/** The key after the first put of "a", at revision 2. */
const A = { value: "a", createRevision: 2, modRevision: 2, version: 1 };

/** For each rule a good and a bad history, for both checks. */
const HISTORIES: readonly (readonly [rule: string, good: readonly Line[], bad: readonly Line[]])[] = [
  [
    "a write that was acknowledged is not lost",
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 3, overwritten(3)],
      [get(), 4, 5, found("b", [2, 3, 2])],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 3, overwritten(3)],
      [get(), 4, 5, found("a", [2, 2, 1])],
    ],
  ],
  [
    "a key that was written is there",
    [
      [get(), 0, 1, absent],
      [put("a"), 2, 3, created(2)],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [get(), 2, 3, absent],
    ],
  ],
  [
    "a read shows what ended before it began",
    [
      [put("a"), 0, 1, created(2)],
      // Overlaps the read, which may come first.
      [put("b"), 2, 6, overwritten(3)],
      [get(), 4, 5, found("a", [2, 2, 1])],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 3, overwritten(3)],
      [get(), 4, 5, found("a", [2, 2, 1], 3)],
    ],
  ],
  [
    "what one read has shown, a later one shows too",
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 9, overwritten(3)],
      [get(), 3, 4, found("a", [2, 2, 1])],
      [get(), 5, 6, found("b", [2, 3, 2])],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 9, overwritten(3)],
      [get(), 3, 4, found("b", [2, 3, 2])],
      [get(), 5, 6, found("a", [2, 2, 1])],
    ],
  ],
  [
    "a write is executed once: its value does not come back",
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 3, overwritten(3)],
      [put("c"), 4, 5, overwritten(4)],
      [get(), 6, 7, found("c", [2, 4, 3])],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 3, overwritten(3)],
      [get(), 4, 5, found("a", [2, 4, 3])],
    ],
  ],
  [
    "a write is executed once: it counts once",
    [
      [put("a"), 0, 1, created(2)],
      [get(), 2, 3, found("a", [2, 2, 1])],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [get(), 2, 3, found("a", [2, 3, 2])],
    ],
  ],
  [
    "a write of unknown outcome may take effect later, once",
    [
      [put("a"), 0, 1, created(2)],
      [put("u"), 2, 3, UNKNOWN],
      [put("b"), 4, 5, overwritten(3)],
      [get(), 6, 7, found("b", [2, 3, 2])],
      [get(), 8, 9, found("u", [2, 4, 3])],
    ],
    [
      [put("u"), 0, 1, UNKNOWN],
      [get(), 2, 3, found("u", [2, 2, 1])],
      [put("b"), 4, 5, overwritten(3)],
      [get(), 6, 7, found("u", [2, 4, 3])],
    ],
  ],
  [
    "a write of unknown outcome takes effect after its start, or not at all",
    [
      [put("a"), 0, 1, created(2)],
      [put("u"), 2, 3, UNKNOWN],
      [get(), 4, 5, found("a", [2, 2, 1])],
    ],
    [
      [get(), 0, 1, found("u", [2, 2, 1])],
      [put("u"), 2, 3, UNKNOWN],
    ],
  ],
  [
    "a delete of unknown outcome explains that a key is gone, once",
    [
      [put("a"), 0, 1, created(2)],
      [remove(), 2, 3, UNKNOWN],
      [get(), 4, 5, absent],
      [get(), 6, 7, absent],
      [put("b"), 8, 9, created(4)],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [remove(), 2, 3, UNKNOWN],
      [get(), 4, 5, absent],
      [put("b"), 6, 7, created(4)],
      [get(), 8, 9, absent],
    ],
  ],
  [
    "an unseen write of unknown outcome explains that a key was there, once",
    [
      [put("u"), 0, 1, UNKNOWN],
      [put("a"), 2, 3, overwritten(3)],
      [get(), 4, 5, found("a", [2, 3, 2])],
    ],
    [
      [put("u"), 0, 1, UNKNOWN],
      [put("a"), 2, 3, overwritten(3)],
      [remove(), 4, 5, deleted(4)],
      [put("b"), 6, 7, overwritten(6)],
    ],
  ],
  [
    "an operation that was not executed has no effect",
    [
      [put("a"), 0, 1, created(2)],
      [put("n"), 2, 3, NOT_EXECUTED],
      [get(), 4, 5, found("a", [2, 2, 1])],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [put("n"), 2, 3, NOT_EXECUTED],
      [get(), 4, 5, found("n", [2, 3, 2])],
    ],
  ],
  ["a client wrote each value that is found", [[get(), 0, 1, absent]], [[get(), 0, 1, found("z", [2, 2, 1])]]],
  [
    "of two that swap the same revision, one does",
    [
      [put("a"), 0, 1, created(2)],
      [swap("b", { expectedModRevision: 2 }), 2, 5, swapped(3)],
      [swap("c", { expectedModRevision: 2 }), 2, 5, notSwapped("b", 3)],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [swap("b", { expectedModRevision: 2 }), 2, 5, swapped(3)],
      [swap("c", { expectedModRevision: 2 }), 2, 5, swapped(4)],
    ],
  ],
  [
    "a swap that fails had a reason",
    [
      [put("a"), 0, 1, created(2)],
      [swap("b", { expectedValue: "x" }), 2, 3, notSwapped("a", 2)],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [swap("b", { expectedValue: "a" }), 2, 3, notSwapped("a", 2)],
    ],
  ],
  [
    "a swap without expectation creates",
    [
      [swap("a"), 0, 1, swapped(2)],
      [get(), 2, 3, found("a", [2, 2, 1])],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [swap("b"), 2, 3, swapped(3)],
    ],
  ],
  [
    "a delete removes, and the next write begins a new life",
    [
      [put("a"), 0, 1, created(2)],
      [remove(), 2, 3, deleted(3)],
      [remove(), 4, 5, absent],
      [put("b"), 6, 7, created(4)],
      [get(), 8, 9, found("b", [4, 4, 1])],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [remove(), 2, 3, deleted(3)],
      [put("b"), 4, 5, created(4)],
      [get(), 6, 7, found("b", [2, 4, 2])],
    ],
  ],
  [
    "a key that does not exist is not deleted",
    [
      [put("a"), 0, 5, created(2)],
      [remove(), 1, 6, deleted(3)],
    ],
    [[remove(), 0, 1, deleted(2)]],
  ],
  [
    "a write returns the content before it",
    [
      [put("a"), 0, 1, created(2, null)],
      [put("b"), 2, 3, overwritten(3, A)],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 3, overwritten(3)],
      [put("c"), 4, 5, overwritten(4, A)],
    ],
  ],
  [
    "a delete returns what it has removed",
    [
      [put("a"), 0, 1, created(2)],
      [remove(), 2, 3, deleted(3, A)],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [remove(), 2, 3, deleted(3, { ...A, version: 2 })],
    ],
  ],
  [
    "only the operation that replaces a value returns it as the previous one",
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 9, overwritten(3, A)],
      [put("c"), 2, 9, overwritten(4)],
    ],
    [
      [put("a"), 0, 1, created(2)],
      [put("b"), 2, 9, overwritten(3, A)],
      [put("c"), 2, 9, overwritten(4, A)],
    ],
  ],
  [
    "a previous value shows that an unknown write was executed",
    [
      [put("a"), 0, 1, UNKNOWN],
      [put("b"), 2, 3, overwritten(3, A)],
    ],
    [
      [put("b"), 2, 3, overwritten(3, A)],
      [put("a"), 4, 5, UNKNOWN],
    ],
  ],
  [
    "all answers show the same content of a write",
    [
      [put("a"), 0, 1, created(2)],
      [get(), 2, 3, found("a", [2, 2, 1])],
      [put("b"), 4, 5, overwritten(3, A)],
    ],
    [
      [put("x"), -2, -1, UNKNOWN],
      [put("a"), 0, 1, created(2)],
      [get(), 2, 3, found("a", [2, 2, 1])],
      [put("b"), 4, 5, overwritten(3, { ...A, version: 2 })],
    ],
  ],
];

/** Histories that only the witness check finds wrong, because the search check trusts no revision. */
const BAD_REVISIONS: readonly (readonly [rule: string, bad: readonly Line[]])[] = [
  [
    "revisions never go backwards, across keys either",
    [
      [put("a", "x"), 0, 1, created(5)],
      [put("b", "y"), 2, 3, created(4)],
    ],
  ],
  [
    "a revision has one write",
    [
      [put("a", "x"), 0, 3, created(2)],
      [put("b", "y"), 1, 2, created(2)],
    ],
  ],
  [
    "a write comes after what was read before it",
    [
      [put("a", "x"), 0, 1, created(2)],
      [get("x"), 2, 3, found("a", [2, 2, 1], 7)],
      [put("b", "y"), 4, 5, created(7)],
    ],
  ],
  [
    "an operation of unknown outcome comes after all answers from before it began",
    [
      [put("a", "x"), 0, 1, created(9)],
      [put("u", "y"), 2, 3, UNKNOWN],
      [get("y"), 0, 7, found("u", [4, 4, 1], 9)],
    ],
  ],
];

describe("oracles for histories of keys", () => {
  for (const [name, check] of BOTH) {
    describe(name, () => {
      for (const [rule, good, bad] of HISTORIES) {
        it(`${rule}: passes what keeps to it`, () => {
          const verdict = check(historyOf(...good));
          expect(verdict.kind, describeVerdict(verdict)).to.equal("correct");
        });
        it(`${rule}: finds what does not`, () => {
          expect(check(historyOf(...bad)).kind).to.equal("violation");
        });
      }
    });
  }

  for (const [rule, bad] of BAD_REVISIONS) {
    it(`${rule}: the witness check finds what does not`, () => {
      expect(witnessCheck(historyOf(...bad)).kind).to.equal("violation");
    });
  }

  it("a history in which two operations write the same value cannot be searched", () => {
    expect(() => search(historyOf([put("a"), 0, 1, created(2)], [put("a"), 2, 3, UNKNOWN]))).to.throw("both write");
  });

  it("an empty history is correct", () => {
    for (const [, check] of BOTH) {
      expect(check([]).kind).to.equal("correct");
    }
  });

  it("the search gives up when its time is over, and that is no pass", () => {
    // Overlapping puts whose answers fit no order. Only trying all orders can show that.
    const puts = Array.from({ length: 12 }, (_, at): Line => [put(`v${at}`), 0, 100, overwritten(at + 2)]);
    let nowMs = 0;
    const clock = (): number => {
      nowMs += 100;
      return nowMs;
    };
    const verdict = searchCheck(historyOf([put("a"), 0, 100, created(1)], ...puts, [get(), 200, 201, absent]), {
      nowMs: clock,
      limitMs: 1_000,
    });
    expect(verdict.kind).to.equal("undecided");
    expect(describeVerdict(verdict)).to.match(/^undecided/);
  });

  it("a violation names only the operations that contradict each other", () => {
    const many = Array.from({ length: 100 }, (_, at): Line => [put(`v${at}`), at, at + 0.5, overwritten(at + 3)]);
    const history = historyOf(
      [put("first"), -2, -1, created(2)],
      ...many,
      [get(), 200, 201, found("v98", [2, 101, 100], 102)],
      [get("other"), 300, 301, absent],
    );
    for (const [name, check] of BOTH) {
      const text = describeVerdict(check(history));
      expect(text, name).to.contain("-> v98").and.to.contain("v99");
      expect(text.split("\n").length, name).to.be.below(12);
    }
  });
});
