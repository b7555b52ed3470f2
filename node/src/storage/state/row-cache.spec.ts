import { expect } from "chai";
import { RowCache } from "./row-cache.ts";

const KEY = new Uint8Array([0x75, 0xff, 0x00]);
const VALUE = new Uint8Array([1]);

describe("RowCache", () => {
  let cache: RowCache;
  let reads: number;
  let stored: Uint8Array | undefined;

  beforeEach(() => {
    cache = new RowCache();
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

  it("reads written rows again", () => {
    get();
    stored = undefined;
    cache.forget(KEY.slice());
    expect([get(), reads]).to.deep.equal([undefined, 2]);
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
