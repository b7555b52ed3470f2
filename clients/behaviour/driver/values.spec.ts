import { expect } from "chai";
import { mismatch, resolve, type Value } from "./values.ts";

const KNOWN = new Map<string, Value>([
  ["put", { mod_revision: 7, list: ["a"] }],
  ["i", 3],
]);

/** A reference within a text. */
const WITHIN = ["$", "{i}"].join("");

describe("values of scenarios", () => {
  it("refer to what is known, as a whole and within texts", () => {
    const value = {
      revision: "$put.mod_revision",
      first: "$put.list.0",
      text: `k${WITHIN}`,
      list: ["$i"],
      price: "5$",
    };
    expect(resolve(value, KNOWN)).to.deep.equal({ revision: 7, first: "a", text: "k3", list: [3], price: "5$" });
  });

  it("are computed", () => {
    expect(resolve({ repeat: "ab", times: 2 }, KNOWN)).to.equal("abab");
  });

  it("refuse names that nothing is known of", () => {
    expect(() => resolve("$absent", KNOWN)).to.throw("nothing is known as $absent");
    expect(() => resolve("$put.version", KNOWN)).to.throw("$put.version has no value");
  });
});

describe("expectations of scenarios", () => {
  const met: readonly (readonly [Value, Value])[] = [
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: { absent: true } }, {}],
    [{ a: null }, {}],
    [[{ a: 1 }], [{ a: 1, b: 2 }]],
    [{ above: 1 }, 2],
    [{ at_least: 2 }, 2],
    [{ below: 3 }, 2],
    [{ not: "a" }, "b"],
    [{ any: true }, 0],
    [{ matches: "^a+$" }, "aa"],
    [{ not: { matches: "b" } }, "aa"],
  ];
  for (const [expected, actual] of met) {
    it(`${JSON.stringify(expected)} is met by ${JSON.stringify(actual)}`, () => {
      expect(mismatch(expected, actual)).to.equal(undefined);
    });
  }

  const unmet: readonly (readonly [Value, Value, string])[] = [
    [{ a: { b: 1 } }, { a: { b: 2 } }, "a.b is 2, not 1"],
    [{ a: 1 }, "text", 'it is "text", not {"a":1}'],
    [{ a: 1 }, {}, "a is absent, not 1"],
    [[1], [1, 2], "it is [1,2], not [1]"],
    [{ list: [{ a: 1 }] }, { list: [{ a: 2 }] }, "list[0].a is 2, not 1"],
    [{ above: 2 }, 2, 'it is 2, not {"above":2}'],
    [{ above: 2 }, "3", 'it is "3", not {"above":2}'],
    [{ at_least: 3 }, 2, 'it is 2, not {"at_least":3}'],
    [{ below: 2 }, 2, 'it is 2, not {"below":2}'],
    [{ not: 2 }, 2, 'it is 2, not {"not":2}'],
    [{ any: true }, null, 'it is null, not {"any":true}'],
    [{ absent: true }, 1, 'it is 1, not {"absent":true}'],
    [{ matches: "b" }, "a", 'it is "a", not {"matches":"b"}'],
    [true, 1, "it is 1, not true"],
  ];
  for (const [expected, actual, problem] of unmet) {
    it(`${JSON.stringify(expected)} is not met by ${JSON.stringify(actual)}`, () => {
      expect(mismatch(expected, actual)).to.equal(problem);
    });
  }
});
