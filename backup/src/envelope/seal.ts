/** Encrypts an object while it is written. Memory: one frame. */

import { createCipheriv, randomBytes } from "node:crypto";
import { ByteSource, type ByteStream } from "../format/index.ts";
import type { SealingKey } from "./key-ring.ts";
import {
  checksumOf,
  deriveObjectKey,
  encodeSealedHead,
  nonceOf,
  type ObjectKey,
  SALT_BYTES,
  SEALED_FRAME_BYTES,
} from "./sealed-layout.ts";

/** Encrypts a stream with a key. Without a key (`undefined`), passes the stream on unchanged. */
export function seal(plain: ByteStream, key: SealingKey | undefined): ByteStream {
  return key === undefined ? plain : sealWith(plain, key);
}

async function* sealWith(plain: ByteStream, key: SealingKey): AsyncGenerator<Uint8Array, void, undefined> {
  const source = new ByteSource(plain);
  try {
    const salt = randomBytes(SALT_BYTES);
    const start = encodeSealedHead(key.id, salt);
    const objectKey = deriveObjectKey(key, start, salt);
    const head = Buffer.concat([start, objectKey.keyCheck]);
    yield Buffer.concat([head, checksumOf(head)]);
    for (let frame = 0, isLast = false; !isLast; frame++) {
      const bytes = await source.readUpTo(SEALED_FRAME_BYTES);
      isLast = await source.isAtEnd();
      yield sealFrame(objectKey, frame, isLast, bytes);
    }
  } finally {
    await source.close();
  }
}

function sealFrame(key: ObjectKey, frame: number, isLast: boolean, bytes: Uint8Array): Uint8Array {
  const cipher = createCipheriv("aes-256-gcm", key.cipherKey, nonceOf(key, frame, isLast));
  return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}
