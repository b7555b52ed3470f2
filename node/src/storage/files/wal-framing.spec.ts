import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { flipInPlace, temporaryDirectory } from "../../../test/harness/index.ts";
import { Rocks } from "../rocks/index.ts";
import { damagedLogs, requireReadableLogs } from "./wal-framing.ts";

const BLOCK_BYTES = 32 * 1024;

/** A record as RocksDB frames it; `requireReadableLogs` ignores its checksum. */
function record(type: number, length: number): Buffer {
  const bytes = Buffer.alloc(7 + length, 0x55);
  bytes.writeUInt16LE(length, 4);
  bytes.writeUInt8(type, 6);
  return bytes;
}

describe("framing of write-ahead logs", () => {
  function check(content: Uint8Array, name = "000004.log"): () => void {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, name), content);
    return () => requireReadableLogs(directory);
  }

  it("lets whole logs pass, also of several blocks, and no directory at all", () => {
    expect(check(Buffer.concat([record(1, 10), record(1, 300), record(2, 5), record(4, 5)]))).not.to.throw();
    const first = record(2, BLOCK_BYTES - 7);
    expect(check(Buffer.concat([first, record(3, BLOCK_BYTES - 7), record(4, 9), record(1, 0)]))).not.to.throw();
    expect(check(Buffer.alloc(0))).not.to.throw();
    expect(() => requireReadableLogs(join(temporaryDirectory(), "absent"))).not.to.throw();
  });

  it("refuses records of recycled logs, in any block of log or manifest", () => {
    for (const type of [5, 6, 7, 8, 11]) {
      for (const name of ["000004.log", "MANIFEST-000005"]) {
        expect(check(Buffer.concat([record(1, 10), record(type, 20), record(1, 10)]), name)).to.throw(
          `the file ${name} of the store in`,
        );
      }
      const first = record(2, BLOCK_BYTES - 7);
      expect(check(Buffer.concat([first, record(4, 9), record(type, 1)]))).to.throw("damaged record");
    }
  });

  it("looks at no other files", () => {
    const content = Buffer.concat([record(1, 10), record(5, 20)]);
    for (const name of ["000008.sst", "OPTIONS-000007", "LOG", "CURRENT", "MANIFEST", "IDENTITY"]) {
      expect(check(content, name)).not.to.throw();
    }
  });

  it("leaves to RocksDB what a cut tail or unwritten space looks like", () => {
    const whole = Buffer.concat([record(1, 10), record(1, 10)]);
    for (let length = 0; length < whole.length; length++) {
      expect(check(whole.subarray(0, length))).not.to.throw();
    }
    const space = Buffer.alloc(BLOCK_BYTES - whole.length);
    expect(check(Buffer.concat([whole, space, record(4, 9)]))).not.to.throw();
    // After zeros RocksDB skips the rest of the block, and continues in the next block.
    expect(check(Buffer.concat([whole, Buffer.alloc(7), record(5, 9)]))).not.to.throw();
    expect(check(Buffer.concat([whole, space, record(5, 9)]))).to.throw("damaged record");
  });

  it("names the log or manifest of a real store in which a bit has flipped, and the record", async () => {
    const directory = temporaryDirectory();
    const options = { createIfMissing: true, memtableBytes: 4 << 20, cacheBytes: 1 << 20 };
    const rocks = await Rocks.open(directory, options);
    // Records of one block, of several, and of many in a block.
    for (const bytes of [10, 100_000, 1_000, ...Array.from({ length: 100 }, (_, at) => at)]) {
      rocks.write([{ key: Buffer.from(`key ${bytes}`), value: Buffer.alloc(bytes, bytes) }], true);
    }
    await rocks.close();
    expect(damagedLogs(directory)).to.deep.equal([]);
    expect(damagedLogs(join(directory, "absent"))).to.deep.equal([]);
    const logs = readdirSync(directory).filter((name) => /^MANIFEST|\.log$/.test(name));
    expect(logs).to.have.length(2);
    for (const name of logs) {
      const { size } = statSync(join(directory, name));
      for (const byte of [0, 5, Math.floor(size / 2), size - 1]) {
        flipInPlace(join(directory, name), byte * 8);
        const [found, ...others] = damagedLogs(directory);
        const at = Number(new RegExp(`^${name} at byte (\\d+)$`).exec(found ?? "")?.[1]);
        expect([at <= byte, others], `byte ${byte} of ${name}: ${found}`).to.deep.equal([true, []]);
        flipInPlace(join(directory, name), byte * 8);
      }
    }
    expect(damagedLogs(directory)).to.deep.equal([]);
  });
});
