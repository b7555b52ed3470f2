import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { temporaryDirectory } from "../../../test/harness/index.ts";
import {
  decodeMirror,
  encodeMirror,
  type HardStateMirror,
  isMirrorIntact,
  MIRROR_SLOT_BYTES,
  mirrorOffset,
  readMirror,
  uuidBytes,
  uuidText,
  writeMirror,
} from "./hard-state-mirror.ts";

const MIRROR: HardStateMirror = {
  counter: 0x0102030405,
  clusterId: "00112233-4455-6677-8899-aabbccddeeff",
  memberId: 1,
  incarnation: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  boot: 7,
  writeSeq: Number.MAX_SAFE_INTEGER,
  term: 9,
  vote: 1,
  damaged: false,
  isSoleVoter: true,
};

/** A mirror from before the fields for damage and other voters. */
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
const mirrors: fc.Arbitrary<HardStateMirror> = fc.record({
  counter: count,
  clusterId: fc.uuid(),
  memberId: count,
  incarnation: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString("hex")),
  boot: count,
  writeSeq: count,
  term: count,
  vote: count,
  damaged: fc.boolean(),
  isSoleVoter: fc.boolean(),
});

function fileOf(...slots: readonly (Uint8Array | null)[]): Buffer {
  const file = Buffer.alloc(mirrorOffset(1) + MIRROR_SLOT_BYTES);
  for (const [parity, slot] of slots.entries()) {
    file.set(slot ?? new Uint8Array(0), mirrorOffset(parity));
  }
  return file;
}

describe("the hard-state mirror", () => {
  function read(content: Uint8Array): HardStateMirror | null {
    const path = join(temporaryDirectory(), "fence");
    writeFileSync(path, content);
    return readMirror(path);
  }

  it("has the golden bytes, and zeros up to one sector", () => {
    const slot = encodeMirror(MIRROR);
    expect(Buffer.from(slot.subarray(0, 88)).toString("hex")).to.equal(GOLDEN);
    expect(slot.subarray(88).every((byte) => byte === 0)).to.equal(true);
    expect(slot.length).to.equal(512);
    expect(decodeMirror(slot)).to.deep.equal(MIRROR);
  });

  it("says by one byte each that the member is damaged, and that it is not the only voter", () => {
    const flags = (mirror: Partial<HardStateMirror>) => [...encodeMirror({ ...MIRROR, ...mirror }).subarray(5, 8)];
    expect(flags({ damaged: true })).to.deep.equal([1, 0, 0]);
    expect(flags({ isSoleVoter: false })).to.deep.equal([0, 1, 0]);
    expect(flags({ damaged: true, isSoleVoter: false })).to.deep.equal([1, 1, 0]);
  });

  it("reads back whatever was written", () => {
    fc.assert(
      fc.property(mirrors, (mirror) => {
        expect(decodeMirror(encodeMirror(mirror))).to.deep.equal(mirror);
      }),
    );
  });

  it("refuses a slot with any single bit flipped, and any that is cut", () => {
    const slot = encodeMirror(MIRROR);
    for (let bit = 0; bit < slot.length * 8; bit++) {
      const flipped = slot.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(decodeMirror(flipped), `bit ${bit}`).to.equal(null);
    }
    for (let length = 0; length < slot.length; length++) {
      expect(decodeMirror(slot.subarray(0, length)), `length ${length}`).to.equal(null);
    }
    expect(decodeMirror(new Uint8Array(MIRROR_SLOT_BYTES))).to.equal(null);
  });

  it("is written into two slots in turn, which lie in different blocks", () => {
    expect([0, 1, 2, 3].map(mirrorOffset)).to.deep.equal([0, 4096, 0, 4096]);
  });

  it("is the newer of both slots, wherever it is", () => {
    const older = { ...MIRROR, counter: 8 };
    const newer = { ...MIRROR, counter: 9, writeSeq: 100 };
    expect(read(fileOf(encodeMirror(older), encodeMirror(newer)))).to.deep.equal(newer);
    expect(read(fileOf(encodeMirror(newer), encodeMirror(older)))).to.deep.equal(newer);
  });

  it("is the other slot when one is torn, at whatever byte", () => {
    const older = { ...MIRROR, counter: 8, term: 3 };
    const newer = { ...MIRROR, counter: 9, term: 4 };
    const before = encodeMirror({ ...MIRROR, counter: 7, term: 2, incarnation: "ff".repeat(16) });
    const after = encodeMirror(newer);
    for (let torn = 1; torn < 88; torn += 3) {
      const slot = Uint8Array.of(...after.subarray(0, torn), ...before.subarray(torn));
      expect(read(fileOf(encodeMirror(older), slot)), `torn at ${torn}`).to.deep.equal(older);
    }
    expect(read(fileOf(encodeMirror(older), null))).to.deep.equal(older);
    expect(read(encodeMirror(older))).to.deep.equal(older);
  });

  it("is null without a file or without a whole slot", () => {
    expect(readMirror(join(temporaryDirectory(), "fence"))).to.equal(null);
    expect(read(new Uint8Array(0))).to.equal(null);
    expect(read(fileOf(null, null))).to.equal(null);
    expect(read(fileOf(encodeMirror(MIRROR).fill(1, 20, 21), null))).to.equal(null);
  });

  it("is whole unless a slot has gone bad", () => {
    const whole = (...slots: readonly (Uint8Array | null)[]): boolean => {
      const path = join(temporaryDirectory(), "fence");
      writeFileSync(path, fileOf(...slots));
      return isMirrorIntact(path);
    };
    const [first, second, third] = [1, 2, 3].map((counter) => encodeMirror({ ...MIRROR, counter })) as [
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
    expect(isMirrorIntact(join(temporaryDirectory(), "fence")), "no file").to.equal(false);
  });

  it("is written into the slot of its counter, and leaves the other one", () => {
    const path = join(temporaryDirectory(), "fence");
    const [older, newer] = [
      { ...MIRROR, counter: 8 },
      { ...MIRROR, counter: 9, damaged: true },
    ];
    writeFileSync(path, fileOf(encodeMirror(older), null));
    writeMirror(path, newer);
    expect(readMirror(path)).to.deep.equal(newer);
    expect(readFileSync(path)).to.deep.equal(fileOf(encodeMirror(older), encodeMirror(newer)));
    expect(() => writeMirror(join(temporaryDirectory(), "fence"), newer)).to.throw(/ENOENT/);
  });

  it("raises what goes wrong while reading: a directory in its place is no missing mirror", () => {
    expect(() => readMirror(temporaryDirectory())).to.throw(/EISDIR/);
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
