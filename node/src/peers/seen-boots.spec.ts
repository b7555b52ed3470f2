import { expect } from "chai";
import { SeenBoots } from "./seen-boots.ts";

describe("SeenBoots", () => {
  it("distinguishes a restart from a first meeting and from the same boot", () => {
    const boots = new SeenBoots();
    expect(boots.seen("a")).to.equal(0);
    expect(boots.note("a", 3)).to.equal(false);
    expect(boots.note("a", 3)).to.equal(false);
    expect(boots.note("a", 4)).to.equal(true);
    expect(boots.seen("a")).to.equal(4);
    expect(boots.note("__proto__", 1)).to.equal(false);
  });

  it("forgets former members", () => {
    const boots = new SeenBoots();
    boots.note("a", 3);
    boots.note("b", 4);
    boots.retainOnly(new Set(["b"]));
    expect([boots.seen("a"), boots.seen("b")]).to.deep.equal([0, 4]);
  });
});
