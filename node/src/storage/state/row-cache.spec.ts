import { expect } from "chai";
import { RowCache } from "./row-cache.ts";

const KEY = new Uint8Array([0x75, 0xff, 0x00]);
const VALUE = new Uint8Array([1]);

describe("RowCache", () => {
  let cache: RowCache;
  let reads: number;
  let stored: Uint8Array | undefined;

  beforeEach(() => {
    cache = new RowCache(10_000);
    reads = 0;
    stored = VALUE;
  });

  function get(key = KEY): Uint8Array | undefined {
    return cache.get(key, () => {
      reads++;
      return stored;
    });
  }

  it("reads a row once", () => {
    expect([get(), get(), reads]).to.deep.equal([VALUE, VALUE, 1]);
  });

  it("remembers that there is no row", () => {
    stored = undefined;
    expect([get(), get(), reads]).to.deep.equal([undefined, undefined, 1]);
  });

  it("has what was written to a row that it knows, and reads any other row", () => {
    get();
    const written = Buffer.from([2]);
    cache.update(KEY.slice(), written);
    written[0] = 3;
    expect([get(), reads]).to.deep.equal([new Uint8Array([2]), 1]);
    cache.update(KEY, null);
    expect([get(), reads]).to.deep.equal([undefined, 1]);
    const other = new Uint8Array([0x75, 7]);
    cache.update(other, new Uint8Array([2]));
    expect([get(other), reads]).to.deep.equal([VALUE, 2]);
  });

  it("distinguishes rows by their bytes, not by their text", () => {
    get(new Uint8Array([0x75, 0xc3, 0xbf]));
    get(new Uint8Array([0x75, 0xff]));
    expect(reads).to.equal(2);
  });

  it("holds no more than its limit", () => {
    for (let row = 0; row <= 10_000; row++) {
      get(new Uint8Array([0x75, row >> 8, row & 0xff]));
    }
    expect(reads).to.equal(10_001);
    get(new Uint8Array([0x75, 0, 0]));
    expect(reads, "the first ones have made room").to.equal(10_002);
  });
});
