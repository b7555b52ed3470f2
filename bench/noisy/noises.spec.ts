import { expect } from "chai";
import { NOISES } from "./noises.ts";

describe("NOISES", () => {
  it("are at least 25, each with a name of its own", () => {
    const names = NOISES.map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length).and.to.be.at.least(25);
  });
});
