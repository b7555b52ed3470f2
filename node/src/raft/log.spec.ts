import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../primitives/index.ts";
import { EntryType, encodeEntry, entryIndex, NO_ENVELOPE, sealEntry } from "./entry.ts";
import { type LogBounds, type LogReader, RaftLog } from "./log.ts";

const EMPTY: LogBounds = { first: 1, prevTerm: 0, last: 0, lastTerm: 0 };
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

function rowOf(index: number, term: number, bytes = 0, type: EntryType = EntryType.Command): Uint8Array {
  const row = encodeEntry(type, NO_ENVELOPE, new Uint8Array(bytes));
  sealEntry(row, term, index, crc32);
  return row;
}

/** The entries on the disk. Like a store, it fails a read of anything else. */
class Disk implements LogReader {
  readonly rows = new Map<number, { readonly row: Uint8Array; readonly term: number }>();
  /** Reads so far: index of the first row and number of rows. */
  readonly reads: (readonly [number, number])[] = [];

  term(index: number): number {
    const stored = this.rows.get(index);
    if (stored === undefined) {
      throw new Error(`entry ${index} is not on the disk`);
    }
    return stored.term;
  }

  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    const rows: Uint8Array[] = [];
    let bytes = 0;
    for (let index = from; index <= to; index++) {
      this.term(index);
      const { row } = this.rows.get(index) as { row: Uint8Array };
      bytes += row.length;
      if (rows.length > 0 && bytes > maxBytes) {
        break;
      }
      rows.push(row);
    }
    this.reads.push([from, rows.length]);
    return rows;
  }
}

function newLog(bounds = EMPTY, tailBytesMax = NO_LIMIT): { log: RaftLog; disk: Disk } {
  const disk = new Disk();
  return { log: new RaftLog(bounds, disk, tailBytesMax), disk };
}

function append(log: RaftLog, term: number, count = 1, bytes = 0): void {
  for (; count > 0; count--) {
    log.append(rowOf(log.lastIndex + 1, term, bytes));
  }
}

/** Writes everything unwritten and acknowledges it at once. */
function write(log: RaftLog, disk: Disk, writeSeq: number): void {
  for (const row of log.takeUnwritten(writeSeq)) {
    const index = entryIndex(row);
    disk.rows.set(index, { row, term: log.term(index) });
  }
  log.flushed(writeSeq);
}

function indexes(rows: readonly Uint8Array[]): number[] {
  return rows.map(entryIndex);
}

