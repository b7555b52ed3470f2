import { expect } from "chai";
import { asciiOf, copyOf, latin1Of, SlabPool } from "./index.ts";

describe("bytes", () => {
  it("are copied into their own memory, also from a Buffer", () => {
    for (const bytes of [Uint8Array.of(1, 2, 3, 4), Buffer.of(1, 2, 3, 4)]) {
      const copy = copyOf(bytes, 1, 3);
      bytes.fill(9);
      expect([...copy]).to.deep.equal([2, 3]);
      expect(copy.buffer.byteLength).to.equal(2);
    }
  });

  it("as a text have one character each", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    expect([...latin1Of(bytes)].map((character) => character.codePointAt(0))).to.deep.equal([...bytes]);
    expect(latin1Of(bytes.subarray(65, 68))).to.equal("ABC");
    expect([latin1Of(bytes.subarray(60, 68), 5), latin1Of(bytes, 256)]).to.deep.equal(["ABC", ""]);
    expect([latin1Of(bytes, 65, 68), latin1Of(bytes, 65, 65)]).to.deep.equal(["ABC", ""]);
    expect(latin1Of(new Uint8Array(0))).to.equal("");
  });

  it("are read as ASCII, and as nothing else", () => {
    const bytes = Uint8Array.of(0xff, 0x00, 0x41, 0x7f, 0x80);
    expect(asciiOf(bytes, 1, 4)).to.equal("\0A\x7f");
    expect([asciiOf(bytes, 0, 4), asciiOf(bytes, 1, 5)]).to.deep.equal([null, null]);
    expect(asciiOf(bytes, 4, 4)).to.equal("");
  });
});

describe("slabs", () => {
  let pool: SlabPool;
  beforeEach(() => {
    pool = new SlabPool();
  });

  it("hand out each byte once, also to two writers at a time", () => {
    const cuts: Uint8Array[] = [];
    for (let round = 0; round < 2_000; round++) {
      const outer = pool.take();
      const inner = pool.take();
      expect(inner).not.to.equal(outer);
      for (const slab of [inner, outer]) {
        const length = round % 300;
        slab.bytes.fill(cuts.length % 251, slab.end, slab.end + length);
        cuts.push(slab.cut(slab.end + length));
      }
      const allocated = pool.allocate(round % 300);
      cuts.push(allocated.fill(cuts.length % 251));
    }
    for (const [at, cut] of cuts.entries()) {
      expect(cut.length).to.equal(Math.floor(at / 3) % 300);
      expect(
        cut.every((byte) => byte === at % 251),
        `cut ${at}`,
      ).to.equal(true);
    }
  });

  it("give large byte arrays their own memory", () => {
    const slab = pool.takeLarge(100_000);
    slab.bytes.fill(7, 0, 100_000);
    const large = slab.cut(100_000);
    expect(large.buffer.byteLength).to.equal(100_000);
    expect(large.every((byte) => byte === 7)).to.equal(true);
    expect(pool.allocate(4_097).buffer.byteLength).to.equal(4_097);
  });

  it("give byte arrays of every size", () => {
    for (let length = 0; length <= 4_100; length += 41) {
      expect(pool.allocate(length).length).to.equal(length);
    }
  });

  it("always have free bytes when they are taken", () => {
    for (let at = 0; at < 200; at++) {
      const slab = pool.take();
      expect(slab.bytes.length - slab.end).to.be.at.least(512);
      slab.cut(slab.end + 500);
    }
  });

  it("are reused if nothing was cut off", () => {
    const slab = pool.take();
    slab.release();
    expect(pool.take()).to.equal(slab);
  });

  it("are not kept once they are nearly full, whatever the sizes", () => {
    for (const length of [600, 1_000, 2_500, 4_096]) {
      for (let round = 0; round < 500; round++) {
        pool.allocate(length);
        pool.allocate(10);
      }
      expect(pool.freeCount, `${length} bytes`).to.be.at.most(2);
    }
    const taken = Array.from({ length: 50 }, () => pool.take());
    for (const slab of taken) {
      slab.release();
    }
    expect(pool.freeCount).to.be.at.most(4);
  });

  it("copy bytes", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const copy = pool.copyOf(bytes);
    bytes.fill(0);
    expect([...copy]).to.deep.equal([1, 2, 3]);
  });
});
