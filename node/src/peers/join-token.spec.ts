import { expect } from "chai";
import { isAccepted } from "./join-token.ts";

describe("isAccepted", () => {
  it("takes any of the accepted tokens, and nothing else", () => {
    const accepted = ["first token", "second token"];
    expect(isAccepted("first token", accepted)).to.equal(true);
    expect(isAccepted("second token", accepted)).to.equal(true);
    for (const wrong of ["", "first", "first token ", "FIRST TOKEN", "third token"]) {
      expect(isAccepted(wrong, accepted), wrong).to.equal(false);
    }
  });

  it("takes nothing where no token is set, and never an empty one", () => {
    expect(isAccepted("", [])).to.equal(false);
    expect(isAccepted("x", [])).to.equal(false);
    expect(isAccepted("", [""])).to.equal(false);
  });
});
