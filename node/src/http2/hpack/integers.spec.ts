import { expect } from "chai";
import fc from "fast-check";
import { HeaderCompressionError } from "./index.ts";
import { INTEGER_BYTES_MAX, readInteger, writeInteger } from "./integers.ts";

function read(octets: readonly number[], prefix: number, at = 0): { value: number; end: number } {
  const cursor = { at };
  const value = readInteger(Uint8Array.from(octets), cursor, octets.length, prefix);
  return { value, end: cursor.at };
}

function written(value: number, prefix: number, flags = 0): readonly number[] {
  const bytes = new Uint8Array(INTEGER_BYTES_MAX);
  return [...bytes.subarray(0, writeInteger(value, prefix, flags, bytes, 0))];
}

describe("an integer with a prefix", () => {
  it("is read and written as in RFC 7541, C.1", () => {
    for (const [value, prefix, octets] of [
      [10, 0x1f, [0b01010]],
      [1_337, 0x1f, [0b11111, 0b10011010, 0b00001010]],
      [42, 0xff, [0b00101010]],
    ] as const) {
      expect(read(octets, prefix)).to.deep.equal({ value, end: octets.length });
      expect(written(value, prefix)).to.deep.equal(octets);
    }
  });

  it("is read as it was written, with any prefix, and does not change the other bits", () => {
    const bits = fc.integer({ min: 4, max: 8 });
    const value = fc.oneof(fc.nat(600), fc.nat(2 ** 28 - 1));
    fc.assert(
      fc.property(bits, value, fc.nat(0xff), (width, number, other) => {
        const prefix = 2 ** width - 1;
        const flags = other & ~prefix;
        const octets = written(number, prefix, flags);
        expect((octets[0] as number) & ~prefix).to.equal(flags);
        expect(read([7, ...octets, 7], prefix, 1)).to.deep.equal({ value: number, end: octets.length + 1 });
      }),
    );
  });

  it("has at most four octets after its prefix", () => {
    expect(read([0x1f, 0xff, 0xff, 0xff, 0x7f], 0x1f).value).to.equal(2 ** 28 - 1 + 0x1f);
    // Zeros at the end change nothing, and RFC 7541 does not forbid them.
    expect(read([0x1f, 0x80, 0x80, 0x80, 0x00], 0x1f)).to.deep.equal({ value: 0x1f, end: 5 });
    for (const last of [0x00, 0x01, 0x0f, 0x7f, 0xff]) {
      expect(() => read([0x1f, 0xff, 0xff, 0xff, 0xff, last], 0x1f)).to.throw(
        HeaderCompressionError,
        "too many octets",
      );
    }
  });

  it("ends before the block does", () => {
    expect(() => read([0x1f], 0x1f)).to.throw(HeaderCompressionError, "ends within");
    expect(() => read([0x1f, 0x80], 0x1f)).to.throw(HeaderCompressionError, "ends within");
    expect(read([0x1f, 0x00], 0x1f).value).to.equal(0x1f);
  });
});
