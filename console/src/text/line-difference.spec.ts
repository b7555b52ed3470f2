import { expect } from "chai";
import { lineDifference } from "./line-difference.ts";

const MARKS = { same: " ", removed: "-", added: "+" };

function difference(before: string, after: string): string {
  return lineDifference(before, after)
    .map(({ kind, text }) => MARKS[kind] + text)
    .join("|");
}

describe("the difference of two texts", () => {
  it("keeps equal lines and marks the others", () => {
    expect(difference("a\nb\nc", "a\nx\nc")).to.equal(" a|-b|+x| c");
    expect(difference("a\nb", "a\nb")).to.equal(" a| b");
    expect(difference("a\nb\nc\nd", "b\nd\ne")).to.equal("-a| b|-c| d|+e");
  });

  it("has a line for an empty text", () => {
    expect(difference("", "a")).to.equal("-|+a");
  });

  it("shows the changed middle of long texts as a whole", () => {
    const long = (first: string): string => Array.from({ length: 2_000 }, (_, line) => `${first}${line}`).join("\n");
    const result = lineDifference(`same\n${long("a")}`, `same\n${long("b")}`);
    expect([result.length, result[0]?.kind, result[1]?.kind, result.at(-1)?.kind]).to.deep.equal([
      ...[4_001, "same", "removed", "added"],
    ]);
  });

  it("restores both texts from its lines", () => {
    const [before, after] = ["one\ntwo\ntwo\nthree\n", "two\none\ntwo\nfour\n"];
    const result = lineDifference(before, after);
    const textWithout = (kind: string): string =>
      result.flatMap((line) => (line.kind === kind ? [] : [line.text])).join("\n");
    expect([textWithout("added"), textWithout("removed")]).to.deep.equal([before, after]);
  });
});
