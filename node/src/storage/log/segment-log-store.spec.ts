import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Worker } from "node:worker_threads";
import { crc32 } from "node:zlib";
import { expect } from "chai";
import { recordsOf, replaceEntry, segmentsOf, temporaryDirectory, until } from "../../../test/harness/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import {
  type AppendEffect,
  EntryType,
  encodeEntry,
  entryIndex,
  entryTerm,
  NO_ENVELOPE,
  sealEntry,
} from "../../raft/index.ts";
import { MIRROR_FILE, readMirror, StoreError } from "../files/index.ts";
import { LogFiles } from "./log-files.ts";
import { emptyLogMeta, type LogMeta } from "./log-meta.ts";
import { type MirrorFlags, SegmentLogStore } from "./segment-log-store.ts";

const NOTHING: LogMeta = {
  ...emptyLogMeta({
    clusterId: "00112233-4455-6677-8899-aabbccddeeff",
    incarnation: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    memberId: 1,
  }),
  boot: 1,
};

function row(index: number, term: number, bytes = 100): Uint8Array {
  const entry = encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(bytes).fill(index));
  sealEntry(entry, term, index, crc32);
  return entry;
}

/** The rows from..to of this term, as the core hands them out. */
function append(writeSeq: number, term: number, from: number, to: number): AppendEffect {
  const rows = Array.from({ length: to - from + 1 }, (_, at) => row(from + at, term));
  return { writeSeq, term, vote: 1, commit: 0, from, rows, resetTo: null };
}