describe("the Raft log", () => {
  it("begins with the entries of the store, all of them stable and written", () => {
    const { log } = newLog({ first: 5, prevTerm: 2, last: 9, lastTerm: 3 });
    expect([log.firstIndex, log.lastIndex, log.lastTerm, log.stableIndex]).to.deep.equal([5, 9, 3, 9]);
    expect(log.hasUnwritten).to.equal(false);
    expect(log.takeUnwritten(1)).to.deep.equal([]);
  });

  it("knows the term before its first entry, and none below that or above its last", () => {
    const { log, disk } = newLog({ first: 5, prevTerm: 2, last: 6, lastTerm: 3 });
    disk.rows.set(5, { row: rowOf(5, 3), term: 3 });
    append(log, 4);
    expect([4, 5, 7].map((index) => log.term(index))).to.deep.equal([2, 3, 4]);
    expect(() => log.term(3)).to.throw(InvariantViolation);
    expect(() => log.term(8)).to.throw(InvariantViolation);
  });

  it("knows the term of the entry before it, also when it is empty", () => {
    const { log } = newLog({ first: 5, prevTerm: 2, last: 4, lastTerm: 2 });
    expect([log.lastIndex, log.lastTerm, log.term(4)]).to.deep.equal([4, 2, 2]);
  });

  for (const bounds of [
    { first: 0, prevTerm: 0, last: 0, lastTerm: 0 },
    { first: 5, prevTerm: 1, last: 3, lastTerm: 1 },
    { first: 5, prevTerm: 3, last: 9, lastTerm: 2 },
    { first: 5, prevTerm: 1, last: 4, lastTerm: 2 },
  ]) {
    it(`does not begin with the bounds ${JSON.stringify(bounds)}`, () => {
      expect(() => newLog(bounds)).to.throw(InvariantViolation);
    });
  }

  it("is dense, and its terms never fall", () => {
    const { log } = newLog();
    append(log, 3);
    expect(() => log.append(rowOf(3, 3))).to.throw(InvariantViolation, "dense");
    expect(() => log.append(rowOf(1, 3))).to.throw(InvariantViolation, "dense");
    expect(() => log.append(rowOf(2, 2))).to.throw(InvariantViolation, "terms never fall");
    expect(log.lastIndex).to.equal(1);
  });

  it("hands out each row once, to the write that asks next", () => {
    const { log } = newLog();
    append(log, 1, 2);
    expect(log.hasUnwritten).to.equal(true);
    expect(indexes(log.takeUnwritten(7))).to.deep.equal([1, 2]);
    expect(log.hasUnwritten).to.equal(false);
    append(log, 1);
    expect(indexes(log.takeUnwritten(8))).to.deep.equal([3]);
    expect(log.takeUnwritten(9)).to.deep.equal([]);
  });

  it("P31: is stable up to the rows of flushed writes, independent of later appends", () => {
    const { log } = newLog();
    append(log, 1, 2);
    log.takeUnwritten(7);
    append(log, 1);
    expect(log.stableIndex).to.equal(0);
    log.flushed(7);
    expect(log.stableIndex, "entry 3 has no number yet").to.equal(2);
    log.takeUnwritten(9);
    log.flushed(8);
    expect(log.stableIndex, "entry 3 has a later number").to.equal(2);
    log.flushed(9);
    expect(log.stableIndex).to.equal(3);
  });

  it("P31: is stable up to an earlier write when a later one is flushed: writes are flushed in order", () => {
    const { log } = newLog();
    append(log, 1);
    log.takeUnwritten(1);
    append(log, 1);
    log.takeUnwritten(2);
    append(log, 1);
    log.flushed(2);
    expect(log.stableIndex).to.equal(2);
  });

  it("takes acknowledgements in their order only", () => {
    const { log } = newLog();
    append(log, 1);
    log.takeUnwritten(3);
    log.flushed(3);
    expect(() => log.flushed(3)).to.throw(InvariantViolation);
    expect(() => log.flushed(2)).to.throw(InvariantViolation);
  });

  it("gives rows within a limit of bytes, at least one", () => {
    const { log } = newLog();
    append(log, 1, 5, 36);
    expect(indexes(log.entries(1, 5, 1_000))).to.deep.equal([1, 2, 3, 4, 5]);
    expect(indexes(log.entries(2, 5, 200))).to.deep.equal([2, 3]);
    expect(indexes(log.entries(2, 5, 199))).to.deep.equal([2]);
    expect(indexes(log.entries(2, 5, 0))).to.deep.equal([2]);
    expect(indexes(log.entries(4, 4, 1_000))).to.deep.equal([4]);
  });

  it("gives no rows that it does not hold", () => {
    const { log } = newLog({ first: 3, prevTerm: 1, last: 4, lastTerm: 1 });
    for (const [from, to] of [
      [2, 3],
      [4, 3],
      [4, 5],
      [5, 5],
    ] as const) {
      expect(() => log.entries(from, to, 100), `${from}..${to}`).to.throw(InvariantViolation);
    }
  });

  it("drops applied and stable entries beyond its limit, the oldest first, and reads them from the disk", () => {
    const { log, disk } = newLog(EMPTY, 2 * 64);
    append(log, 1, 5);
    write(log, disk, 1);
    log.release(0);
    expect(log.bytesInMemory(1, 5), "nothing is applied").to.equal(5 * 64);
    log.release(2);
    expect(log.bytesInMemory(1, 5), "2 are applied").to.equal(3 * 64);
    log.release(5);
    expect(log.bytesInMemory(1, 5), "the limit is kept").to.equal(2 * 64);
    expect(indexes(log.entries(1, 5, 1_000)), "up to where memory begins").to.deep.equal([1, 2, 3]);
    expect(indexes(log.entries(4, 5, 1_000))).to.deep.equal([4, 5]);
    expect(log.term(3)).to.equal(1);
    expect(disk.reads).to.deep.equal([[1, 3]]);
  });

  it("P43: keeps unstable entries in memory, without a limit", () => {
    const { log, disk } = newLog(EMPTY, 0);
    append(log, 1, 2);
    write(log, disk, 1);
    append(log, 1, 3);
    log.takeUnwritten(2);
    log.release(5);
    expect(log.bytesInMemory(1, 5)).to.equal(3 * 64);
    expect(indexes(log.entries(3, 5, 1_000))).to.deep.equal([3, 4, 5]);
    expect(disk.reads).to.deep.equal([]);
  });

  it("forgets entries that the store has dropped", () => {
    const { log, disk } = newLog();
    append(log, 1, 2);
    append(log, 2, 3);
    write(log, disk, 1);
    log.compacted(4, 2);
    expect([log.firstIndex, log.lastIndex, log.term(3)]).to.deep.equal([4, 5, 2]);
    expect(log.bytesInMemory(1, 5)).to.equal(2 * 64);
    expect(() => log.term(2)).to.throw(InvariantViolation);
    expect(() => log.entries(3, 5, 100)).to.throw(InvariantViolation);
  });

  it("can be dropped whole, and continues after that", () => {
    const { log, disk } = newLog();
    append(log, 2, 3);
    write(log, disk, 1);
    log.compacted(4, 2);
    expect([log.firstIndex, log.lastIndex, log.lastTerm, log.term(3)]).to.deep.equal([4, 3, 2, 2]);
    append(log, 2);
    expect(indexes(log.entries(4, 4, 100))).to.deep.equal([4]);
    expect(log.bytesInMemory(1, 4)).to.equal(64);
  });

  it("is dropped neither backwards nor beyond its stable end", () => {
    const { log, disk } = newLog();
    append(log, 1, 3);
    write(log, disk, 1);
    append(log, 1, 2);
    log.compacted(3, 1);
    expect(() => log.compacted(2, 1)).to.throw(InvariantViolation);
    expect(() => log.compacted(5, 1)).to.throw(InvariantViolation);
    log.compacted(4, 1);
  });

  it("finds types in memory and on the disk, reading many at a time", () => {
    const { log, disk } = newLog(EMPTY, 0);
    log.append(rowOf(1, 1, 0, EntryType.Bootstrap));
    append(log, 1, 2_000);
    write(log, disk, 1);
    log.release(1_500);
    log.append(rowOf(2_002, 1, 0, EntryType.Empty));
    const has = (from: number, to: number, wanted: number) => log.someType(from, to, (type) => type === wanted);
    expect(has(1, 2_002, EntryType.Bootstrap)).to.equal(true);
    disk.reads.length = 0;
    expect(has(2, 2_002, EntryType.Bootstrap)).to.equal(false);
    expect(disk.reads.length).to.equal(1);
    expect(has(2, 2_002, EntryType.Empty)).to.equal(true);
    expect(has(2, 2_001, EntryType.Empty)).to.equal(false);
    expect(has(2_002, 2_002, EntryType.Empty)).to.equal(true);
    expect(has(7, 6, EntryType.Command), "an empty range").to.equal(false);
  });

  it("grows its ring at any position, and keeps its content", () => {
    for (const start of [0, 1, 500, 1023, 1024, 1500]) {
      const { log, disk } = newLog({ first: 1, prevTerm: 0, last: start, lastTerm: start === 0 ? 0 : 1 });
      for (let index = start + 1; index <= start + 5_000; index++) {
        log.append(rowOf(index, 1 + Math.floor(index / 100), index % 7));
        if (index === start + 900) {
          log.takeUnwritten(1);
        }
      }
      log.flushed(1);
      expect(log.stableIndex, "numbers are kept").to.equal(start + 900);
      for (let index = start + 1; index <= start + 5_000; index++) {
        expect(log.term(index)).to.equal(1 + Math.floor(index / 100));
      }
      const rows = log.entries(start + 1, start + 5_000, NO_LIMIT);
      expect(rows.every((row, at) => entryIndex(row) === start + 1 + at)).to.equal(true);
      expect(rows.length).to.equal(5_000);
      expect(disk.reads).to.deep.equal([]);
    }
  });

  it("goes round its ring without growing while little of it is in memory", () => {
    const { log, disk } = newLog(EMPTY, 100 * 64);
    for (let round = 1; round <= 60; round++) {
      append(log, round, 50);
      write(log, disk, round);
      log.release(log.lastIndex);
      expect(log.bytesInMemory(1, log.lastIndex)).to.be.at.most(100 * 64);
    }
    expect([1, 1_024, 1_025, 2_048, 3_000].map((index) => log.term(index))).to.deep.equal([1, 21, 21, 41, 60]);
    expect(indexes(log.entries(2_999, 3_000, 1_000))).to.deep.equal([2_999, 3_000]);
  });
});

