import { expect } from "chai";
import { HeaderBlock } from "./header-block.ts";

function textOf(block: HeaderBlock): string {
  return Buffer.from(block.bytes.subarray(0, block.length)).toString();
}

describe("a header block in parts", () => {
  it("has copies of its parts in order", () => {
    const block = new HeaderBlock(10_000, 10);
    const memory = Buffer.from("xabcx");
    block.begin(3, true);
    block.add(memory, 1, 4);
    memory.fill("-");
    block.add(Buffer.from("d".repeat(3_000)), 0, 3_000);
    expect(textOf(block)).to.equal(`abc${"d".repeat(3_000)}`);
    expect([block.streamId, block.endsStream]).to.deep.equal([3, true]);
    block.end();
    expect([block.streamId, block.length]).to.deep.equal([0, 0]);
    block.begin(5, false);
    block.add(Buffer.from("e"), 0, 1);
    expect(textOf(block)).to.equal("e");
  });

  it("has a limit of bytes", () => {
    const block = new HeaderBlock(5, 10);
    block.begin(1, false);
    expect(block.add(Buffer.from("abcde"), 0, 5)).to.equal(null);
    expect(block.add(Buffer.from("f"), 0, 1)).to.equal("header-block-too-large");
    expect(block.length).to.equal(5);
  });

  it("has a limit of frames, including empty ones, counted for each block", () => {
    const block = new HeaderBlock(5, 2);
    for (const streamId of [1, 3]) {
      block.begin(streamId, false);
      const results = Array.from({ length: 4 }, () => block.add(Buffer.alloc(0), 0, 0));
      expect(results).to.deep.equal([null, null, null, "too-many-continuations"]);
    }
  });
});
