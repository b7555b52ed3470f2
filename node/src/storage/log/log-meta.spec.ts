import { expect } from "chai";
import fc from "fast-check";
import { decodeLogMeta, encodeLogMeta, type LogMeta } from "./log-meta.ts";

const META: LogMeta = {
  clusterId: "00112233-4455-6677-8899-aabbccddeeff",
  incarnation: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  memberId: 1,
  boot: 2,
  writeSeq: 3,
  term: 4,
  vote: 5,
  commit: 6,
  first: 7,
  prevTerm: 8,
  last: Number.MAX_SAFE_INTEGER,
  lastTerm: 0x0102030405,
};

const GOLDEN =
  "cde73151" + // crc32
  "01000000" + // format
  "00112233445566778899aabbccddeeff" +
  "0f1e2d3c4b5a69788796a5b4c3d2e1f0" +
  "0000000000000001" +
  "0000000000000002" +
  "0000000000000003" +
  "0000000000000004" +
  "0000000000000005" +
  "0000000000000006" +
  "0000000000000007" +
  "0000000000000008" +
  "001fffffffffffff" +
  "0000000102030405";

const count = fc.maxSafeNat();
const metas: fc.Arbitrary<LogMeta> = fc.record({
  clusterId: fc.uuid(),
  incarnation: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString("hex")),
  memberId: count,
  boot: count,
  writeSeq: count,
  term: count,
  vote: count,
  commit: count,
  first: count,
  prevTerm: count,
  last: count,
  lastTerm: count,
});

describe("log meta", () => {
  it("has the golden bytes", () => {
    expect(Buffer.from(encodeLogMeta(META)).toString("hex")).to.equal(GOLDEN);
    expect(decodeLogMeta(Buffer.from(GOLDEN, "hex"))).to.deep.equal(META);
  });

  it("reads back whatever was written", () => {
    fc.assert(
      fc.property(metas, (meta) => {
        expect(decodeLogMeta(encodeLogMeta(meta))).to.deep.equal(meta);
      }),
    );
  });

  it("refuses a row with any single bit flipped, and any that is cut or longer", () => {
    const row = encodeLogMeta(META);
    for (let bit = 0; bit < row.length * 8; bit++) {
      const flipped = row.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(decodeLogMeta(flipped), `bit ${bit}`).to.equal(null);
    }
    for (let length = 0; length < row.length; length++) {
      expect(decodeLogMeta(row.subarray(0, length)), `length ${length}`).to.equal(null);
    }
    expect(decodeLogMeta(Uint8Array.of(...row, 0))).to.equal(null);
  });
});