describe("entries that are removed", () => {
  it("are gone, and those before them stay", () => {
    const { log, disk } = newLog();
    append(log, 1, 3);
    append(log, 2, 2);
    write(log, disk, 1);
    log.truncate(4);
    expect([log.lastIndex, log.lastTerm, log.stableIndex]).to.deep.equal([3, 1, 3]);
    expect(() => log.term(4)).to.throw(InvariantViolation);
    append(log, 3);
    expect([log.lastIndex, log.lastTerm, log.stableIndex, log.term(4)]).to.deep.equal([4, 3, 3, 3]);
  });

  it("leave something to write, also when nothing takes their place", () => {
    const { log, disk } = newLog();
    append(log, 1, 3);
    write(log, disk, 1);
    log.truncate(2);
    expect(log.hasUnwritten).to.equal(true);
    expect(log.takeUnwritten(2)).to.deep.equal([]);
    expect(log.hasUnwritten).to.equal(false);
  });

  it("P31: are not made stable by the write that carries them, and neither are their replacements", () => {
    const { log } = newLog();
    append(log, 1, 2);
    log.takeUnwritten(1);
    append(log, 1, 2);
    log.truncate(2);
    append(log, 2, 2);
    log.truncate(3);
    append(log, 3);
    log.flushed(1);
    expect(log.stableIndex, "entry 1 alone is what was written").to.equal(1);
    expect(indexes(log.takeUnwritten(2))).to.deep.equal([2, 3]);
    log.truncate(3);
    append(log, 4);
    log.flushed(2);
    expect(log.stableIndex, "entry 3 is another one by now").to.equal(2);
    log.takeUnwritten(3);
    log.flushed(3);
    expect(log.stableIndex).to.equal(3);
  });

  it("are none below the beginning or above the end", () => {
    const { log } = newLog({ first: 3, prevTerm: 1, last: 4, lastTerm: 1 });
    expect(() => log.truncate(2)).to.throw(InvariantViolation);
    expect(() => log.truncate(5)).to.throw(InvariantViolation);
  });

  it("may be on the disk alone", () => {
    const { log, disk } = newLog(EMPTY, 0);
    append(log, 1, 5);
    write(log, disk, 1);
    log.release(5);
    log.truncate(3);
    append(log, 2);
    expect([log.lastIndex, log.term(2), log.term(3)]).to.deep.equal([3, 1, 2]);
    expect(indexes(log.entries(1, 3, 1_000))).to.deep.equal([1, 2]);
    expect(indexes(log.entries(3, 3, 1_000))).to.deep.equal([3]);
  });

  it("count as unstable no more", () => {
    const { log, disk } = newLog();
    append(log, 1, 2);
    expect(log.unstableBytes).to.equal(128);
    write(log, disk, 1);
    expect(log.unstableBytes).to.equal(0);
    append(log, 1, 3);
    log.truncate(2);
    expect(log.unstableBytes).to.equal(0);
    append(log, 2, 1, 36);
    expect(log.unstableBytes).to.equal(100);
    log.reset(9, 5);
    expect(log.unstableBytes).to.equal(0);
  });
});

