import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { expect } from "chai";
import { segmentsOf, temporaryDirectory, usedBytes } from "../../../test/harness/index.ts";
import { EntryType, encodeEntry, NO_ENVELOPE, sealEntry } from "../../raft/index.ts";
import { MIRROR_FILE, StoreError } from "../files/index.ts";
import { LogFiles } from "./log-files.ts";
import { emptyLogMeta } from "./log-meta.ts";
import { encodeSegmentHeader, segmentName } from "./segment.ts";
import { SegmentLogStore } from "./segment-log-store.ts";

const META = emptyLogMeta({
  clusterId: "00112233-4455-6677-8899-aabbccddeeff",
  incarnation: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  memberId: 1,
});
const ENTRIES = 12;

function row(index: number): Uint8Array {
  const entry = encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(300).fill(index));
  sealEntry(entry, 1, index, crc32);
  return entry;
}

describe("files of the log", () => {
  let directory: string;
  const opened: LogFiles[] = [];

  /** A log of twelve entries, one in each write, and three in each segment. */
  beforeEach(async () => {
    directory = temporaryDirectory();
    const files = await LogFiles.open(directory, true);
    const store = new SegmentLogStore({
      files,
      mirrorPath: join(directory, MIRROR_FILE),
      meta: META,
      mirror: { counter: 0, damaged: false, isSoleVoter: true },
      onFatal: (error) => {
        throw error;
      },
      segmentBytes: 1_200,
    });
    for (let index = 1; index <= ENTRIES; index++) {
      const append = { writeSeq: index, term: 1, vote: 1, commit: 0, from: index, rows: [row(index)], resetTo: null };
      await new Promise<void>((resolve) => store.write(append, () => resolve()));
    }
    await store.close();
    await files.close();
    expect(segmentsOf(directory)).to.have.length(4);
  });
  afterEach(async () => {
    for (const files of opened.splice(0)) {
      await files.close();
    }
  });

  async function open(): Promise<LogFiles> {
    const files = await LogFiles.open(directory, false);
    opened.push(files);
    return files;
  }

  async function reopen(): Promise<LogFiles> {
    await opened.pop()?.close();
    return open();
  }

  const indexesOf = (files: LogFiles): number[] => {
    return Array.from({ length: 20 }, (_, at) => at + 1).filter((index) => files.has(index));
  };
  const segment = (number: number): string => join(directory, "log", segmentName(number));

  function flip(path: string, byte: number): void {
    const bytes = readFileSync(path);
    bytes[byte] = (bytes[byte] as number) ^ 1;
    writeFileSync(path, bytes);
  }

  it("are opened by one process at a time, and only where they are", async () => {
    await open();
    const second = await LogFiles.open(directory, false).catch((error: unknown) => error);
    expect(second).to.be.instanceOf(StoreError).with.property("kind", "locked");
    const missing = await LogFiles.open(temporaryDirectory(), false).catch((error: unknown) => error);
    expect(missing).to.be.instanceOf(StoreError).with.property("kind", "missing");
  });

  it("hold every entry, in the order of their segments", async () => {
    const files = await open();
    expect(indexesOf(files)).to.deep.equal(Array.from({ length: ENTRIES }, (_, at) => at + 1));
    expect(files.meta).to.include({ writeSeq: ENTRIES, last: ENTRIES });
    expect(files.whereItEnds).to.match(/^it ends at byte [0-9]+ of log\/0000000004.log$/);
    expect(files.read(2, 11, Number.MAX_SAFE_INTEGER).map((bytes) => Buffer.from(bytes))).to.deep.equal(
      Array.from({ length: 10 }, (_, at) => Buffer.from(row(at + 2))),
    );
  });

  it("end at the first byte that is not whole, and name it", async () => {
    const size = usedBytes(segment(4));
    flip(segment(4), size - 5);
    const files = await open();
    expect(files.meta).to.include({ writeSeq: ENTRIES - 1, last: ENTRIES - 1 });
    expect(files.whereItEnds).to.match(/log\/0000000004.log is damaged, or the rest of it is missing, from byte/);
  });

  it("do not read over damage in the middle: what is before is lost, and what is behind counts", async () => {
    for (const byte of [3, 30, 64, 80, 500]) {
      const whole = readFileSync(segment(2));
      flip(segment(2), byte);
      const files = await reopen();
      expect(indexesOf(files), `byte ${byte}`).to.deep.equal([7, 8, 9, 10, 11, 12]);
      expect(files.meta).to.include({ writeSeq: ENTRIES });
      expect(files.whereItEnds).to.include("log/0000000002.log is damaged");
      writeFileSync(segment(2), whole);
    }
  });

  it("do not read over a segment that is missing, or another one in its place", async () => {
    rmSync(segment(3));
    expect(indexesOf(await reopen())).to.deep.equal([10, 11, 12]);
    copyFileSync(segment(2), segment(3));
    expect(indexesOf(await reopen())).to.deep.equal([10, 11, 12]);
  });

  it("go on in the last segment that was begun, and drop one that was not", async () => {
    const previous = (await open()).end;
    writeFileSync(segment(5), encodeSegmentHeader(5, previous));
    let files = await reopen();
    expect(files.end).to.include({ number: 5, offset: 64 });
    expect(indexesOf(files)).to.have.length(ENTRIES);
    writeFileSync(segment(5), "half a header");
    files = await reopen();
    expect(files.end).to.deep.equal(previous);
    expect(files.meta).to.include({ writeSeq: ENTRIES });
    files.tidy();
    expect(readdirSync(join(directory, "log")).sort()).to.deep.equal([1, 2, 3, 4].map(segmentName).concat("lock"));
  });

  it("leave alone what is no segment", async () => {
    mkdirSync(join(directory, "log", "kept"));
    const files = await open();
    files.tidy();
    expect(readdirSync(join(directory, "log"))).to.include("kept");
    expect(indexesOf(files)).to.have.length(ENTRIES);
  });
});
