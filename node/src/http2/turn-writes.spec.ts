import { expect } from "chai";
import { TurnWrites } from "./turn-writes.ts";

/** Resolves at the end of the turn, after the earlier writers. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("writes at the end of a turn", () => {
  it("are done once for each call, in order, and not earlier", async () => {
    const writes = new TurnWrites();
    const flushed: string[] = [];
    for (const name of ["a", "b"]) {
      writes.add({ flush: () => flushed.push(name) });
    }
    expect(flushed).to.deep.equal([]);
    await turn();
    expect(flushed).to.deep.equal(["a", "b"]);
    await turn();
    expect(flushed).to.deep.equal(["a", "b"]);
  });

  it("that other writes cause are done in the next turn", async () => {
    const writes = new TurnWrites();
    const flushed: string[] = [];
    writes.add({
      flush: () => {
        flushed.push("first");
        writes.add({ flush: () => flushed.push("second") });
      },
    });
    await turn();
    expect(flushed).to.deep.equal(["first"]);
    await turn();
    expect(flushed).to.deep.equal(["first", "second"]);
  });
});