describe("a log that restarts", () => {
  it("knows only the entry before it, and continues", () => {
    const { log, disk } = newLog();
    append(log, 1, 3);
    write(log, disk, 1);
    append(log, 1, 2);
    log.reset(20, 4);
    expect([log.firstIndex, log.lastIndex, log.lastTerm, log.stableIndex]).to.deep.equal([21, 20, 4, 20]);
    expect([log.term(20), log.hasUnwritten, log.bytesInMemory(21, 20)]).to.deep.equal([4, false, 0]);
    append(log, 5);
    expect(indexes(log.entries(21, 21, 100))).to.deep.equal([21]);
    log.takeUnwritten(2);
    log.flushed(2);
    expect(log.stableIndex).to.equal(21);
  });

  it("does not begin before it began", () => {
    const { log } = newLog({ first: 5, prevTerm: 2, last: 9, lastTerm: 3 });
    expect(() => log.reset(3, 2)).to.throw(InvariantViolation);
  });
});

describe("the last entry of a term that is not too new", () => {
  it("is found by halving, within the log and beyond its ends", () => {
    const { log } = newLog({ first: 4, prevTerm: 2, last: 3, lastTerm: 2 });
    for (const term of [2, 3, 3, 5, 5, 5, 8]) {
      append(log, term);
    }
    const found = [];
    for (const term of [1, 2, 3, 4, 5, 7, 8, 9]) {
      found.push(log.lastWithTermAtMost(10, term));
    }
    expect(found).to.deep.equal([2, 4, 6, 6, 9, 9, 10, 10]);
    expect(log.lastWithTermAtMost(99, 5), "no further than the log").to.equal(9);
    expect(log.lastWithTermAtMost(7, 9), "no further than asked").to.equal(7);
    expect(log.lastWithTermAtMost(3, 2)).to.equal(3);
  });

  it("equals the result of a search from the end", () => {
    const terms = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 }).map((list) => list.sort((a, b) => a - b));
    fc.assert(
      fc.property(terms, fc.nat(45), fc.nat(10), (list, index, term) => {
        const { log } = newLog();
        for (const each of list) {
          append(log, each);
        }
        let at = Math.min(index, list.length);
        while (at >= 1 && (list[at - 1] as number) > term) {
          at--;
        }
        expect(log.lastWithTermAtMost(index, term)).to.equal(at);
      }),
    );
  });
});

