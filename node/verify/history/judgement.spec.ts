import { expect } from "chai";
import { created, found, get, historyOf, overwritten, put } from "./example.ts";
import { judgeHistory } from "./judgement.ts";
import { SEARCH_LIMIT_MS } from "./search.ts";

const SEARCH = { nowMs: () => 0, limitMs: SEARCH_LIMIT_MS };

describe("the judgement of a history", () => {
  it("has nothing to say of a correct one", () => {
    expect(judgeHistory(historyOf([put("a"), 0, 1, created(2)], [get(), 2, 3, found("a", [2, 2, 1])]), SEARCH)).to.be
      .empty;
  });

  it("finds an old value by both oracles", () => {
    const old = historyOf(
      [put("a"), 0, 5, created(1)],
      [put("b"), 10, 15, overwritten(2)],
      [get(), 20, 25, found("a", [1, 1, 1])],
    );
    const wrong = judgeHistory(old, SEARCH);
    expect(wrong).to.have.lengthOf(2);
    expect(wrong.join("\n")).to.contain("revisions never go backwards").and.to.contain("no order of the operations");
  });

  it("reports the findings of each oracle, and each wrong key", () => {
    const wrong = historyOf(
      [put("a", "x"), 0, 1, created(2)],
      [put("b", "x"), 2, 3, overwritten(3)],
      [get("x"), 4, 5, found("a", [2, 2, 1])],
      [put("c", "y"), 10, 11, created(4)],
      [get("y"), 12, 13, found("z", [4, 4, 1])],
    );
    const text = judgeHistory(wrong, SEARCH);
    expect(text).to.have.lengthOf(3);
    expect(text.join("\n")).to.contain("revisions never go backwards").and.to.contain("key x").and.to.contain("key y");
  });

  it("fails if a search does not end in time", () => {
    // Enough steps for a look at the clock.
    const puts = Array.from({ length: 300 }, (_, at) => {
      return [put(`v${at}`), at, at + 0.5, at === 0 ? created(2) : overwritten(at + 2)] as const;
    });
    let nowMs = 0;
    const clock = (): number => {
      nowMs += SEARCH_LIMIT_MS;
      return nowMs;
    };
    const text = judgeHistory(historyOf(...puts), { nowMs: clock, limitMs: SEARCH_LIMIT_MS / 2 });
    expect(text).to.have.lengthOf(1);
    expect(text[0]).to.match(/^undecided/);
  });
});
