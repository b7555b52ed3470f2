import { expect } from "chai";
import { BufferPool } from "./buffer-pool.ts";
import { Output } from "./output.ts";

function outputOf(): { readonly output: Output; readonly pool: BufferPool; readonly firsts: () => number } {
  const pool = new BufferPool();
  let firsts = 0;
  const output = new Output(pool, () => {
    firsts++;
  });
  return { output, pool, firsts: () => firsts };
}

describe("the output of a connection", () => {
  it("appends frames in one buffer, which grows", () => {
    const { output } = outputOf();
    output.appendWord(8, 3, 0xfedc_ba98);
    output.appendFrame(0, 1, 5, Buffer.alloc(100_000, 7));
    const bytes = output.take() as Buffer;
    expect(bytes.toString("hex", 0, 13)).to.equal("00000408000000000" + "3fedcba98");
    expect(bytes.toString("hex", 13, 23)).to.equal("0186a0000100000005" + "07");
    expect(bytes.length).to.equal(13 + 9 + 100_000);
  });

  it("gives nothing before the previous bytes are written, and counts both", () => {
    const { output } = outputOf();
    expect(output.take()).to.equal(null);
    output.appendWord(8, 0, 1);
    const first = output.take() as Buffer;
    const text = first.toString("hex");
    output.appendWord(8, 0, 2);
    expect([output.take(), output.isTaken, output.unwrittenBytes]).to.deep.equal([null, true, 26]);
    expect(first.toString("hex")).to.equal(text);
    output.written();
    expect([output.isTaken, output.unwrittenBytes]).to.deep.equal([false, 13]);
    expect(output.take()?.toString("hex")).to.equal("00000408000000000000000002");
  });

  it("reports the first bytes after it was empty", () => {
    const { output, firsts } = outputOf();
    output.appendWord(8, 0, 1);
    output.appendWord(8, 0, 1);
    expect(firsts()).to.equal(1);
    output.take();
    output.appendWord(8, 0, 1);
    expect(firsts()).to.equal(2);
  });

  it("gives back its buffers as soon as they are written", () => {
    const { output, pool } = outputOf();
    output.appendFrame(0, 0, 1, Buffer.alloc(20_000));
    expect(pool.freeBytes).to.equal(0);
    output.take();
    output.written();
    expect(pool.freeBytes).to.equal(32 * 1024);
    output.appendFrame(0, 0, 1, Buffer.alloc(20_000));
    expect(pool.freeBytes).to.equal(0);
  });
});

describe("an output that grows", () => {
  it("gives back only the buffer that became too small", () => {
    const { output, pool } = outputOf();
    output.appendWord(8, 0, 1);
    const small = output.bytes;
    output.appendFrame(0, 0, 1, Buffer.alloc(20_000));
    expect(pool.freeBytes).to.equal(small.length);
    expect(pool.take(1)).to.equal(small);
  });
});

describe("a pool of buffers", () => {
  it("reuses a buffer that was put back, if it is large enough", () => {
    const pool = new BufferPool();
    const buffer = pool.take(20_000);
    expect(buffer.length).to.equal(32 * 1024);
    pool.put(buffer);
    expect(pool.take(40_000)).to.not.equal(buffer);
    expect(pool.take(20_000)).to.equal(buffer);
    expect(pool.take(20_000)).to.not.equal(buffer);
  });

  it("keeps no large buffers, and not too many", () => {
    const pool = new BufferPool();
    pool.put(pool.take(600 * 1024));
    expect(pool.freeBytes).to.equal(0);
    for (const buffer of Array.from({ length: 600 }, () => pool.take(1))) {
      pool.put(buffer);
    }
    expect(pool.freeBytes).to.equal(8 * 1024 * 1024);
  });
});
