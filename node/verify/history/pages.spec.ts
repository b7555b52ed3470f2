import { expect } from "chai";
import { created, deleted, historyOf, overwritten, put, remove } from "./example.ts";
import { contradictionOfPage, type RecordedPage, withPages } from "./pages.ts";
import { describeVerdict } from "./report.ts";
import { witnessCheck } from "./witness.ts";

const A2 = { key: "a", value: "a2", createRevision: 2, modRevision: 2, version: 1 };
const A4 = { key: "a", value: "a4", createRevision: 2, modRevision: 4, version: 2 };
const B3 = { key: "b", value: "b3", createRevision: 3, modRevision: 3, version: 1 };
const C6 = { key: "c", value: "c6", createRevision: 6, modRevision: 6, version: 1 };

/** Clients write and delete keys while pages are read. */
const OPERATIONS = historyOf(
  [put("a2", "a"), 0, 1, created(2)],
  [put("b3", "b"), 2, 3, created(3)],
  [put("a4", "a"), 4, 90, overwritten(4)],
  [remove("b"), 5, 90, deleted(5)],
  [put("c6", "c"), 6, 90, created(6)],
);

function page(revision: number, items: RecordedPage["items"], more: Partial<RecordedPage> = {}): RecordedPage {
  const whole = { client: "lister", startMs: 10, endMs: 20, prefix: "", after: null, sizeMax: 10, hasMore: false };
  return { ...whole, revision, items, ...more };
}

function judged(...pages: RecordedPage[]): string {
  const verdict = witnessCheck(withPages(OPERATIONS, pages));
  return verdict.kind === "correct" ? "correct" : describeVerdict(verdict);
}

describe("pages of keys", () => {
  it("are the state at their revision", () => {
    expect(judged(page(3, [A2, B3]))).to.equal("correct");
    expect(judged(page(4, [A4, B3]))).to.equal("correct");
    expect(judged(page(5, [A4]))).to.equal("correct");
    expect(judged(page(6, [A4, C6]))).to.equal("correct");
  });

  it("are not put together of two revisions", () => {
    expect(judged(page(6, [A4, B3, C6]))).to.contain("violated");
    expect(judged(page(4, [A2, B3]))).to.contain("violated");
    expect(judged(page(3, [A2, B3, C6]))).to.contain("violated");
  });

  it("leave out no key of their range", () => {
    expect(judged(page(3, [A2]))).to.contain("violated");
    expect(judged(page(6, [C6]))).to.contain("violated");
    expect(judged(page(3, []))).to.contain("violated");
  });

  it("say nothing of keys out of their range", () => {
    expect(judged(page(3, [A2], { hasMore: true, sizeMax: 1 }))).to.equal("correct");
    expect(judged(page(3, [B3], { after: "a" }))).to.equal("correct");
    expect(judged(page(3, [B3], { prefix: "b" }))).to.equal("correct");
  });

  it("show all that ended before they began, and what an earlier page has shown", () => {
    expect(judged(page(2, [A2]))).to.contain("revisions never go backwards");
    const earlier = page(6, [A4, C6]);
    const later = { startMs: 30, endMs: 40 };
    expect(judged(earlier, page(6, [A4, C6], later))).to.equal("correct");
    expect(judged(earlier, page(4, [A4, B3], later))).to.contain("revisions never go backwards");
  });

  it("are in order, within their bounds", () => {
    const named = (...keys: string[]): RecordedPage["items"] => keys.map((key) => ({ ...A2, key }));
    expect(contradictionOfPage(page(3, named("a", "b")))).to.equal(null);
    // By bytes, the last character of the basic plane comes before the first one of the next.
    expect(contradictionOfPage(page(3, named("\uffff", "\u{1f600}")))).to.equal(null);
    expect(contradictionOfPage(page(3, named("\u{1f600}", "\uffff")))).to.contain("comes after");
    expect(contradictionOfPage(page(3, named("b", "a")))).to.equal("a comes after b");
    expect(contradictionOfPage(page(3, named("a", "a")))).to.equal("a comes after a");
    expect(contradictionOfPage(page(3, named("a"), { after: "a" }))).to.equal("a comes after a");
    expect(contradictionOfPage(page(3, named("a"), { prefix: "b" }))).to.equal("a does not begin with b");
    expect(contradictionOfPage(page(3, named("a", "b"), { sizeMax: 1 }))).to.contain("more than 1");
    expect(contradictionOfPage(page(3, [], { hasMore: true }))).to.contain("empty");
  });
});
