import { expect } from "chai";
import { InvariantViolation } from "../../primitives/index.ts";
import { stateDirectoryBeside, stateNumberOf, statePointerBeside, statePointerTo } from "./state-directory.ts";

describe("state directories", () => {
  it("have a number, and lie beside each other and beside the file that names the live one", () => {
    expect(stateNumberOf("data/state-1")).to.equal(1);
    expect(stateNumberOf("data/state-120")).to.equal(120);
    expect(stateDirectoryBeside("data/state-9", 10)).to.equal("data/state-10");
    expect(statePointerBeside("data/state-9")).to.equal("data/state");
    expect(statePointerTo("data/state-9")).to.equal("state-9\n");
  });

  it("are nothing else", () => {
    for (const name of ["state", "state-", "state-0", "state-01", "state-1x", "state-1-before-recovery", "raft"]) {
      expect(() => stateNumberOf(`data/${name}`), name).to.throw(InvariantViolation);
    }
  });
});
