import { randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { backupErrorOf, chunked, codeOf, collect, flipped } from "../../test/index.ts";
import { decrypt, encryptionKeyId } from "./decrypt.ts";
import { encrypt } from "./encrypt.ts";
import { checksumOf, ENCRYPTED_FRAME_BYTES, TAG_BYTES } from "./encrypted-layout.ts";
import { type EncryptionKey, KeyRing } from "./key-ring.ts";

const OLD: EncryptionKey = { id: "2025", bytes: randomBytes(32) };
const NEW: EncryptionKey = { id: "2026", bytes: randomBytes(32) };
const HEAD_BYTES = 48 + 4 + 32 + 4;
const FRAME = ENCRYPTED_FRAME_BYTES + TAG_BYTES;

function sealed(plain: Uint8Array, key = OLD): Promise<Buffer> {
  return collect(encrypt(chunked(plain, 1000), key));
}

async function opened(bytes: Uint8Array, keys: readonly EncryptionKey[] = [OLD]): Promise<Buffer> {
  const keyRing = keys.length === 0 ? undefined : new KeyRing(keys);
  return collect((await decrypt(chunked(bytes, 777), { keyRing })).stream);
}

describe("sealed object", () => {
  it("comes back unchanged, of any size, and never looks the same twice", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (plain) => {
        expect((await opened(await sealed(plain))).equals(Buffer.from(plain))).to.equal(true);
      }),
      { numRuns: 100 },
    );
    for (const length of [
      0,
      1,
      ENCRYPTED_FRAME_BYTES - 1,
      ENCRYPTED_FRAME_BYTES,
      ENCRYPTED_FRAME_BYTES + 1,
      3 * ENCRYPTED_FRAME_BYTES,
    ]) {
      const plain = randomBytes(length);
      const bytes = await sealed(plain);
      expect((await opened(bytes)).equals(plain), String(length)).to.equal(true);
      expect(bytes.equals(await sealed(plain))).to.equal(false);
      expect(bytes.length).to.equal(
        HEAD_BYTES + length + TAG_BYTES * Math.max(1, Math.ceil(length / ENCRYPTED_FRAME_BYTES)),
      );
    }
  });

  it("shows nothing of its content", async () => {
    const bytes = await sealed(Buffer.from("a signing key ".repeat(1000)));
    expect(bytes.includes("signing key")).to.equal(false);
    expect(bytes.includes(OLD.bytes)).to.equal(false);
  });

  it("names its key, without needing the key", async () => {
    const bytes = await sealed(randomBytes(100_000), NEW);
    expect(await encryptionKeyId(chunked(bytes, 50))).to.equal("2026");
    expect(await encryptionKeyId(chunked(Buffer.from("not sealed")))).to.equal(undefined);
    expect(await codeOf(encryptionKeyId(chunked(bytes.subarray(0, 60))))).to.equal("cut-off");
    expect(await codeOf(encryptionKeyId(chunked(flipped(bytes, 50))))).to.equal("damaged");
  });

  it("can be opened with each key of the ring, so that keys can be rotated", async () => {
    const bytes = await sealed(Buffer.from("old"));
    expect(String(await opened(bytes, [NEW, OLD]))).to.equal("old");
    expect(String(await opened(await sealed(Buffer.from("new"), new KeyRing([NEW, OLD]).first), [NEW]))).to.equal(
      "new",
    );
    expect((await decrypt(chunked(bytes), { keyRing: new KeyRing([OLD]) })).keyId).to.equal("2025");
  });

  it("names the required key if no key, or only other keys, were given", async () => {
    const bytes = await sealed(Buffer.from("old"));
    const missing = await backupErrorOf(opened(bytes, []));
    expect([missing.code, missing.message]).to.deep.equal([
      "key-missing",
      "it is encrypted with key 2025, and no key was given. Give the file with that key",
    ]);
    const unknown = await backupErrorOf(opened(bytes, [NEW]));
    expect([unknown.code, unknown.message]).to.deep.equal([
      "key-unknown",
      "it is encrypted with key 2025, and only 2026 was given. Add that key to the file with keys",
    ]);
    const wrong = await backupErrorOf(opened(bytes, [{ ...NEW, id: "2025" }]));
    expect([wrong.code, wrong.message.includes(NEW.bytes.toString())]).to.deep.equal(["key-wrong", false]);
  });

  it("is refused when any one bit of it is flipped, and when it is cut at any length", async () => {
    const bytes = await sealed(Buffer.from("three rows"));
    for (let position = 0; position < bytes.length; position++) {
      const result = opened(flipped(bytes, position, position % 8));
      if (position < 8) {
        // Without its magic it is another object, which is not encrypted.
        expect(await codeOf(result), String(position)).to.equal("not-sealed");
      } else {
        expect(await codeOf(result), String(position)).to.be.oneOf(["damaged", "cut-off"]);
      }
    }
    for (let length = 8; length < bytes.length; length++) {
      expect(await codeOf(opened(bytes.subarray(0, length))), String(length)).to.be.oneOf(["cut-off", "damaged"]);
    }
  });

  it("is refused when frames are cut off, moved, doubled, or come from another object", async () => {
    const plain = randomBytes(3 * ENCRYPTED_FRAME_BYTES);
    const bytes = await sealed(plain);
    const other = await sealed(plain);
    const head = bytes.subarray(0, HEAD_BYTES);
    const frames = [0, 1, 2].map((number) =>
      bytes.subarray(HEAD_BYTES + number * FRAME, HEAD_BYTES + (number + 1) * FRAME),
    );
    const [a, b, c] = frames as [Buffer, Buffer, Buffer];
    const foreign = other.subarray(HEAD_BYTES + FRAME, HEAD_BYTES + 2 * FRAME);
    expect((await opened(Buffer.concat([head, a, b, c]))).equals(plain)).to.equal(true);
    expect(await codeOf(opened(Buffer.concat([head, a, b])))).to.equal("cut-off");
    expect(await codeOf(opened(Buffer.concat([head, a])))).to.equal("cut-off");
    expect(await codeOf(opened(head))).to.equal("cut-off");
    for (const order of [
      [b, a, c],
      [a, c],
      [a, a, b, c],
      [a, b, c, c],
      [a, foreign, c],
    ]) {
      expect(await codeOf(opened(Buffer.concat([head, ...order])))).to.equal("damaged");
    }
    expect(await codeOf(opened(Buffer.concat([other.subarray(0, HEAD_BYTES), a, b, c])))).to.equal("damaged");
  });

  it("returns no byte of a frame that is not authentic", async () => {
    const bytes = await sealed(randomBytes(2 * ENCRYPTED_FRAME_BYTES));
    const { stream } = await decrypt(chunked(flipped(bytes, HEAD_BYTES + FRAME + 5)), { keyRing: new KeyRing([OLD]) });
    let length = 0;
    const read = (async () => {
      for await (const part of stream) {
        length += part.length;
      }
    })();
    expect(await codeOf(read)).to.equal("damaged");
    expect(length).to.equal(ENCRYPTED_FRAME_BYTES);
  });

  it("of a newer format is refused by its version", async () => {
    const bytes = await sealed(Buffer.from("later"));
    bytes.writeUInt16BE(2, 8);
    Buffer.from(checksumOf(bytes.subarray(0, HEAD_BYTES - 4))).copy(bytes, HEAD_BYTES - 4);
    expect(await codeOf(opened(bytes))).to.equal("newer-format");
  });
});

describe("unencrypted object", () => {
  it("passes unchanged without keys, and with keys only if that is allowed", async () => {
    const plain = Buffer.from("QUOIN-SN and so on");
    const keyRing = new KeyRing([OLD]);
    expect(await collect(encrypt(chunked(plain), undefined))).to.deep.equal(plain);
    const { stream } = await decrypt(chunked(plain), {});
    expect(await collect(stream)).to.deep.equal(plain);
    const allowed = await decrypt(chunked(plain), { keyRing, allowsUnencrypted: true });
    expect(await collect(allowed.stream)).to.deep.equal(plain);
    expect(await codeOf(decrypt(chunked(plain), { keyRing }))).to.equal("not-sealed");
  });
});
