import { expect } from "chai";
import fc from "fast-check";
import { type Held, Shares } from "./shares.ts";

describe("shares", () => {
  it("know the client that holds the most, and its oldest and newest item, whatever comes and goes", () => {
    const steps = fc.array(fc.record({ client: fc.nat(3), isAdded: fc.boolean(), which: fc.nat() }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (taken) => {
        const shares = new Shares<number>();
        const held: Held<number>[][] = [[], [], [], []];
        for (const [number, { client, isAdded, which }] of taken.entries()) {
          const own = held[client] ?? [];
          if (isAdded) {
            own.push(shares.add(String(client), number));
          } else if (own.length > 0) {
            const [gone] = own.splice(which % own.length, 1);
            expect(gone && shares.remove(gone)).to.equal(true);
            expect(gone && shares.remove(gone)).to.equal(false);
          }
          const most = Math.max(...held.map(({ length }) => length));
          expect([shares.size, shares.most]).to.deep.equal([held.flat().length, most]);
          expect(held.map((_, at) => shares.countOf(String(at)))).to.deep.equal(held.map(({ length }) => length));
          const candidates = held.filter(({ length }) => length === most && most > 0);
          const oldest = candidates.map(([first]) => first?.item);
          const newest = candidates.map((items) => items.at(-1)?.item);
          expect(oldest.length === 0 ? [undefined] : oldest).to.include(shares.oldestOfMost?.item);
          expect(newest.length === 0 ? [undefined] : newest).to.include(shares.newestOfMost?.item);
        }
      }),
    );
  });

  it("yield to a client that will still have no more than the one that yields", () => {
    const shares = new Shares<number>();
    expect(shares.yieldsTo(0)).to.equal(false);
    shares.add("a", 1);
    expect(shares.yieldsTo(0)).to.equal(false);
    shares.add("a", 2);
    expect([shares.yieldsTo(0), shares.yieldsTo(1)]).to.deep.equal([true, false]);
    shares.add("a", 3);
    expect([shares.yieldsTo(1), shares.yieldsTo(2)]).to.deep.equal([true, false]);
  });

  it("do not compare a client that may hold any number", () => {
    const shares = new Shares<string>();
    shares.add("proxy", "first", false);
    shares.add("proxy", "second", false);
    expect([shares.size, shares.most, shares.oldestOfMost]).to.deep.equal([2, 0, null]);
    const other = shares.add("other", "third");
    expect([shares.most, shares.newestOfMost]).to.deep.equal([1, other]);
  });
});