describe("SegmentLogStore", () => {
  let directory: string;
  let files: LogFiles;
  let store: SegmentLogStore;
  let fatal: StoreError[];

  beforeEach(async () => {
    fatal = [];
    directory = temporaryDirectory();
    files = await LogFiles.open(directory, true);
    store = open(NOTHING);
  });
  afterEach(async () => {
    await store.close();
    await files.close();
  });

  function open(
    meta: LogMeta,
    marks: Partial<MirrorFlags> = {},
    segmentBytes = 16 * 1024 * 1024,
    mirrorPath = join(directory, MIRROR_FILE),
  ): SegmentLogStore {
    const mirror = { counter: 0, damaged: false, isSoleVoter: true, ...marks };
    return new SegmentLogStore({
      files,
      mirrorPath,
      meta,
      mirror,
      onFatal: (error) => fatal.push(error),
      segmentBytes,
    });
  }

  /** As the next process finds it. */
  async function reopen(marks: Partial<MirrorFlags> = {}): Promise<void> {
    await store.close();
    await files.close();
    files = await LogFiles.open(directory, false);
    store = open(files.meta ?? NOTHING, marks);
  }

  const write = (effect: AppendEffect): Promise<number> => new Promise((resolve) => store.write(effect, resolve));

  /** The entries that the next process finds. */
  function storedIndexes(): number[] {
    let found: number[] = [];
    for (const { meta, rows } of recordsOf(directory)) {
      const from = meta.last - rows.length + 1;
      found = [...found.filter((index) => index < from), ...rows.map(entryIndex)];
      found = found.filter((index) => index >= meta.first);
    }
    return found;
  }

  function storedMeta(): LogMeta {
    return recordsOf(directory).at(-1)?.meta ?? expect.fail("nothing is written");
  }

  const segmentNames = () => segmentsOf(directory).map((path) => basename(path, ".log"));

  it("writes the rows, row `m` and the mirror, and only then says so", async () => {
    const writing = write({ ...append(5, 3, 1, 3), commit: 2 });
    expect(await writing).to.equal(5);
    const expected = { ...NOTHING, writeSeq: 5, term: 3, vote: 1, commit: 2, last: 3, lastTerm: 3 };
    expect(storedMeta()).to.deep.equal(expected);
    expect(store.meta).to.deep.equal(expected);
    expect(store.bounds).to.deep.equal({ first: 1, prevTerm: 0, last: 3, lastTerm: 3 });
    expect(storedIndexes()).to.deep.equal([1, 2, 3]);
    const { clusterId, memberId, incarnation, boot, writeSeq, term, vote } = expected;
    expect(readMirror(join(directory, MIRROR_FILE))).to.deep.equal({
      counter: 1,
      clusterId,
      memberId,
      incarnation,
      boot,
      writeSeq,
      term,
      vote,
      damaged: false,
      isSoleVoter: true,
    });
    expect(statSync(join(directory, MIRROR_FILE)).mode & 0o777).to.equal(0o600);
  });

  it("writes the mirror with each write, into the slots in turn", async () => {
    for (let at = 1; at <= 5; at++) {
      await write(append(at, 1, at, at));
      expect(readMirror(join(directory, MIRROR_FILE))).to.include({ counter: at, writeSeq: at });
    }
    expect(statSync(join(directory, MIRROR_FILE)).size).to.equal(4096 + 512);
  });

  it("P1: has the mirror synced with every other term and vote, and not with entries alone", async () => {
    const synced: unknown[] = [];
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (request: { readonly syncMirror?: boolean }, ...rest) {
      synced.push(request.syncMirror);
      post.call(this, request, ...rest);
    };
    try {
      await write({ ...append(1, 1, 1, 1), vote: 0 });
      await write({ ...append(2, 1, 2, 2), vote: 0 });
      await write(append(3, 1, 3, 3));
      await write(append(4, 2, 4, 4));
      await write(append(5, 2, 5, 5));
    } finally {
      Worker.prototype.postMessage = post;
    }
    expect(synced).to.deep.equal([true, false, true, true, false]);
  });

  it("writes a hard state without entries, and keeps the log as it is", async () => {
    await write(append(1, 1, 1, 2));
    await write({ writeSeq: 2, term: 7, vote: 0, commit: 1, from: 3, rows: [], resetTo: null });
    expect(storedMeta()).to.include({ writeSeq: 2, term: 7, vote: 0, commit: 1, last: 2, lastTerm: 1 });
    expect(storedIndexes()).to.deep.equal([1, 2]);
  });

  it("overwrites a conflicting tail and deletes every row above the new last one, in the same batch", async () => {
    await write(append(1, 1, 1, 6));
    await write(append(2, 2, 3, 4));
    expect(storedIndexes()).to.deep.equal([1, 2, 3, 4]);
    expect([1, 2, 3, 4].map((index) => store.term(index))).to.deep.equal([1, 1, 2, 2]);
    expect(store.bounds).to.deep.equal({ first: 1, prevTerm: 0, last: 4, lastTerm: 2 });
    await write({ writeSeq: 3, term: 3, vote: 0, commit: 0, from: 2, rows: [], resetTo: null });
    expect(storedIndexes()).to.deep.equal([1]);
    expect(storedMeta()).to.include({ last: 1, lastTerm: 1 });
  });

  it("is reset to begin after a snapshot, whatever it had: before it, around it, or beyond it", async () => {
    await write(append(1, 1, 1, 6));
    const reset = { term: 5, vote: 0, rows: [] };
    await write({ ...reset, writeSeq: 2, commit: 4, from: 5, resetTo: { index: 4, term: 3 } });
    expect(store.bounds).to.deep.equal({ first: 5, prevTerm: 3, last: 4, lastTerm: 3 });
    expect(storedMeta()).to.include({ first: 5, prevTerm: 3, last: 4, lastTerm: 3, commit: 4 });
    expect(store.term(4)).to.equal(3);
    await write({ ...reset, writeSeq: 3, commit: 100, from: 101, resetTo: { index: 100, term: 4 } });
    expect(store.bounds).to.deep.equal({ first: 101, prevTerm: 4, last: 100, lastTerm: 4 });
    await write(append(4, 6, 101, 103));
    expect(storedIndexes(), "what lay before is gone").to.deep.equal([101, 102, 103]);
  });

  it("makes a start durable in row `m` and in the mirror", async () => {
    await write(append(1, 1, 1, 2));
    const start = { boot: 9, term: 4, vote: 1, commit: 2, resetTo: null };
    await new Promise<void>((resolve) => store.writeStart(start, resolve));
    expect(storedMeta()).to.include({ boot: 9, writeSeq: 2, term: 4, vote: 1, commit: 2, last: 2, lastTerm: 1 });
    expect(readMirror(join(directory, MIRROR_FILE))).to.include({ boot: 9, writeSeq: 2, term: 4, vote: 1 });
  });

  it("makes a start durable that resets the log to begin after the state, below its entries or above", async () => {
    await write(append(1, 1, 1, 6));
    const start = { term: 4, vote: 1, commit: 6 };
    await new Promise<void>((resolve) => {
      store.writeStart({ ...start, boot: 2, resetTo: { index: 4, term: 3 } }, resolve);
    });
    const behindFour = { first: 5, prevTerm: 3, last: 4, lastTerm: 3 };
    expect(storedMeta()).to.include({ ...behindFour, boot: 2, writeSeq: 2, term: 4, vote: 1, commit: 4 });
    expect(store.bounds).to.deep.equal(behindFour);
    expect(storedIndexes()).to.deep.equal([]);
    await new Promise<void>((resolve) => {
      store.writeStart({ ...start, boot: 3, resetTo: { index: 90, term: 4 } }, resolve);
    });
    expect(store.bounds).to.deep.equal({ first: 91, prevTerm: 4, last: 90, lastTerm: 4 });
    await write(append(4, 4, 91, 92));
    expect(storedIndexes()).to.deep.equal([91, 92]);
  });

  it("keeps the mark of damage with each write until it is healed, after the write in flight", async () => {
    await store.close();
    store = open(NOTHING, { damaged: true, isSoleVoter: false });
    expect(store.isDamaged).to.equal(true);
    await write(append(1, 1, 1, 2));
    expect(readMirror(join(directory, MIRROR_FILE))).to.include({
      counter: 1,
      writeSeq: 1,
      damaged: true,
      isSoleVoter: false,
    });
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      store.write(append(2, 1, 3, 3), () => order.push("written"));
      store.clearDamage(() => {
        order.push("healed");
        resolve();
      });
    });
    expect(order).to.deep.equal(["written", "healed"]);
    expect(readMirror(join(directory, MIRROR_FILE))).to.include({ counter: 3, writeSeq: 2, term: 1, damaged: false });
    expect(store.isDamaged).to.equal(false);
    await write(append(3, 1, 4, 4));
    expect(readMirror(join(directory, MIRROR_FILE))).to.include({ counter: 4, writeSeq: 3, damaged: false });
    expect(() => store.clearDamage(() => undefined)).to.throw(InvariantViolation, "a damaged member heals once");
  });

  it("records whether the member is the only voter, also when nothing else is written", async () => {
    const recorded = () => readMirror(join(directory, MIRROR_FILE));
    await write(append(1, 1, 1, 1));
    store.setSoleVoter(true);
    expect(recorded(), "nothing new").to.include({ counter: 1, isSoleVoter: true });
    store.setSoleVoter(false);
    await until("the mirror says so", () => recorded()?.isSoleVoter === false);
    expect(recorded()).to.include({ counter: 2, writeSeq: 1, term: 1, damaged: false });
    await write(append(2, 1, 2, 2));
    expect(recorded()).to.include({ counter: 3, writeSeq: 2, isSoleVoter: false });
    const writing = write(append(3, 1, 3, 3));
    store.setSoleVoter(true);
    await writing;
    await until("the mirror says so", () => recorded()?.isSoleVoter === true);
    expect(recorded()).to.include({ counter: 5, writeSeq: 3 });
  });

  it("drops compacted entries with the next write", async () => {
    await write(append(1, 1, 1, 3));
    await write(append(2, 2, 4, 6));
    store.compact(4, 1);
    expect(store.bounds.first).to.equal(4);
    expect(store.term(3)).to.equal(1);
    expect(storedIndexes(), "nothing before it is written").to.deep.equal([1, 2, 3, 4, 5, 6]);
    await write(append(3, 2, 7, 7));
    expect(storedMeta()).to.include({ first: 4, prevTerm: 1, last: 7 });
    expect(storedIndexes()).to.deep.equal([4, 5, 6, 7]);
    expect(() => store.entries(3, 4, 1)).to.throw(StoreError, "entry 3 of the Raft log is missing");
    expect(fatal.splice(0)).to.have.length(1);
  });

  it("begins a segment when the last one is full, and goes on in it after a restart", async () => {
    await store.close();
    store = open(NOTHING, {}, 2_000);
    for (let at = 1; at <= 20; at++) {
      await write(append(at, 1, 2 * at - 1, 2 * at));
    }
    const names = segmentNames();
    expect(names.length).to.be.within(4, 8);
    expect(names).to.deep.equal(names.map((_, at) => String(at + 1).padStart(10, "0")));
    expect(store.entries(1, 40, Number.MAX_SAFE_INTEGER).map(entryIndex)).to.deep.equal(
      Array.from({ length: 40 }, (_, at) => at + 1),
    );
    await reopen({ counter: 20 });
    expect(store.bounds).to.deep.equal({ first: 1, prevTerm: 0, last: 40, lastTerm: 1 });
    expect(store.entries(1, 40, Number.MAX_SAFE_INTEGER)).to.have.length(40);
    await write(append(21, 1, 41, 41));
    expect(segmentNames()).to.deep.equal(names);
    await reopen({ counter: 21 });
    expect(store.entries(39, 41, Number.MAX_SAFE_INTEGER).map(entryIndex)).to.deep.equal([39, 40, 41]);
  });

  it("deletes the segments in which nothing is needed, after the write that says so", async () => {
    await store.close();
    store = open(NOTHING, {}, 1_000);
    for (let at = 1; at <= 12; at++) {
      await write(append(at, 1, at, at));
    }
    const before = segmentNames();
    store.compact(9, 1);
    expect(segmentNames()).to.deep.equal(before);
    await write(append(13, 1, 13, 13));
    await until("the segments are deleted", () => segmentNames().length < before.length);
    expect(storedIndexes()).to.include.members([9, 10, 11, 12, 13]);
    expect(Number(segmentNames()[0])).to.be.above(1);
    await reopen({ counter: 13 });
    expect(store.bounds).to.deep.equal({ first: 9, prevTerm: 1, last: 13, lastTerm: 1 });
    expect(store.entries(9, 13, Number.MAX_SAFE_INTEGER).map(entryIndex)).to.deep.equal([9, 10, 11, 12, 13]);
    const bytes = segmentsOf(directory).length;
    expect(files.bytes).to.be.within(bytes, 1_000 * (bytes + 1));
  });

  it("deletes what a crash left of compacted segments together with the next ones", async () => {
    await store.close();
    store = open(NOTHING, {}, 500);
    for (let at = 1; at <= 6; at++) {
      await write(append(at, 1, at, at));
    }
    const before = segmentNames();
    store.compact(4, 1);
    store.write(append(7, 1, 7, 7), () => undefined);
    await reopen({ counter: 7 });
    expect(segmentNames().slice(0, before.length), "a closing store deletes nothing").to.deep.equal(before);
    await write(append(8, 1, 8, 8));
    await until("segments are deleted", () => Number(segmentNames()[0]) > 1);
    expect(store.entries(4, 8, Number.MAX_SAFE_INTEGER).map(entryIndex)).to.deep.equal([4, 5, 6, 7, 8]);
  });

  it("may be compacted up to its end, and goes on from there", async () => {
    await write(append(1, 2, 1, 3));
    store.compact(4, 2);
    expect(store.bounds).to.deep.equal({ first: 4, prevTerm: 2, last: 3, lastTerm: 2 });
    expect(store.term(3)).to.equal(2);
    await write(append(2, 2, 4, 4));
    expect(storedMeta()).to.include({ first: 4, prevTerm: 2, last: 4, lastTerm: 2 });
  });

  it("reads entries in order, at least one, and no more than fit", async () => {
    await write(append(1, 1, 1, 100));
    const size = row(1, 1).length;
    const indexes = (from: number, to: number, bytes: number) => store.entries(from, to, bytes).map(entryIndex);
    expect(indexes(1, 100, Number.MAX_SAFE_INTEGER)).to.deep.equal(Array.from({ length: 100 }, (_, at) => at + 1));
    expect(indexes(40, 42, Number.MAX_SAFE_INTEGER)).to.deep.equal([40, 41, 42]);
    expect(indexes(40, 50, 0)).to.deep.equal([40]);
    expect(indexes(40, 50, 3 * size)).to.deep.equal([40, 41, 42]);
    expect(indexes(40, 50, 3 * size + 1)).to.deep.equal([40, 41, 42]);
    expect(entryTerm(store.entries(7, 7, 1)[0] as Uint8Array)).to.equal(1);
  });

  it("P30: checks every entry that it reads: flipped, moved or missing ones are corruption", async () => {
    await write(append(1, 1, 1, 5));
    await store.close();
    await files.close();
    const copy = readFileSync(segmentsOf(directory)[0] as string);
    const damages = new Map<string, () => void>([
      ["flipped", () => replaceEntry(directory, 3, row(3, 1).fill(0xff, 80, 81))],
      ["cut", () => replaceEntry(directory, 3, row(3, 1).subarray(0, 70))],
      ["another's", () => replaceEntry(directory, 3, row(4, 1))],
    ]);
    for (const [what, damage] of damages) {
      damage();
      files = await LogFiles.open(directory, false);
      store = open(files.meta ?? NOTHING);
      for (const action of [() => store.term(3), () => store.entries(3, 3, 1), () => store.entries(3, 5, 10_000)]) {
        expect(action, what)
          .to.throw(StoreError, /^entry 3 of the Raft log (fails|is)/)
          .with.property("kind", "corruption");
      }
      expect(
        fatal.splice(0).map(({ kind }) => kind),
        "it always ends the member",
      ).to.deep.equal(Array.from({ length: 3 }, () => "corruption"));
      expect(store.entries(1, 2, 10_000)).to.have.length(2);
      await store.close();
      await files.close();
      writeFileSync(segmentsOf(directory)[0] as string, copy);
    }
    files = await LogFiles.open(directory, false);
    store = open(files.meta ?? NOTHING);
    expect(store.entries(1, 5, 10_000)).to.have.length(5);
    expect(() => store.term(6)).to.throw(StoreError, "entry 6 of the Raft log is missing");
    truncateSync(segmentsOf(directory)[0] as string, 300);
    expect(() => store.entries(1, 5, 10_000)).to.throw(StoreError, "of the Raft log fails its checksum");
    rmSync(segmentsOf(directory)[0] as string);
    expect(fatal.splice(0).map(({ kind }) => kind)).to.deep.equal(["corruption", "corruption"]);
  });

  it("is a violation to use out of order", async () => {
    await write(append(5, 1, 1, 3));
    const rule = (effect: AppendEffect, message: string) => {
      expect(() => store.write(effect, () => undefined)).to.throw(InvariantViolation, message);
    };
    rule(append(6, 1, 5, 5), "the log is written densely");
    rule(append(5, 1, 4, 4), "write sequences grow");
    rule({ ...append(6, 1, 4, 4), commit: 5 }, "the log holds what is committed");
    expect(() => store.compact(5, 1)).to.throw(InvariantViolation, "compaction stays within the log");
    store.compact(3, 1);
    expect(() => store.compact(2, 1)).to.throw(InvariantViolation, "compaction stays within the log");
    rule(append(6, 2, 2, 2), "entries are written within the log");
    const writing = write(append(6, 1, 4, 4));
    rule(append(7, 1, 5, 5), "one log write is in flight at a time");
    await writing;
  });

  it("finishes the write in flight when it is closed, clears nothing after that, and ends once", async () => {
    await write(append(1, 1, 1, 3));
    store.compact(3, 1);
    let acknowledged = 0;
    store.write(append(2, 1, 4, 4), (writeSeq) => {
      acknowledged = writeSeq;
    });
    await Promise.all([store.close(), store.close()]);
    expect(acknowledged).to.equal(2);
    expect(storedMeta()).to.include({ writeSeq: 2, first: 3 });
    expect(readMirror(join(directory, MIRROR_FILE))).to.include({ writeSeq: 2 });
    expect(fatal).to.deep.equal([]);
    expect(storedIndexes()).to.include.members([3, 4]);
  });

  it("reports a thread that cannot start, once, and can be closed all the same", async () => {
    const mirrorPath = join(directory, "folder");
    mkdirSync(mirrorPath);
    const broken = open(NOTHING, {}, undefined, mirrorPath);
    await until("the failure is reported", () => fatal.length > 0);
    await broken.close();
    expect(fatal).to.have.length(1);
    expect(fatal[0]).to.be.instanceOf(StoreError);
    expect(fatal[0]?.message).to.include("the log thread failed: EISDIR");
  });
});
