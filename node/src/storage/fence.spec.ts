import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { TemporaryDirectories } from "../../test/harness/index.ts";
import {
  decodeFence,
  encodeFence,
  FENCE_SLOT_BYTES,
  type Fence,
  fenceOffset,
  isFenceWhole,
  readFence,
  uuidBytes,
  uuidText,
  writeFence,
} from "./fence.ts";

const FENCE: Fence = {
  counter: 0x0102030405,
  clusterId: "00112233-4455-6677-8899-aabbccddeeff",
  memberId: 1,
  incarnation: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  boot: 7,
  writeSeq: Number.MAX_SAFE_INTEGER,
  term: 9,
  vote: 1,
  damaged: false,
  sole: true,
};

/** A fence from before the fields for damage and other voters. */
const GOLDEN =
  "0ae88ece" + // crc32
  "01000000" + // format, flags
  "0000000102030405" +
  "0000000000000001" +
  "0000000000000007" +
  "001fffffffffffff" +
  "0000000000000009" +
  "0000000000000001" +
  "00112233445566778899aabbccddeeff" +
  "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

const count = fc.maxSafeNat();
const fences: fc.Arbitrary<Fence> = fc.record({
  counter: count,
  clusterId: fc.uuid(),
  memberId: count,
  incarnation: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString("hex")),
  boot: count,
  writeSeq: count,
  term: count,
  vote: count,
  damaged: fc.boolean(),
  sole: fc.boolean(),
});

function fileOf(...slots: readonly (Uint8Array | null)[]): Buffer {
  const file = Buffer.alloc(fenceOffset(1) + FENCE_SLOT_BYTES);
  for (const [parity, slot] of slots.entries()) {
    file.set(slot ?? new Uint8Array(0), fenceOffset(parity));
  }
  return file;
}

describe("fence", () => {
  const directories = new TemporaryDirectories();
  afterEach(() => directories.removeAll());

  function read(content: Uint8Array): Fence | null {
    const path = join(directories.make(), "fence");
    writeFileSync(path, content);
    return readFence(path);
  }

  it("has the golden bytes, and zeros up to one sector", () => {
    const slot = encodeFence(FENCE);
    expect(Buffer.from(slot.subarray(0, 88)).toString("hex")).to.equal(GOLDEN);
    expect(slot.subarray(88).every((byte) => byte === 0)).to.equal(true);
    expect(slot.length).to.equal(512);
    expect(decodeFence(slot)).to.deep.equal(FENCE);
  });

  it("says by one byte each that the member is damaged, and that it is not the only voter", () => {
    const flags = (fence: Partial<Fence>) => [...encodeFence({ ...FENCE, ...fence }).subarray(5, 8)];
    expect(flags({ damaged: true })).to.deep.equal([1, 0, 0]);
    expect(flags({ sole: false })).to.deep.equal([0, 1, 0]);
    expect(flags({ damaged: true, sole: false })).to.deep.equal([1, 1, 0]);
  });

  it("reads back whatever was written", () => {
    fc.assert(
      fc.property(fences, (fence) => {
        expect(decodeFence(encodeFence(fence))).to.deep.equal(fence);
      }),
    );
  });

  it("refuses a slot with any single bit flipped, and any that is cut", () => {
    const slot = encodeFence(FENCE);
    for (let bit = 0; bit < slot.length * 8; bit++) {
      const flipped = slot.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(decodeFence(flipped), `bit ${bit}`).to.equal(null);
    }
    for (let length = 0; length < slot.length; length++) {
      expect(decodeFence(slot.subarray(0, length)), `length ${length}`).to.equal(null);
    }
    expect(decodeFence(new Uint8Array(FENCE_SLOT_BYTES))).to.equal(null);
  });

  it("is written into two slots in turn, which lie in different blocks", () => {
    expect([0, 1, 2, 3].map(fenceOffset)).to.deep.equal([0, 4096, 0, 4096]);
  });

  it("is the newer of both slots, wherever it is", () => {
    const older = { ...FENCE, counter: 8 };
    const newer = { ...FENCE, counter: 9, writeSeq: 100 };
    expect(read(fileOf(encodeFence(older), encodeFence(newer)))).to.deep.equal(newer);
    expect(read(fileOf(encodeFence(newer), encodeFence(older)))).to.deep.equal(newer);
  });

  it("is the other slot when one is torn, at whatever byte", () => {
    const older = { ...FENCE, counter: 8, term: 3 };
    const newer = { ...FENCE, counter: 9, term: 4 };
    const before = encodeFence({ ...FENCE, counter: 7, term: 2, incarnation: "ff".repeat(16) });
    const after = encodeFence(newer);
    for (let torn = 1; torn < 88; torn += 3) {
      const slot = Uint8Array.of(...after.subarray(0, torn), ...before.subarray(torn));
      expect(read(fileOf(encodeFence(older), slot)), `torn at ${torn}`).to.deep.equal(older);
    }
    expect(read(fileOf(encodeFence(older), null))).to.deep.equal(older);
    expect(read(encodeFence(older))).to.deep.equal(older);
  });

  it("is null without a file or without a whole slot", () => {
    expect(readFence(join(directories.make(), "fence"))).to.equal(null);
    expect(read(new Uint8Array(0))).to.equal(null);
    expect(read(fileOf(null, null))).to.equal(null);
    expect(read(fileOf(encodeFence(FENCE).fill(1, 20, 21), null))).to.equal(null);
  });

  it("is whole unless a slot has gone bad", () => {
    const whole = (...slots: readonly (Uint8Array | null)[]): boolean => {
      const path = join(directories.make(), "fence");
      writeFileSync(path, fileOf(...slots));
      return isFenceWhole(path);
    };
    const [first, second, third] = [1, 2, 3].map((counter) => encodeFence({ ...FENCE, counter })) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const bad = (slot: Uint8Array) => slot.slice().fill(1, 20, 21);
    expect(whole(null, first), "the first write").to.equal(true);
    expect(whole(second, first)).to.equal(true);
    expect(whole(second, third)).to.equal(true);
    expect(whole(bad(second), first), "torn, or gone bad").to.equal(false);
    expect(whole(second, bad(third))).to.equal(false);
    expect(whole(second, null), "once written").to.equal(false);
    expect(whole(null, null)).to.equal(false);
    expect(isFenceWhole(join(directories.make(), "fence")), "no file").to.equal(false);
  });

  it("is written into the slot of its counter, and leaves the other one", () => {
    const path = join(directories.make(), "fence");
    const [older, newer] = [
      { ...FENCE, counter: 8 },
      { ...FENCE, counter: 9, damaged: true },
    ];
    writeFileSync(path, fileOf(encodeFence(older), null));
    writeFence(path, newer);
    expect(readFence(path)).to.deep.equal(newer);
    expect(readFileSync(path)).to.deep.equal(fileOf(encodeFence(older), encodeFence(newer)));
    expect(() => writeFence(join(directories.make(), "fence"), newer)).to.throw(/ENOENT/);
  });

  it("raises what goes wrong while reading: a directory in its place is no missing fence", () => {
    expect(() => readFence(directories.make())).to.throw(/EISDIR/);
  });

  it("turns UUIDs into bytes and back", () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(uuidText(uuidBytes(uuid))).to.equal(uuid);
        expect(uuidBytes(uuid)).to.have.length(16);
      }),
    );
  });
});
