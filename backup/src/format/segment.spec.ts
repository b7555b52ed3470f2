import { expect } from "chai";
import fc from "fast-check";
import {
  backupErrorOf,
  chunked,
  codeOf,
  collect,
  entriesOf,
  flatten,
  flipped,
  segmentBytes,
  segmentHeader,
  snapshotBytes,
  snapshotHeader,
} from "../../test/index.ts";
import { newObjectId } from "./object-id.ts";
import { writeObject } from "./object-writer.ts";
import { type Entry, readSegment, type SegmentHeader, writeSegment } from "./segment.ts";
import { readSnapshot } from "./snapshot.ts";

const PREVIOUS = { id: newObjectId(), hash: Buffer.alloc(32, 5) };
const HEADER = segmentHeader(45, 55, PREVIOUS);

async function readAll(bytes: Uint8Array): Promise<Entry[]> {
  return flatten((await readSegment(chunked(bytes, 64))).batches);
}

function texts(entries: readonly Entry[]): string[] {
  return entries.map(({ index, term, bytes }) => `${index} ${term} ${Buffer.from(bytes).toString("hex")}`);
}

/** An object that no writer would write: the header of one segment with these entries. */
async function forged(entries: readonly Entry[]): Promise<Buffer> {
  const bytes = await segmentBytes(HEADER, entriesOf(45, 55));
  return collect(
    writeObject<Entry>({
      kind: "segment",
      header: bytes.subarray(16, 16 + bytes.readUInt32BE(12)),
      batches: [entries],
      encode({ index, term, bytes: entry }, buffer) {
        buffer.u64(index);
        buffer.u64(term);
        buffer.u32(entry.length);
        buffer.bytes(entry);
      },
    }).stream,
  );
}

describe("segment", () => {
  it("comes back as it was written", async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 2 ** 42 }),
      fc.array(fc.tuple(fc.nat(2), fc.uint8Array({ maxLength: 100 })), { minLength: 1, maxLength: 50 }),
      async (firstIndex, parts) => {
        let term = 7;
        const entries = parts.map(([step, bytes], number) => {
          term += step;
          return { index: firstIndex + number, term, bytes };
        });
        const [first, last] = [entries[0] as Entry, entries.at(-1) as Entry];
        const bounds = { firstTerm: first.term, lastTerm: last.term, stateDigest: 12 };
        const header = segmentHeader(firstIndex, last.index, PREVIOUS, bounds);
        const reading = await readSegment(chunked(await segmentBytes(header, entries), 100));
        expect(texts(await flatten(reading.batches))).to.deep.equal(texts(entries));
        expect({ ...reading.header, previousHash: PREVIOUS.hash }).to.deep.equal(header);
        expect(Buffer.from(reading.header.previousHash).equals(PREVIOUS.hash)).to.equal(true);
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  it("may leave out fields that its writer does not know", async () => {
    const unknown = {
      firstRevision: undefined,
      lastRevision: undefined,
      firstWallMs: undefined,
      lastWallMs: undefined,
    };
    const header = segmentHeader(45, 55, PREVIOUS, unknown);
    const reading = await readSegment(chunked(await segmentBytes(header, entriesOf(45, 55))));
    expect(reading.header).to.include(unknown);
    await reading.close();
  });

  it("is refused when any one bit of it is flipped, and when it is cut at any length", async () => {
    const bytes = await segmentBytes(segmentHeader(1, 2, PREVIOUS), entriesOf(1, 2));
    for (let position = 0; position < bytes.length; position++) {
      const code = await codeOf(readAll(flipped(bytes, position, (position + 3) % 8)));
      expect(code).to.be.oneOf(position < 8 ? ["not-a-backup"] : ["damaged", "cut-off"]);
    }
    for (let length = 1; length < bytes.length; length++) {
      expect(await codeOf(readAll(bytes.subarray(0, length))), String(length)).to.equal("cut-off");
    }
  });

  it("is not read as a snapshot, nor a snapshot as a segment", async () => {
    const segment = await segmentBytes(HEADER, entriesOf(45, 55));
    const snapshot = await snapshotBytes(snapshotHeader(1), []);
    expect((await backupErrorOf(readSnapshot(chunked(segment)))).message).to.equal(
      "it is a segment, not a snapshot. Name a snapshot",
    );
    expect((await backupErrorOf(readAll(snapshot))).message).to.equal(
      "it is a snapshot, not a segment. Name a segment",
    );
  });

  it("with a gap, with entries out of order, or with another end than in its header, is neither written nor read", async () => {
    const all = entriesOf(45, 55);
    const first = all[0] as Entry;
    const cases: [string, readonly Entry[]][] = [
      ["gap", all.filter(({ index }) => index !== 50)],
      ["gap", all.slice(1)],
      ["out-of-order", [first, ...all]],
      ["out-of-order", all.map((entry) => ({ ...entry, term: entry.index === 46 ? 9 : entry.term }))],
      ["out-of-order", all.map((entry) => ({ ...entry, term: 3 }))],
      ["out-of-order", [{ ...first, index: 44 }, ...all]],
      ["wrong-counts", all.slice(0, -1)],
      ["wrong-counts", [...all, ...entriesOf(56, 56)]],
      ["wrong-counts", all.map((entry) => ({ ...entry, term: Math.min(entry.term, 1) }))],
      ["wrong-counts", []],
    ];
    for (const [code, entries] of cases) {
      expect(await codeOf(segmentBytes(HEADER, entries)), "written").to.equal(code);
      expect(await codeOf(readAll(await forged(entries))), "read").to.equal(code);
    }
  });

  it("is not written with a header that breaks a rule, which the error names", () => {
    const wrong: [Partial<SegmentHeader>, string][] = [
      [{ firstIndex: 0 }, "firstIndex"],
      [{ lastIndex: 44 }, "lastIndex"],
      [{ firstTerm: 9, lastTerm: 8 }, "lastTerm"],
      [{ firstRevision: 9, lastRevision: 8 }, "lastRevision"],
      [{ previousId: "" }, "previousId"],
      [{ previousHash: Buffer.alloc(31) }, "previousHash"],
      [{ lastWallMs: -1 }, "lastWallMs"],
    ];
    for (const [change, name] of wrong) {
      expect(() => writeSegment({ ...HEADER, ...change }, [])).to.throw(name);
    }
  });
});