/** The log as a plain array with everything in it. */
interface Model {
  first: number;
  readonly entries: { readonly term: number; readonly type: EntryType; readonly row: Uint8Array; writeSeq: number }[];
  applied: number;
  flushedSeq: number;
}

const operation = fc.oneof(
  fc.record({
    kind: fc.constant("append" as const),
    count: fc.integer({ min: 1, max: 40 }),
    newTerm: fc.boolean(),
    bytes: fc.integer({ min: 0, max: 40 }),
    type: fc.constantFrom(EntryType.Empty, EntryType.Command, EntryType.Bootstrap),
  }),
  fc.record({ kind: fc.constant("truncate" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant("take" as const) }),
  fc.record({ kind: fc.constant("flush" as const) }),
  fc.record({
    kind: fc.constantFrom("apply" as const, "compact" as const),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  fc.record({
    kind: fc.constant("read" as const),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    count: fc.integer({ min: 1, max: 50 }),
    maxBytes: fc.integer({ min: 0, max: 3_000 }),
  }),
);

describe("the Raft log beside a plain array", () => {
  it("holds the same after any operations", () => {
    const scripts = fc.array(operation, { minLength: 30, maxLength: 120 });
    fc.assert(
      fc.property(scripts, fc.integer({ min: 0, max: 4_000 }), (script, tailBytesMax) => {
        const { log, disk } = newLog(EMPTY, tailBytesMax);
        const model: Model = { first: 1, entries: [], applied: 0, flushedSeq: 0 };
        const writes: number[] = [];
        let writeSeq = 0;
        let term = 1;
        let hasRemoved = false;
        const last = () => model.entries.length;
        const at = (index: number) => model.entries[index - 1] as Model["entries"][number];
        const stable = () => model.entries.filter((entry) => entry.writeSeq <= model.flushedSeq).length;
        for (const step of script) {
          switch (step.kind) {
            case "append":
              term += step.newTerm ? 1 : 0;
              for (let count = step.count; count > 0; count--) {
                const row = rowOf(last() + 1, term, step.bytes, step.type);
                log.append(row);
                model.entries.push({ term, type: step.type, row, writeSeq: Number.POSITIVE_INFINITY });
              }
              break;
            case "truncate": {
              // Applied entries are never removed, and new entries come from a newer term.
              const from = Math.max(model.applied + 1, model.first) + Math.floor((last() - model.applied) * step.share);
              if (from <= last()) {
                log.truncate(from);
                model.entries.length = from - 1;
                hasRemoved = true;
                term++;
              }
              break;
            }
            case "take": {
              const unwritten = model.entries.filter((entry) => entry.writeSeq === Number.POSITIVE_INFINITY);
              expect(log.hasUnwritten).to.equal(unwritten.length > 0 || hasRemoved);
              hasRemoved = false;
              writeSeq += 2;
              expect(log.takeUnwritten(writeSeq)).to.deep.equal(unwritten.map((entry) => entry.row));
              for (const entry of unwritten) {
                entry.writeSeq = writeSeq;
              }
              writes.push(writeSeq);
              break;
            }
            case "flush": {
              const flushed = writes.shift();
              if (flushed !== undefined) {
                log.flushed(flushed);
                model.flushedSeq = flushed;
                for (const [position, { row, term: entryTerm }] of model.entries.slice(0, stable()).entries()) {
                  disk.rows.set(position + 1, { row, term: entryTerm });
                }
              }
              break;
            }
            case "apply":
              model.applied += Math.floor((stable() - model.applied) * step.share);
              log.release(model.applied);
              break;
            case "compact": {
              const first = model.first + Math.floor((model.applied + 1 - model.first) * step.share);
              log.compacted(first, first === 1 ? 0 : at(first - 1).term);
              model.first = first;
              for (const index of [...disk.rows.keys()].filter((index) => index < first)) {
                disk.rows.delete(index);
              }
              break;
            }
            case "read": {
              if (last() < model.first) {
                break;
              }
              const from = model.first + Math.floor((last() - model.first) * step.share);
              const to = Math.min(last(), from + step.count - 1);
              // A read may stop where memory begins, so repeat it until all rows are there.
              const rows: Uint8Array[] = [];
              while (rows.length < to - from + 1) {
                const more = log.entries(from + rows.length, to, step.maxBytes);
                expect(more.length).to.be.at.least(1);
                const bytes = more.reduce((sum, row) => sum + row.length, 0);
                expect(more.length === 1 || bytes <= step.maxBytes).to.equal(true);
                rows.push(...more);
              }
              expect(rows.every((row, position) => row === at(from + position).row)).to.equal(true);
              for (const type of Object.values(EntryType)) {
                const expected = model.entries.slice(from - 1, to).some((entry) => entry.type === type);
                expect(log.someType(from, to, (each) => each === type)).to.equal(expected);
              }
              break;
            }
          }
          expect(log.firstIndex).to.equal(model.first);
          expect(log.lastIndex).to.equal(last());
          expect(log.lastTerm).to.equal(last() === 0 ? 0 : at(last()).term);
          expect(log.stableIndex).to.equal(stable());
          const held = model.entries.map((_, position) => position + 1).slice(model.first - 1);
          expect(held.filter((index) => log.term(index) !== at(index).term)).to.deep.equal([]);
          expect(log.term(model.first - 1)).to.equal(model.first === 1 ? 0 : at(model.first - 1).term);
          const unapplied = model.entries.slice(model.applied).reduce((sum, entry) => sum + entry.row.length, 0);
          expect(log.bytesInMemory(model.applied + 1, last())).to.equal(unapplied);
          const unstable = model.entries.slice(stable()).reduce((sum, entry) => sum + entry.row.length, 0);
          expect(log.unstableBytes).to.equal(unstable);
        }
      }),
      { numRuns: 60 },
    );
  });
});
