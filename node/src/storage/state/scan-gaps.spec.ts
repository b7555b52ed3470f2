import { expect } from "chai";
import fc from "fast-check";
import { MemoryStateStore } from "../../../test/index.ts";
import { withNul } from "../../bytes/index.ts";
import type { Change, KeyRange, Row } from "../../state/index.ts";
import { ScanGaps } from "./scan-gaps.ts";

const key = (number: number): Uint8Array => Uint8Array.of(1, number);
const put = (number: number): Change => ({ key: key(number), value: Uint8Array.of(number) });
const del = (number: number): Change => ({ key: key(number), value: null });

/** A store in which every range without rows takes long to scan. */
class SlowStore extends MemoryStateStore {
  /** The first and the last byte of the ranges that were scanned. */
  scanned: string[] = [];

  override scan(
    from: Uint8Array,
    to: Uint8Array,
    visit: (row: Row) => boolean,
    onGap: (gap: KeyRange) => void = () => undefined,
  ): void {
    this.scanned.push(`${from.at(-1)}–${to.at(-1)}`);
    let reached = from;
    let isWhole = true;
    super.scan(from, to, (row) => {
      onGap({ from: reached, to: row.key });
      reached = withNul(row.key);
      isWhole = visit(row);
      return isWhole;
    });
    if (isWhole) {
      onGap({ from: reached, to });
    }
  }
}

describe("ScanGaps", () => {
  let store: SlowStore;
  let gaps: ScanGaps;

  beforeEach(() => {
    store = new SlowStore();
    gaps = new ScanGaps();
  });

  function write(...changes: readonly Change[]): void {
    store.write(changes);
    gaps.onWrite(changes);
  }

  /** Numbers of the rows from one number to before another, at most so many. */
  function scan(from: number, to: number, countMax = 100): number[] {
    const numbers: number[] = [];
    store.scanned = [];
    gaps.scan(store, key(from), key(to), ({ key: found }) => numbers.push(found[1] as number) < countMax);
    return numbers;
  }

  it("begins behind a gap, and leaves one out between two rows", () => {
    write(put(5), put(9));
    expect(scan(0, 20)).to.deep.equal([5, 9]);
    expect([scan(0, 20), store.scanned]).to.deep.equal([
      [5, 9],
      ["5–0", "9–0"],
    ]);
    write(del(5));
    expect([scan(0, 20), store.scanned]).to.deep.equal([[9], ["5–0", "9–0"]]);
    expect([scan(0, 20), store.scanned], "the gaps are one now").to.deep.equal([[9], ["9–0"]]);
  });

  it("scans nothing of a gap, and of a range only what is in none", () => {
    write(put(9));
    expect(scan(0, 20)).to.deep.equal([9]);
    expect([scan(2, 8), store.scanned]).to.deep.equal([[], []]);
    expect([scan(2, 9), store.scanned]).to.deep.equal([[], []]);
    expect([scan(4, 12), store.scanned]).to.deep.equal([[9], ["9–0"]]);
    expect([scan(9, 30), store.scanned]).to.deep.equal([[9], ["9–0", "20–30"]]);
  });

  it("learns of a gap only what was scanned", () => {
    write(put(5), put(9));
    expect(scan(0, 20, 1)).to.deep.equal([5]);
    expect([scan(0, 20), store.scanned]).to.deep.equal([[5, 9], ["5–20"]]);
  });

  it("is divided by a row that is written into it", () => {
    write(put(1), put(9));
    scan(1, 20);
    write(put(5));
    expect([scan(0, 20), store.scanned]).to.deep.equal([
      [1, 5, 9],
      ["0–0", "5–0", "9–0"],
    ]);
    write(del(5), put(2), put(8));
    expect(scan(0, 20)).to.deep.equal([1, 2, 8, 9]);
  });

  it("forgets the gaps that it found first when there are very many", () => {
    const far = (number: number): Uint8Array => Uint8Array.of(2, number >> 8, number & 0xff);
    store.write(Array.from({ length: 1_000 }, (_, at) => ({ key: far(at), value: Uint8Array.of(1) })));
    gaps.scan(store, far(0), far(1_000), () => true);
    const kept = gaps.rangesWithin(far(0), far(1_000));
    expect(kept).to.have.length(256);
    expect(kept[0]?.from).to.deep.equal(far(0));
  });

  it("leaves out of the ranges that hold all rows what it knows", () => {
    write(put(5), put(7));
    scan(0, 6);
    expect(gaps.rangesWithin(key(2), key(9))).to.deep.equal([
      { from: key(5), to: withNul(key(5)) },
      { from: key(6), to: key(9) },
    ]);
    expect(gaps.rangesWithin(key(6), key(9)), "no gap within").to.deep.equal([{ from: key(6), to: key(9) }]);
    expect(gaps.rangesWithin(key(1), key(4)), "nothing but a gap").to.deep.equal([]);
  });

  it("knows a gap also when the visitor throws at the row behind it", () => {
    write(put(5));
    const throwing = () => {
      throw new RangeError("the visitor");
    };
    expect(() => gaps.scan(store, key(0), key(9), throwing)).to.throw(RangeError);
    expect([scan(0, 9, 1), store.scanned]).to.deep.equal([[5], ["5–9"]]);
  });

  it("shows what a scan without it shows, after any writes and scans", () => {
    const number = fc.integer({ min: 0, max: 30 });
    const step = fc.oneof(
      fc.array(fc.record({ number, isPut: fc.boolean() }), { minLength: 1, maxLength: 4 }),
      fc.record({ from: number, to: number, countMax: fc.integer({ min: 1, max: 6 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        store = new SlowStore();
        gaps = new ScanGaps();
        for (const action of steps) {
          if (Array.isArray(action)) {
            write(...action.map((one) => (one.isPut ? put(one.number) : del(one.number))));
            continue;
          }
          const { from, to, countMax } = action;
          const expected: number[] = [];
          store.scan(key(from), key(to), (row) => expected.push(row.key[1] as number) < countMax);
          expect(scan(from, to, countMax)).to.deep.equal(expected);
        }
      }),
    );
  });
});
