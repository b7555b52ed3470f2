import { expect } from "chai";
import fc from "fast-check";
import { readUint32, readUint53, writeUint32, writeUint53 } from "./binary.ts";
import { InvariantViolation } from "./violation.ts";

const UINT32_MAX = 2 ** 32 - 1;
const uint32 = fc.integer({ min: 0, max: UINT32_MAX });
const uint53 = fc.maxSafeNat();
const offset = fc.integer({ min: 0, max: 5 });

/** Filler before and after the written bytes, to see that nothing else changes. */
const FILL = 0xa5;

function filled(length: number): Uint8Array {
  return new Uint8Array(length).fill(FILL);
}

function hex(bytes: Uint8Array): string {
  return bytes.toHex();
}

describe("32-bit numbers", () => {
  it("come back as written, and leave the bytes around them alone", () => {
    fc.assert(
      fc.property(uint32, offset, (value, at) => {
        const bytes = filled(12);
        writeUint32(bytes, at, value);
        expect(readUint32(bytes, at)).to.equal(value);
        expect(hex(bytes.slice(0, at))).to.equal(hex(filled(at)));
        expect(hex(bytes.slice(at + 4))).to.equal(hex(filled(8 - at)));
      }),
    );
  });

  for (const [value, golden] of [
    [0, "00000000"],
    [1, "00000001"],
    [0x7fff_ffff, "7fffffff"],
    [0x8000_0000, "80000000"],
    [0x1234_5678, "12345678"],
    [UINT32_MAX, "ffffffff"],
  ] as const) {
    it(`${value} is ${golden}`, () => {
      const bytes = new Uint8Array(4);
      writeUint32(bytes, 0, value);
      expect(hex(bytes)).to.equal(golden);
      expect(readUint32(Uint8Array.fromHex(golden), 0)).to.equal(value);
    });
  }

  for (const value of [-1, 0.5, UINT32_MAX + 1, Number.NaN]) {
    it(`${value} is none, and is not written as another`, () => {
      const bytes = filled(4);
      expect(() => writeUint32(bytes, 0, value)).to.throw(InvariantViolation);
      expect(hex(bytes)).to.equal(hex(filled(4)));
    });
  }

  it("are neither read nor written beyond their bytes", () => {
    for (const at of [-1, 1, 4, 100]) {
      expect(() => readUint32(new Uint8Array(4), at)).to.throw(InvariantViolation);
      expect(() => writeUint32(new Uint8Array(4), at, 1)).to.throw(InvariantViolation);
    }
  });

  it("are read within a view, not within its buffer", () => {
    const bytes = Uint8Array.fromHex("00000000000000ff");
    expect(readUint32(bytes.subarray(4), 0)).to.equal(255);
    expect(() => readUint32(bytes.subarray(0, 6), 4)).to.throw(InvariantViolation);
  });
});

describe("53-bit numbers", () => {
  it("come back as written, and leave the bytes around them alone", () => {
    fc.assert(
      fc.property(uint53, offset, (value, at) => {
        const bytes = filled(16);
        writeUint53(bytes, at, value);
        expect(readUint53(bytes, at)).to.equal(value);
        expect(hex(bytes.slice(0, at))).to.equal(hex(filled(at)));
        expect(hex(bytes.slice(at + 8))).to.equal(hex(filled(8 - at)));
      }),
    );
  });

  it("order as their bytes do", () => {
    fc.assert(
      fc.property(uint53, uint53, (a, b) => {
        const [left, right] = [new Uint8Array(8), new Uint8Array(8)];
        writeUint53(left, 0, a);
        writeUint53(right, 0, b);
        expect(hex(left) < hex(right)).to.equal(a < b);
      }),
    );
  });

  for (const [value, golden] of [
    [0, "0000000000000000"],
    [0xffff_ffff, "00000000ffffffff"],
    [0x1_0000_0000, "0000000100000000"],
    [0x12_3456_789a_bcde, "00123456789abcde"],
    [Number.MAX_SAFE_INTEGER, "001fffffffffffff"],
  ] as const) {
    it(`${value} is ${golden}`, () => {
      const bytes = new Uint8Array(8);
      writeUint53(bytes, 0, value);
      expect(hex(bytes)).to.equal(golden);
      expect(readUint53(Uint8Array.fromHex(golden), 0)).to.equal(value);
    });
  }

  for (const value of [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`${value} is none, and is not written as another`, () => {
      const bytes = filled(8);
      expect(() => writeUint53(bytes, 0, value)).to.throw(InvariantViolation);
      expect(hex(bytes)).to.equal(hex(filled(8)));
    });
  }

  for (const golden of ["0020000000000000", "0020000000000001", "8000000000000000", "ffffffffffffffff"]) {
    it(`S17: ${golden}, above 2^53 − 1, is refused and not rounded`, () => {
      expect(() => readUint53(Uint8Array.fromHex(golden), 0)).to.throw(InvariantViolation);
    });
  }

  it("are neither read nor written beyond their bytes", () => {
    for (const at of [-1, 1, 8, 100]) {
      const bytes = filled(8);
      expect(() => readUint53(new Uint8Array(8), at)).to.throw(InvariantViolation);
      expect(() => writeUint53(bytes, at, 1)).to.throw(InvariantViolation);
    }
  });
});
