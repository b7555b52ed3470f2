import { expect } from "chai";
import { InvariantViolation } from "../primitives/index.ts";
import type { Message } from "./message.ts";
import { Writes } from "./writes.ts";

function message(to: number, term = 1): Message {
  return { type: "vote-reply", from: 1, to, term, granted: true, commit: 0, commitTerm: 0 };
}

describe("writes", () => {
  it("P3: have one growing sequence, also over starts of the directory", () => {
    const writes = new Writes(41);
    expect(writes.nextSeq).to.equal(42);
    expect(writes.begin()).to.equal(42);
    writes.durable(42, 1);
    expect(writes.begin()).to.equal(43);
  });

  it("are in flight one at a time, and become durable in order, once", () => {
    const writes = new Writes(0);
    expect(() => writes.durable(0, 1)).to.throw(InvariantViolation);
    writes.begin();
    expect(() => writes.begin()).to.throw(InvariantViolation, "one write is in flight");
    expect(() => writes.durable(2, 1)).to.throw(InvariantViolation);
    writes.durable(1, 1);
    expect(() => writes.durable(1, 1)).to.throw(InvariantViolation);
  });

  it("include everything dirty", () => {
    const writes = new Writes(0);
    writes.markDirty();
    expect(writes.isDirty).to.equal(true);
    writes.begin();
    expect(writes.isDirty).to.equal(false);
  });
});

describe("a message", () => {
  it("waits for nothing when everything is durable", () => {
    expect(new Writes(7).defer(message(2), false)).to.equal(false);
  });

  it("P1, P2: waits for the next write if anything is unwritten, in the log or beside it", () => {
    for (const isDirty of [true, false]) {
      const writes = new Writes(0);
      if (isDirty) {
        writes.markDirty();
      }
      expect(writes.defer(message(2), !isDirty)).to.equal(true);
      expect(writes.durable(writes.begin(), 1)).to.deep.equal([message(2)]);
    }
  });

  it("waits for the write in flight if everything is in it", () => {
    const writes = new Writes(0);
    writes.markDirty();
    writes.begin();
    expect(writes.defer(message(2), false)).to.equal(true);
    expect(writes.durable(1, 1)).to.deep.equal([message(2)]);
  });

  it("waits for the write after the one in flight if something has changed since", () => {
    const writes = new Writes(0);
    writes.markDirty();
    writes.begin();
    writes.markDirty();
    writes.defer(message(2), false);
    expect(writes.durable(1, 1)).to.deep.equal([]);
    writes.begin();
    expect(writes.durable(2, 1)).to.deep.equal([message(2)]);
  });

  it("leaves in the order in which it came, with the others", () => {
    const writes = new Writes(0);
    writes.markDirty();
    writes.defer(message(2), false);
    writes.defer(message(3), false);
    expect(writes.durable(writes.begin(), 1).map(({ to }) => to)).to.deep.equal([2, 3]);
  });

  it("of a term that has passed is not sent any more", () => {
    const writes = new Writes(0);
    writes.markDirty();
    writes.defer(message(2, 1), false);
    writes.defer(message(3, 2), false);
    writes.begin();
    expect(writes.durable(1, 2)).to.deep.equal([message(3, 2)]);
  });
});
