import { expect } from "chai";
import { memoryPage, offsetOf, PAGE_BYTES } from "./memory-page-range.ts";

describe("pages of a memory region", () => {
  it("contain the offset and end with the region", () => {
    const size = 2 * PAGE_BYTES + 1;
    expect(memoryPage(0, size)).to.deep.equal({ offset: 0, length: PAGE_BYTES, previous: null, next: PAGE_BYTES });
    expect(memoryPage(PAGE_BYTES + 5, size)).to.deep.equal({
      offset: PAGE_BYTES,
      length: PAGE_BYTES,
      previous: 0,
      next: 2 * PAGE_BYTES,
    });
    const last = { offset: 2 * PAGE_BYTES, length: 1, previous: PAGE_BYTES, next: null };
    expect(memoryPage(2 * PAGE_BYTES, size)).to.deep.equal(last);
    expect(memoryPage(1e9, size)).to.deep.equal(last);
  });

  it("have no page after a full last one", () => {
    expect(memoryPage(0, PAGE_BYTES).next).to.equal(null);
    expect(memoryPage(0, 1)).to.include({ offset: 0, length: 1 });
  });

  it("are found by decimal and hexadecimal offsets", () => {
    expect([" 4096 ", "0x1000", "0X1f", "", "-1", "1.5", "x"].map(offsetOf)).to.deep.equal([
      ...[4_096, 4_096, 31, null, null, null, null],
    ]);
  });
});
