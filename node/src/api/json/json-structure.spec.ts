import { expect } from "chai";
import { structureOf } from "./json-structure.ts";
import { namesIn } from "./repeated-name.ts";

function problemOf(text: string): string | null {
  return structureOf(Buffer.from(text)).problem;
}

describe("the structure of a JSON text", () => {
  it("is bounded in depth, whatever its strings contain", () => {
    const nested = (depth: number): string => `${'{"a":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;
    expect(problemOf(nested(32))).to.equal(null);
    expect(problemOf(nested(34))).to.equal("must not be nested deeper than 32 levels");
    expect(problemOf("[".repeat(33))).to.contain("deeper");
    for (const text of ["[".repeat(99), '\\"['.repeat(99), "\\\\", '\\\\\\"[[']) {
      expect(problemOf(`{"a":"${text}"}`), text).to.equal(null);
    }
    // The string ends before the brackets: what looks like an escape is an escaped backslash.
    expect(problemOf(`{"a":"\\\\"${"[".repeat(40)}`)).to.contain("deeper");
  });

  it("is bounded in names and values", () => {
    expect(problemOf(`{"payloads":[${'"",'.repeat(9_999)}""]}`)).to.equal(null);
    expect(problemOf(`[${"0,".repeat(20_998)}0]`)).to.equal(null);
    for (const text of ["0,".repeat(21_000), '"",'.repeat(10_500), "[],".repeat(10_500), `"a":0,`.repeat(10_500)]) {
      expect(problemOf(`[${text}0]`), text.slice(0, 9)).to.equal("must have at most 21000 names and values");
    }
  });

  it("may have more names and values if the message may have more fields", () => {
    const some = (count: number) => structureOf(Buffer.from(`[${"0,".repeat(count - 1)}0]`), 100_000).problem;
    expect(some(101_000)).to.equal(null);
    expect(some(101_001)).to.equal("must have at most 101000 names and values");
  });

  it("has a number of names, whatever its strings contain", () => {
    for (const [text, names] of [
      ["[1]", 0],
      ['{"a":":","b":[{"c":{}}]}', 3],
      ['{"\\":\\\\" : 1, "":""}', 2],
    ] as const) {
      expect(structureOf(Buffer.from(text)).names, text).to.equal(names);
      expect(namesIn(JSON.parse(text)), text).to.equal(names);
    }
  });

  it("may be cut anywhere", () => {
    const text = '{"a":"x\\"y","b":[1,"\\\\"]}';
    for (let length = 0; length <= text.length; length++) {
      expect(problemOf(text.slice(0, length))).to.equal(null);
    }
  });
});
