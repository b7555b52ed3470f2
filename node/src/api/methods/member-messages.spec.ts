import { expect } from "chai";
import { downgradeFloorOf } from "./member-messages.ts";

describe("the oldest release that can read a member's data", () => {
  it("is the one that brought the present formats, for it and for each later one", () => {
    for (const version of ["0.2.0", "0.2.1", "0.10.0", "1.0.0"]) {
      expect(downgradeFloorOf(version), version).to.equal("0.2.0");
    }
  });

  it("is a build itself that has a lower number", () => {
    for (const version of ["0.1.0", "0.0.0-spec"]) {
      expect(downgradeFloorOf(version), version).to.equal(version);
    }
  });
});
