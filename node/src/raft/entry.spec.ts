import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../primitives/index.ts";
import {
  ENTRY_BYTES_MAX,
  ENTRY_HEADER_BYTES,
  EntryType,
  encodeEntry,
  entryEnvelope,
  entryIndex,
  entryPayload,
  entryTerm,
  entryType,
  isConfigurationType,
  isIntactEntry,
  NO_ENVELOPE,
  sealEntry,
} from "./entry.ts";

const type = fc.constantFrom(...Object.values(EntryType));
const count = fc.maxSafeNat();
const envelope = fc.record({
  tickMs: count,
  wallMs: count,
  origin: fc.record({ memberId: count, boot: count, seq: count }),
});
const payload = fc.uint8Array({ maxLength: 200 });

function sealed(text: string): Uint8Array {
  const origin = { memberId: 1, boot: 2, seq: 3 };
  const row = encodeEntry(
    EntryType.Command,
    { tickMs: 0x1_0000_0004, wallMs: 5, origin },
    new TextEncoder().encode(text),
  );
  sealEntry(row, 6, 7, crc32);
  return row;
}

describe("entries", () => {
  it("come back as written", () => {
    fc.assert(
      fc.property(type, envelope, payload, count, count, (kind, stamped, content, term, index) => {
        const row = encodeEntry(kind, stamped, content);
        sealEntry(row, term, index, crc32);
        expect(isIntactEntry(row, crc32)).to.equal(true);
        expect(entryType(row)).to.equal(kind);
        expect(entryTerm(row)).to.equal(term);
        expect(entryIndex(row)).to.equal(index);
        expect(entryEnvelope(row)).to.deep.equal(stamped);
        expect(entryPayload(row)).to.deep.equal(content);
      }),
    );
  });

  it("have these bytes: crc, format, type, zero, term, index, tick, wall, member, boot, seq, payload", () => {
    expect(sealed("hi").toHex()).to.equal(
      [
        "52a6affa 01 02 0000",
        "0000000000000006 0000000000000007",
        "0000000100000004 0000000000000005",
        "0000000000000001 0000000000000002 0000000000000003",
        "6869",
      ]
        .join("")
        .replaceAll(" ", ""),
    );
  });

  it("that are empty have these bytes", () => {
    const row = encodeEntry(EntryType.Empty, NO_ENVELOPE, new Uint8Array(0));
    sealEntry(row, 1, 2, crc32);
    expect(row.toHex()).to.equal(`238b0a660101000000000000000000010000000000000002${"00".repeat(40)}`);
    expect(row.length).to.equal(ENTRY_HEADER_BYTES);
  });

  it("copy their payload, and give it back as a view", () => {
    const content = Uint8Array.of(1, 2, 3);
    const row = encodeEntry(EntryType.Command, NO_ENVELOPE, content);
    content[0] = 9;
    expect(entryPayload(row)).to.deep.equal(Uint8Array.of(1, 2, 3));
    expect(entryPayload(row).buffer).to.equal(row.buffer);
  });

  it("may be sealed again at another place", () => {
    const row = sealed("hi");
    sealEntry(row, 8, 9, crc32);
    expect([isIntactEntry(row, crc32), entryTerm(row), entryIndex(row)]).to.deep.equal([true, 8, 9]);
  });

  it("are not intact before they are sealed", () => {
    expect(isIntactEntry(encodeEntry(EntryType.Empty, NO_ENVELOPE, new Uint8Array(0)), crc32)).to.equal(false);
  });

  it("are refused after every truncation", () => {
    const row = sealed("a payload of some bytes");
    for (let length = 0; length < row.length; length++) {
      expect(isIntactEntry(row.subarray(0, length), crc32), `${length} bytes`).to.equal(false);
    }
  });

  it("are refused with anything after them", () => {
    const row = sealed("hi");
    for (const tail of [0, 1, 0xff]) {
      expect(isIntactEntry(Uint8Array.of(...row, tail), crc32)).to.equal(false);
    }
  });

  it("are refused after every flip of a single bit", () => {
    const row = sealed("a payload of some bytes");
    for (let bit = 0; bit < row.length * 8; bit++) {
      const damaged = row.slice();
      damaged[bit >>> 3] = (damaged[bit >>> 3] as number) ^ (1 << (bit & 7));
      expect(isIntactEntry(damaged, crc32), `bit ${bit}`).to.equal(false);
    }
  });

  it("of an unknown format or type are refused although their checksum is right", () => {
    for (const [offset, value] of [
      [4, 0],
      [4, 2],
      [5, 0],
      [5, 7],
      [5, 255],
    ] as const) {
      const row = sealed("hi");
      row[offset] = value;
      sealEntry(row, 6, 7, crc32);
      expect(isIntactEntry(row, crc32), `byte ${offset} = ${value}`).to.equal(false);
    }
  });

  it("have at most 11 MiB: one byte more is neither made nor taken", () => {
    const payloadMax = ENTRY_BYTES_MAX - ENTRY_HEADER_BYTES;
    const row = encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(payloadMax));
    sealEntry(row, 1, 1, crc32);
    expect(row.length).to.equal(11 * 1024 * 1024);
    expect(isIntactEntry(row, crc32)).to.equal(true);
    expect(() => encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(payloadMax + 1))).to.throw(
      InvariantViolation,
    );
    const larger = new Uint8Array(row.length + 1);
    larger.set(row);
    sealEntry(larger, 1, 1, crc32);
    expect(isIntactEntry(larger, crc32)).to.equal(false);
  });

  it("change the configuration if they are of one of four types", () => {
    const types = Object.entries(EntryType).filter(([, each]) => isConfigurationType(each));
    expect(types.map(([name]) => name)).to.deep.equal(["Bootstrap", "AddSlot", "Reconfigure", "Leave"]);
  });

  it("that are no whole header cannot be sealed", () => {
    expect(() => sealEntry(new Uint8Array(ENTRY_HEADER_BYTES - 1), 1, 1, crc32)).to.throw(InvariantViolation);
  });
});
