import { expect } from "chai";
import fc from "fast-check";
import { decodeFields, encodeFields, type OutgoingField, WireError } from "./wire.ts";

describe("protocol buffer fields", () => {
  it("come out as they went in, of any length and any number of 64 bits", () => {
    const lengths = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(16_383, 16_384, 70_000));
    const varints = fc.oneof(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), fc.constantFrom(0n, 127n, 128n));
    fc.assert(
      fc.property(fc.array(fc.oneof(lengths, varints), { maxLength: 5 }), (values) => {
        const fields: OutgoingField[] = values.map((value, at) =>
          typeof value === "bigint"
            ? { number: at + 1, varint: value }
            : { number: at + 1, bytes: new Uint8Array(value).fill(at) },
        );
        const decoded = [...decodeFields(encodeFields(fields))].map(({ number, varint, bytes }) =>
          bytes === null ? { number, varint } : { number, bytes: Uint8Array.from(bytes) },
        );
        expect(decoded).to.deep.equal(fields);
      }),
    );
  });

  it("are refused when cut, of an unknown type, or too long a number", () => {
    const message = encodeFields([
      { number: 1, bytes: Buffer.from("value") },
      { number: 15, varint: 300n },
    ]);
    for (const length of [1, 3, 6, 8, 9]) {
      expect(() => [...decodeFields(message.subarray(0, length))], `${length} bytes`).to.throw(WireError);
    }
    expect(() => [...decodeFields(Buffer.from("0b", "hex"))]).to.throw(WireError, "unknown type");
    expect(() => [...decodeFields(Buffer.alloc(11, 0xff))]).to.throw(WireError, "64 bits");
  });
});
