import { expect } from "chai";
import fc from "fast-check";
import { MemoryStateStore } from "../../test/index.ts";
import type { Change } from "../state/index.ts";
import { ScanFloors } from "./scan-floors.ts";

const key = (table: string, number: number): Uint8Array => Buffer.concat([Buffer.from(table), Uint8Array.of(number)]);
const put = (table: string, number: number): Change => ({ key: key(table, number), value: Uint8Array.of(number) });
const del = (table: string, number: number): Change => ({ key: key(table, number), value: null });
const start = (table: string): Uint8Array => Buffer.from(table);

describe("ScanFloors", () => {
  let store: MemoryStateStore;
  let floors: ScanFloors;
  /** Where the scans of the store began. */
  let began: string[];

  beforeEach(() => {
    store = new MemoryStateStore();
    floors = new ScanFloors();
    began = [];
  });

  function write(...changes: readonly Change[]): void {
    store.write(changes);
    floors.onWrite(changes);
  }

  /** Numbers of the rows from the beginning of the table to before the key, at most so many. */
  function scan(from: Uint8Array, to: Uint8Array, countMax = 100): number[] {
    const numbers: number[] = [];
    floors.scan(
      (first, end, visit) => {
        began.push(Buffer.from(first).toString("latin1"));
        store.scan(first, end, visit);
      },
      from,
      to,
      (row) => numbers.push(row.key[1] as number) < countMax,
    );
    return numbers;
  }

  it("begins where the last scan of the table found its first row", () => {
    write(put("t", 1), put("t", 2), put("t", 3));
    expect(scan(start("t"), start("u"), 1)).to.deep.equal([1]);
    write(del("t", 1));
    expect(scan(start("t"), start("u"), 1)).to.deep.equal([2]);
    expect(scan(start("t"), start("u"), 1)).to.deep.equal([2]);
    expect(began).to.deep.equal(["t", "t\u0001", "t\u0002"]);
  });

  it("begins where an empty scan ended, and not at all when nothing can be there", () => {
    write(put("t", 9));
    expect(scan(start("t"), key("t", 5))).to.deep.equal([]);
    expect(scan(start("t"), key("t", 4))).to.deep.equal([]);
    expect(scan(start("t"), key("t", 8))).to.deep.equal([]);
    expect(scan(start("t"), start("u"))).to.deep.equal([9]);
    expect(began).to.deep.equal(["t", "t\u0005", "t\b"]);
  });

  it("goes back for a row that is written before the first", () => {
    write(put("t", 5));
    expect(scan(start("t"), start("u"))).to.deep.equal([5]);
    write(put("t", 3));
    expect(scan(start("t"), start("u"))).to.deep.equal([3, 5]);
    write(del("t", 3), put("t", 3));
    expect(scan(start("t"), start("u"))).to.deep.equal([3, 5]);
  });

  it("leaves scans alone that begin within a table, and knows each table by itself", () => {
    write(put("t", 5), put("x", 5));
    scan(start("t"), start("u"));
    expect(scan(key("t", 0), start("u"))).to.deep.equal([5]);
    expect(scan(start("x"), start("y"))).to.deep.equal([5]);
    expect(scan(new Uint8Array(0), start("u"))).to.deep.equal([5]);
    expect(began).to.deep.equal(["t", "t\u0000", "x", ""]);
  });

  it("knows the first row also when the visitor throws at it", () => {
    write(put("t", 5));
    const throwing = () => {
      throw new RangeError("the visitor");
    };
    expect(() => floors.scan((...args) => store.scan(...args), start("t"), start("u"), throwing)).to.throw(RangeError);
    expect(scan(start("t"), start("u"))).to.deep.equal([5]);
  });

  it("leaves the known gaps out of the ranges that hold all rows", () => {
    write(put("d", 5), put("t", 5), put("t", 7));
    scan(start("d"), start("e"));
    scan(start("x"), start("y"));
    scan(start("t"), start("u"));
    write(del("t", 5));
    scan(start("t"), start("u"));
    const ranges = floors
      .rangesWithin(Uint8Array.of(1), start("y"))
      .map(({ from, to }) => [from, to].map((bound) => Buffer.from(bound).toString("latin1")));
    expect(ranges).to.deep.equal([
      ["\u0001", "d"],
      ["d\u0005", "t"],
      ["t\u0007", "x"],
    ]);
    expect(floors.rangesWithin(start("e"), start("t")), "no gap within").to.deep.equal([
      { from: start("e"), to: start("t") },
    ]);
  });

  it("learns nothing from scans over several tables, which see what is written into any of them", () => {
    expect(scan(start("t"), start("y"))).to.deep.equal([]);
    write(put("x", 1));
    expect(scan(start("t"), start("y"))).to.deep.equal([1]);
    expect(scan(Uint8Array.of(0xff), Uint8Array.of(0xff, 0xff))).to.deep.equal([]);
    expect(floors.rangesWithin(start("a"), start("y"))).to.deep.equal([{ from: start("a"), to: start("y") }]);
  });

  it("shows what a scan without it shows, after any writes and scans", () => {
    const change = fc.record({
      table: fc.constantFrom("t", "x"),
      number: fc.integer({ min: 0, max: 20 }),
      isPut: fc.boolean(),
    });
    const step = fc.oneof(
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.record({
        table: fc.constantFrom("t", "x"),
        end: fc.integer({ min: 0, max: 21 }),
        countMax: fc.integer({ min: 1, max: 5 }),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        store = new MemoryStateStore();
        floors = new ScanFloors();
        for (const action of steps) {
          if (Array.isArray(action)) {
            write(...action.map(({ table, number, isPut }) => (isPut ? put(table, number) : del(table, number))));
            continue;
          }
          const expected: number[] = [];
          store.scan(start(action.table), key(action.table, action.end), (row) => {
            return expected.push(row.key[1] as number) < action.countMax;
          });
          expect(scan(start(action.table), key(action.table, action.end), action.countMax)).to.deep.equal(expected);
        }
      }),
    );
  });
});
