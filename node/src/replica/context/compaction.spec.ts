import { expect } from "chai";
import fc from "fast-check";
import { Compaction, type CompactionLimits } from "./compaction.ts";

const LIMITS: CompactionLimits = {
  keptEntries: 100,
  keptBytes: 10_000,
  dueEntries: 50,
  dueBytes: 5_000,
  neededBytes: 50_000,
};
/** Draws for the spread: none, and the least and the greatest. */
const NO_SPREAD = 0.5;

/** Applies entries of this size up to the index, in slices of ten. */
function apply(compaction: Compaction, from: number, to: number, bytes: number): void {
  for (let index = from; index <= to; index += 10) {
    const end = Math.min(to, index + 9);
    compaction.onApplied(end, (end - index + 1) * bytes);
  }
}

describe("compaction", () => {
  it("drops what is behind the kept entries, once enough is", () => {
    const compaction = new Compaction(LIMITS, 1, 0, NO_SPREAD);
    apply(compaction, 1, 149, 1);
    expect(compaction.due(149), "49 behind the kept ones").to.equal(null);
    compaction.onApplied(150, 1);
    expect(compaction.due(150)).to.equal(51);
    expect(compaction.due(150), "nothing more").to.equal(null);
    apply(compaction, 151, 199, 1);
    expect(compaction.due(199)).to.equal(null);
    compaction.onApplied(200, 1);
    expect(compaction.due(200)).to.equal(101);
  });

  it("keeps fewer entries when they are large: the bytes count too", () => {
    const compaction = new Compaction(LIMITS, 1, 0, NO_SPREAD);
    apply(compaction, 1, 20, 1_000);
    // Ten thousand bytes are the ten newest entries, in slices of ten.
    expect(compaction.due(20)).to.equal(11);
    apply(compaction, 21, 24, 1_000);
    expect(compaction.due(24), "not enough bytes behind the kept ones").to.equal(null);
    apply(compaction, 25, 34, 1_000);
    expect(compaction.due(34)).to.equal(25);
  });

  it("is due by bytes also when few entries are behind the kept ones", () => {
    const compaction = new Compaction({ ...LIMITS, keptBytes: 0, keptEntries: 0, dueEntries: 1_000 }, 1, 0, NO_SPREAD);
    apply(compaction, 1, 10, 400);
    expect(compaction.due(10)).to.equal(null);
    apply(compaction, 11, 20, 400);
    expect(compaction.due(20)).to.equal(21);
  });

  it("never drops what the state has not durably applied", () => {
    const compaction = new Compaction(LIMITS, 1, 0, NO_SPREAD);
    apply(compaction, 1, 1_000, 1);
    expect(compaction.due(0)).to.equal(null);
    expect(compaction.due(49)).to.equal(null);
    expect(compaction.due(60)).to.equal(61);
    expect(compaction.due(1_000)).to.equal(901);
  });

  it("P27: keeps what others still need, up to a bound in bytes", () => {
    const compaction = new Compaction(LIMITS, 1, 0, NO_SPREAD);
    apply(compaction, 1, 1_000, 10);
    expect(compaction.due(1_000, 201)).to.equal(201);
    expect(compaction.due(1_000, 201), "nothing more").to.equal(null);
    apply(compaction, 1_001, 7_000, 10);
    // Fifty thousand bytes are the five thousand newest entries.
    expect(compaction.due(7_000, 201)).to.equal(2_001);
    expect(compaction.due(7_000)).to.equal(6_901);
  });

  it("begins again after a snapshot", () => {
    const compaction = new Compaction(LIMITS, 1, 0, NO_SPREAD);
    apply(compaction, 1, 149, 100);
    compaction.reset(5_000);
    expect(compaction.due(5_000)).to.equal(null);
    apply(compaction, 5_001, 5_200, 1);
    expect(compaction.due(5_200)).to.equal(5_101);
  });

  it("goes on from where the log begins after a start, of whose entries it knows no bytes", () => {
    const compaction = new Compaction(LIMITS, 500, 700, NO_SPREAD);
    expect(compaction.due(499)).to.equal(null);
    apply(compaction, 701, 710, 1);
    expect(compaction.due(710)).to.equal(611);
  });

  it("is spread over members by a fifth, and never by more", () => {
    const dueAt = (random: number): number => {
      const compaction = new Compaction(LIMITS, 1, 0, random);
      for (let index = 1; ; index++) {
        compaction.onApplied(index, 1);
        if (compaction.due(index) !== null) {
          return index - LIMITS.keptEntries;
        }
      }
    };
    expect([dueAt(0), dueAt(NO_SPREAD), dueAt(0.999_999)]).to.deep.equal([40, 50, 60]);
  });

  it("keeps, of any course of events, what has to be kept, and nothing for ever", () => {
    const step = fc.record({
      entries: fc.integer({ min: 1, max: 30 }),
      bytes: fc.integer({ min: 1, max: 2_000 }),
      isDurable: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 120 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (steps, random) => {
          const compaction = new Compaction(LIMITS, 1, 0, random);
          const sizes = [0];
          let [first, durable] = [1, 0];
          for (const { entries, bytes, isDurable } of steps) {
            sizes.push(...Array.from({ length: entries }, () => bytes));
            const applied = sizes.length - 1;
            compaction.onApplied(applied, entries * bytes);
            durable = isDurable ? applied : durable;
            const next = compaction.due(durable);
            if (next === null) {
              continue;
            }
            const kept = sizes.slice(next);
            const keptBytes = kept.reduce((sum, size) => sum + size, 0);
            expect(next)
              .to.be.greaterThan(first)
              .and.at.most(durable + 1);
            expect(kept.length >= LIMITS.keptEntries || keptBytes >= LIMITS.keptBytes).to.equal(true);
            first = next;
          }
          const behind = sizes.slice(first);
          const bytesBehind = behind.reduce((sum, size) => sum + size, 0);
          // With everything durable, what is left is at most what is kept, what makes it due, and one slice.
          const [final, slice] = [compaction.due(sizes.length - 1), 30];
          if (final === null) {
            const few = behind.length <= LIMITS.keptEntries + LIMITS.dueEntries * 1.2 + slice;
            const light = bytesBehind <= LIMITS.keptBytes + LIMITS.dueBytes * 1.2 + slice * 2_000;
            expect(few || light, `${behind.length} entries, ${bytesBehind} bytes`).to.equal(true);
          }
        },
      ),
    );
  });
});
