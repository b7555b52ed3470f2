import { expect } from "chai";
import fc from "fast-check";
import { IndexRing } from "./index-ring.ts";

const ROWS = 8;

describe("index ring", () => {
  it("finds the row that covers an index", () => {
    const ring = new IndexRing(ROWS, 1);
    expect([ring.last, ring.find(1)]).to.deep.equal([0, -1]);
    ring.add(5, 9);
    ring.set(0, 0.5);
    ring.add(12, 12);
    ring.set(0, 1.5);
    const valueAt = (index: number) => (ring.find(index) === -1 ? null : ring.get(ring.find(index), 0));
    expect([4, 5, 9, 10, 11, 12, 13].map(valueAt)).to.deep.equal([null, 0.5, 0.5, null, null, 1.5, null]);
  });

  it("advances from the row before, and knows of the first one only its end", () => {
    const ring = new IndexRing(ROWS, 0);
    ring.advance(100);
    ring.advance(103);
    expect([99, 100, 101, 103, 104].map((index) => ring.find(index))).to.deep.equal([-1, 0, 1, 1, -1]);
  });

  it("answers like a list of the last rows, whatever is added and replaced", () => {
    const step = fc.record({ back: fc.nat(6), gap: fc.nat(2), count: fc.integer({ min: 1, max: 5 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const ring = new IndexRing(ROWS, 1);
        let rows: { first: number; last: number; value: number }[] = [];
        for (const [value, { back, gap, count }] of steps.entries()) {
          const first = Math.max(1, (rows.at(-1)?.last ?? 0) + 1 + gap - back);
          rows = [...rows.filter(({ last }) => last < first), { first, last: first + count - 1, value }].slice(-ROWS);
          ring.add(first, first + count - 1);
          ring.set(0, value);
        }
        for (let index = 0; index < 400; index++) {
          const row = rows.find(({ first, last }) => first <= index && index <= last);
          const at = ring.find(index);
          expect(at === -1 ? undefined : ring.get(at, 0)).to.equal(row?.value);
          if (row !== undefined) {
            expect([ring.firstOf(at), ring.lastOf(at)]).to.deep.equal([row.first, row.last]);
          }
        }
      }),
    );
  });
});
