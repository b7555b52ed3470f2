import { expect } from "chai";
import { changeConfiguration, NO_CONFIGURATION } from "./configuration.ts";
import { InvariantViolation } from "./violation.ts";

const BOOTSTRAP = { type: "bootstrap" } as const;

describe("configurations", () => {
  it("begin with nobody, who therefore cannot vote", () => {
    expect(NO_CONFIGURATION).to.deep.equal({ index: 0, voters: [] });
  });

  it("are founded with one voter, whose id is the index of the founding entry", () => {
    expect(changeConfiguration(NO_CONFIGURATION, 1, BOOTSTRAP)).to.deep.equal({ index: 1, voters: [1] });
  });

  it("P48: are founded anew above a restored backup, so that no id is used twice", () => {
    expect(changeConfiguration(NO_CONFIGURATION, 4711, BOOTSTRAP)).to.deep.equal({ index: 4711, voters: [4711] });
  });

  it("P47: are not founded a second time", () => {
    const founded = changeConfiguration(NO_CONFIGURATION, 1, BOOTSTRAP);
    expect(() => changeConfiguration(founded, 2, BOOTSTRAP)).to.throw(InvariantViolation, "founded once");
  });

  it("change in the order of the log", () => {
    expect(() => changeConfiguration({ index: 5, voters: [] }, 5, BOOTSTRAP)).to.throw(InvariantViolation, "order");
    expect(() => changeConfiguration({ index: 5, voters: [] }, 4, BOOTSTRAP)).to.throw(InvariantViolation, "order");
  });

  it("are left as they were: a change makes a new one", () => {
    changeConfiguration(NO_CONFIGURATION, 1, BOOTSTRAP);
    expect(NO_CONFIGURATION).to.deep.equal({ index: 0, voters: [] });
  });
});
