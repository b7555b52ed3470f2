/** Encrypts an object while it is written. Memory: one frame. */

import { createCipheriv, randomBytes } from "node:crypto";
import { ByteSource, type ByteStream } from "../format/index.ts";
import {
  checksumOf,
  deriveObjectKey,
  ENCRYPTED_FRAME_BYTES,
  encodeEncryptedHead,
  nonceOf,
  type ObjectKey,
  SALT_BYTES,
} from "./encrypted-layout.ts";
import type { EncryptionKey } from "./key-ring.ts";

/** Encrypts a stream with a key. Without a key (`undefined`), passes the stream on unchanged. */
export function encrypt(plain: ByteStream, key: EncryptionKey | undefined): ByteStream {
  return key === undefined ? plain : encryptWith(plain, key);
}

async function* encryptWith(plain: ByteStream, key: EncryptionKey): AsyncGenerator<Uint8Array, void, undefined> {
  const source = new ByteSource(plain);
  try {
    const salt = randomBytes(SALT_BYTES);
    const start = encodeEncryptedHead(key.id, salt);
    const objectKey = deriveObjectKey(key, start, salt);
    const head = Buffer.concat([start, objectKey.keyCheck]);
    yield Buffer.concat([head, checksumOf(head)]);
    for (let frame = 0, isLast = false; !isLast; frame++) {
      const bytes = await source.readUpTo(ENCRYPTED_FRAME_BYTES);
      isLast = await source.isAtEnd();
      yield encryptFrame(objectKey, frame, isLast, bytes);
    }
  } finally {
    await source.close();
  }
}

function encryptFrame(key: ObjectKey, frame: number, isLast: boolean, bytes: Uint8Array): Uint8Array {
  const cipher = createCipheriv("aes-256-gcm", key.cipherKey, nonceOf(key, frame, isLast));
  return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}
