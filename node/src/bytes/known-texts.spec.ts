import { expect } from "chai";
import fc from "fast-check";
import { KnownTexts } from "./known-texts.ts";
import { asciiOf } from "./latin1.ts";

describe("texts that occur often", () => {
  it("equal the bytes, whatever texts were read before", () => {
    // Few different bytes at the beginning and many lengths, so that several texts share a place.
    const bytes = fc
      .array(fc.constantFrom(0x00, 0x61, 0x62, 0x7f, 0x80, 0xff), { maxLength: 12 })
      .map((list) => Uint8Array.from(list));
    const texts = new KnownTexts();
    fc.assert(
      fc.property(bytes, fc.nat({ max: 3 }), (each, from) => {
        const start = Math.min(from, each.length);
        expect(texts.at(each, start, each.length)).to.equal(asciiOf(each, start, each.length));
      }),
      { numRuns: 2_000 },
    );
  });

  it("differ by each of their bytes, also at the same place", () => {
    const texts = new KnownTexts();
    for (let at = 0; at < 40; at++) {
      const one = new Uint8Array(40).fill(0x61);
      const other = one.slice();
      other[at] = 0x62;
      for (const bytes of [one, other, one]) {
        expect(texts.at(bytes, 0, 40)).to.equal(Buffer.from(bytes).toString());
      }
    }
  });

  it("follow bytes that change in place", () => {
    const texts = new KnownTexts();
    const bytes = Uint8Array.from(Buffer.from("user-one!!!!!!"));
    expect(texts.at(bytes, 0, bytes.length)).to.equal("user-one!!!!!!");
    bytes[5] = 0x4f;
    expect(texts.at(bytes, 0, bytes.length)).to.equal("user-One!!!!!!");
  });

  it("are right if there are more than the cache keeps", () => {
    const texts = new KnownTexts();
    for (let round = 0; round < 2; round++) {
      for (let number = 0; number < 5_000; number++) {
        const text = `namespace-${number}`;
        expect(texts.at(Buffer.from(text), 0, text.length)).to.equal(text);
      }
    }
  });
});
