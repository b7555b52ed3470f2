import { expect } from "chai";
import fc from "fast-check";
import type { Change } from "../../state/index.ts";
import { decodeChanges, encodeChanges } from "./change-batch.ts";

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));

function plain(changes: readonly Change[]): readonly (readonly [string, string | null])[] {
  return changes.map(({ key, value }) => [
    Buffer.from(key).toString("hex"),
    value === null ? null : Buffer.from(value).toString("hex"),
  ]);
}

describe("change batch", () => {
  it("has the golden bytes, and distinguishes an empty value from a deletion", () => {
    const encoded = encodeChanges([
      { key: bytes("6161"), value: bytes("ff") },
      { key: bytes("62"), value: bytes("") },
      { key: bytes("63"), value: null },
    ]);
    expect(Buffer.from(encoded).toString("hex")).to.equal(
      "00000003" + "00000002000000026161ff" + "000000010000000162" + "000000010000000063",
    );
    expect(plain(decodeChanges(encoded))).to.deep.equal([
      ["6161", "ff"],
      ["62", ""],
      ["63", null],
    ]);
  });

  it("reads back whatever was written, in order", () => {
    const change = fc.record({
      key: fc.uint8Array({ maxLength: 40 }),
      value: fc.option(fc.uint8Array({ maxLength: 200 }), { nil: null }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        expect(plain(decodeChanges(encodeChanges(changes)))).to.deep.equal(plain(changes));
      }),
    );
  });

  it("takes views of larger buffers for what they show", () => {
    const whole = bytes("00112233445566");
    const encoded = encodeChanges([{ key: whole.subarray(1, 3), value: whole.subarray(4, 5) }]);
    expect(plain(decodeChanges(encoded))).to.deep.equal([["1122", "44"]]);
  });

  it("is a violation to read when it is cut or goes on", () => {
    const encoded = encodeChanges([{ key: bytes("61"), value: bytes("6263") }]);
    for (let length = 0; length < encoded.byteLength; length++) {
      expect(() => decodeChanges(encoded.slice(0, length)), `length ${length}`).to.throw();
    }
    expect(() => decodeChanges(Uint8Array.of(...new Uint8Array(encoded), 0).buffer)).to.throw("read to their end");
  });
});
