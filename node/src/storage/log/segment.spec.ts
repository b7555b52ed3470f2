import { expect } from "chai";
import { emptyLogMeta } from "./log-meta.ts";
import {
  decodeSegmentHeader,
  encodeRecord,
  encodeSegmentHeader,
  NO_SEGMENT,
  placeEntries,
  readRecord,
  sealRecord,
  segmentName,
  segmentNumber,
} from "./segment.ts";

const META = {
  ...emptyLogMeta({
    clusterId: "00112233-4455-6677-8899-aabbccddeeff",
    incarnation: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    memberId: 3,
  }),
  writeSeq: 8,
  last: 2,
};
const ROWS = [Uint8Array.of(1, 2, 3), new Uint8Array(0), new Uint8Array(500).fill(7)];

describe("segments of the log", () => {
  it("have names in the order of their numbers, and nothing else has such a name", () => {
    expect(segmentName(1)).to.equal("0000000001.log");
    expect([1, 2, 10, 99_999_999].map(segmentName)).to.deep.equal([1, 2, 10, 99_999_999].map(segmentName).sort());
    expect([1, 12, 4_000_000_000].map((number) => segmentNumber(segmentName(number)))).to.deep.equal([1, 12, 4e9]);
    for (const name of ["lock", "1.log", "00000000001.log", "0000000001.log.new", "x000000001.log"]) {
      expect(segmentNumber(name), name).to.equal(null);
    }
  });

  it("begin with a header that names them and what they continue; any flipped bit of it is found", () => {
    const previous = { number: 41, offset: 77_000, checksum: 0xdeadbeef };
    const header = encodeSegmentHeader(42, previous);
    expect(decodeSegmentHeader(header, 42)?.previous).to.deep.equal(previous);
    expect(decodeSegmentHeader(header, 43), "of another segment").to.equal(null);
    expect(decodeSegmentHeader(header.subarray(0, 63), 42), "cut").to.equal(null);
    expect(decodeSegmentHeader(new Uint8Array(64), 0), "zeros").to.equal(null);
    expect(decodeSegmentHeader(encodeSegmentHeader(1, NO_SEGMENT), 1)?.previous).to.deep.equal(NO_SEGMENT);
    for (let bit = 0; bit < header.length * 8; bit++) {
      const flipped = header.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(decodeSegmentHeader(flipped, 42), `bit ${bit}`).to.equal(null);
    }
  });

  it("hold records of row `m` and entries", () => {
    for (const rows of [[], ROWS.slice(0, 1), ROWS]) {
      const record = encodeRecord(META, rows);
      const checksum = sealRecord(record, 7);
      const segment = Buffer.concat([Buffer.alloc(11, 9), record, Buffer.alloc(50)]);
      const read = readRecord(segment, 11, 7) ?? expect.fail("the record is whole");
      expect(read).to.include({ checksum, end: 11 + record.length });
      expect(read.meta).to.deep.equal(META);
      expect(read.rows.map((row) => Buffer.from(row))).to.deep.equal(rows.map((row) => Buffer.from(row)));
      expect(readRecord(segment, read.end, checksum), "zeros are no record").to.equal(null);
      const places: Buffer[] = [];
      placeEntries(rows, (offset, length) => places.push(Buffer.from(record.subarray(offset, offset + length))));
      expect(places).to.deep.equal(rows.map((row) => Buffer.from(row)));
    }
  });

  it("hold a record only where it belongs, and whole: no flipped bit, no cut, no other record before it", () => {
    const record = encodeRecord(META, ROWS.slice(0, 2));
    sealRecord(record, 7);
    expect(readRecord(record, 0, 7)).not.to.equal(null);
    expect(readRecord(record, 0, 8), "behind another record").to.equal(null);
    for (let bit = 0; bit < record.length * 8; bit++) {
      const flipped = record.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(readRecord(flipped, 0, 7), `bit ${bit}`).to.equal(null);
    }
    for (let length = 0; length < record.length; length++) {
      expect(readRecord(record.subarray(0, length), 0, 7), `${length} bytes`).to.equal(null);
    }
  });
});
