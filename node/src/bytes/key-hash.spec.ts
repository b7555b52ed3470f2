import { expect } from "chai";
import fc from "fast-check";
import { hashOf, KeyHash } from "./index.ts";

const HEAD = 9;

/** A head that does not count, and the part that is hashed. */
const keyOf = (hashed: Uint8Array): Uint8Array => Buffer.concat([Buffer.alloc(HEAD, 7), hashed]);

describe("the hash of keys", () => {
  const hash = new KeyHash([1, -2]);
  const numbersOf = (key: Uint8Array, from = HEAD): readonly [number, number] => {
    hash.update(key, from);
    return [hash.low, hash.high];
  };

  it("depends only on the bytes after the head, in any array", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat({ max: 20 }), (hashed, shift) => {
        const shifted = Buffer.concat([Buffer.alloc(shift), hashed]);
        expect(numbersOf(shifted.subarray(shift), 0)).to.deep.equal(numbersOf(keyOf(hashed)));
        expect(numbersOf(keyOf(hashed)).every((number) => number === (number | 0))).to.equal(true);
        expect(hashOf(shifted.subarray(shift))).to.equal(hashOf(hashed));
      }),
    );
  });

  it("differs for byte strings that differ anywhere, also only in their length", () => {
    const seen = new Set<string>();
    for (let length = 0; length < 40; length++) {
      seen.add(String(numbersOf(keyOf(new Uint8Array(length)))));
      for (let at = 0; at < length; at++) {
        for (const byte of [1, 0x80, 0xff]) {
          seen.add(String(numbersOf(keyOf(new Uint8Array(length).fill(byte, at, at + 1)))));
        }
      }
    }
    expect(seen.size).to.equal(40 + 3 * ((39 * 40) / 2));
  });

  it("depends on the seed", () => {
    const other = new KeyHash([1, -3]);
    other.update(keyOf(Buffer.from("a")), HEAD);
    expect([other.low, other.high]).to.not.deep.equal(numbersOf(keyOf(Buffer.from("a"))));
  });
});
