import { expect } from "chai";
import { RecordBuffer } from "./record-buffer.ts";

describe("RecordBuffer", () => {
  const writes = new Map<string, readonly [(buffer: RecordBuffer) => void, string]>([
    ["a number of 2 bytes", [(buffer) => buffer.u16(0x0102), "0102"]],
    ["a number of 4 bytes", [(buffer) => buffer.u32(0x01020304), "01020304"]],
    ["a number of 8 bytes", [(buffer) => buffer.u64(0x0102030405), "0000000102030405"]],
    ["bytes", [(buffer) => buffer.bytes(Uint8Array.of(1, 2, 3, 4, 5)), "0102030405"]],
  ]);

  for (const [what, [write, hex]] of writes) {
    it(`grows before, inside and after ${what}`, () => {
      const capacity = 16;
      for (let before = 0; before <= capacity; before++) {
        const buffer = new RecordBuffer(capacity);
        buffer.bytes(new Uint8Array(before).fill(0xee));
        write(buffer);
        write(buffer);
        expect(Buffer.from(buffer.written).toString("hex"), `${before} bytes before`).to.equal(
          "ee".repeat(before) + hex + hex,
        );
      }
    });
  }
});
