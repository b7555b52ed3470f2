import { expect } from "chai";
import { InvariantViolation, invariant, safeCount } from "./violation.ts";

/** Returns the violation that the action raises. Fails if it raises none. */
function violationOf(action: () => unknown): InvariantViolation {
  try {
    action();
  } catch (error) {
    expect(error).to.be.instanceOf(InvariantViolation);
    return error as InvariantViolation;
  }
  throw new Error("raised nothing");
}

describe("invariants", () => {
  it("that hold do nothing, and do not build their details", () => {
    invariant(true, "rule", () => {
      throw new Error("built");
    });
  });

  it("that are broken raise the rule and the values that broke it", () => {
    const violation = violationOf(() => invariant(false, "terms never fall", () => "3 after 4"));
    expect(violation).to.be.instanceOf(Error);
    expect(violation.name).to.equal("InvariantViolation");
    expect(violation.rule).to.equal("terms never fall");
    expect(violation.details).to.equal("3 after 4");
    expect(violation.message).to.equal("terms never fall: 3 after 4");
  });

  it("need no details", () => {
    const violation = violationOf(() => invariant(false, "rule"));
    expect([violation.message, violation.details]).to.deep.equal(["rule", ""]);
  });
});

describe("safeCount", () => {
  for (const value of [0, 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    it(`passes ${value} through`, () => {
      expect(safeCount(value, "index")).to.equal(value);
    });
  }

  for (const value of [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`refuses ${value} and names the count`, () => {
      expect(violationOf(() => safeCount(value, "index")).details).to.equal(`index = ${value}`);
    });
  }
});
