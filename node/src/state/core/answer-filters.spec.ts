import { expect } from "chai";
import fc from "fast-check";
import { KeyHash } from "../../bytes/index.ts";
import { ChunkedFilter, LiveKeys } from "./answer-filters.ts";

const HEAD = 9;

/** The key of a row: a head that does not count, and the part that identifies it. */
const keyOf = (name: Uint8Array): Uint8Array => Buffer.concat([Buffer.alloc(HEAD, 7), name]);

function keyOfNumber(number: number): Uint8Array {
  const name = Buffer.from("user-owner\0________________");
  name.writeUInt32BE(number, name.length - 16);
  return keyOf(name);
}

describe("a filter in chunks", () => {
  const hash = new KeyHash([1, -2]);
  const add = (filter: ChunkedFilter, key: Uint8Array) => {
    hash.update(key, HEAD);
    filter.add(hash.low, hash.high);
  };
  const mayHold = (filter: ChunkedFilter, key: Uint8Array) => {
    hash.update(key, HEAD);
    return filter.mayContain(hash.low, hash.high);
  };

  it("contains nothing when it is new", () => {
    const filter = new ChunkedFilter(0);
    expect(Array.from({ length: 1_000 }, (_, at) => mayHold(filter, keyOfNumber(at))).includes(true)).to.equal(false);
  });

  it("contains everything that was added, and little else, in its first chunk and beyond", () => {
    for (const [expected, added, chunks] of [
      [10_000, 10_000, 1],
      [0, 1_024, 1],
      [0, 1_025, 2],
      [1_000, 40_000, 6],
    ] as const) {
      const filter = new ChunkedFilter(expected);
      for (let number = 0; number < added; number++) {
        add(filter, keyOfNumber(number));
        expect(mayHold(filter, keyOfNumber(number))).to.equal(true);
      }
      for (let number = 0; number < added; number++) {
        expect(mayHold(filter, keyOfNumber(number)), `${number} of ${added}`).to.equal(true);
      }
      expect(filter.chunks).to.equal(chunks);
      let wrong = 0;
      for (let number = 0; number < 10_000; number++) {
        wrong += mayHold(filter, keyOfNumber(1_000_000 + number)) ? 1 : 0;
      }
      // About one in 1,000 for each chunk; a hash that mixes badly would pass very many.
      expect(wrong, `of ${added}`).to.be.below(40 * chunks);
    }
  });

  it("contains random keys of any length", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 3_000 }), (names) => {
        const filter = new ChunkedFilter(1);
        for (const name of names) {
          add(filter, keyOf(name));
        }
        expect(names.every((name) => mayHold(filter, keyOf(name)))).to.equal(true);
      }),
    );
  });
});

describe("the set of live keys", () => {
  it("is exact, whatever the heads of the keys", () => {
    const keys = new LiveKeys(HEAD, 100);
    for (let number = 0; number < 50; number++) {
      keys.add(keyOfNumber(number));
    }
    keys.delete(keyOfNumber(7).fill(1, 0, HEAD));
    for (let number = 0; number < 100; number++) {
      expect(keys.has(keyOfNumber(number))).to.equal(number < 50 && number !== 7);
    }
  });

  it("is dropped if there are too many, may then contain any key, and can start again", () => {
    const keys = new LiveKeys(HEAD, 10);
    for (let number = 0; number < 10; number++) {
      keys.add(keyOfNumber(number));
    }
    expect([keys.hasOverflowed, keys.has(keyOfNumber(99))]).to.deep.equal([false, false]);
    keys.add(keyOfNumber(10));
    keys.delete(keyOfNumber(0));
    keys.add(keyOfNumber(11));
    expect([keys.hasOverflowed, keys.has(keyOfNumber(99))]).to.deep.equal([true, true]);
    keys.restart();
    keys.add(keyOfNumber(1));
    expect([keys.hasOverflowed, keys.has(keyOfNumber(1)), keys.has(keyOfNumber(2))]).to.deep.equal([
      false,
      true,
      false,
    ]);
  });
});
