/**
 * Decrypts an object while it is read. An unencrypted object passes unchanged, unless encryption is required. Each
 * frame is authenticated before its bytes are passed on.
 */

import { createDecipheriv, timingSafeEqual } from "node:crypto";
import { BackupError, ByteCursor, ByteSource, type ByteStream } from "../format/index.ts";
import {
  checksumOf,
  deriveObjectKey,
  ENCRYPTED_FRAME_BYTES_MAX,
  ENCRYPTED_MAGIC,
  ENCRYPTED_MAGIC_BYTES,
  ENCRYPTED_PRELUDE_BYTES,
  ENCRYPTED_VERSION,
  KEY_CHECK_BYTES,
  KEY_ID_BYTES_MAX,
  nonceOf,
  type ObjectKey,
  SALT_BYTES,
  TAG_BYTES,
} from "./encrypted-layout.ts";
import type { KeyRing } from "./key-ring.ts";

const CHECKSUM_BYTES = 4;
const COPY_AGAIN = "Copy it again from where it was made, or use another backup";

export interface DecryptOptions {
  /** Keys that may be needed; undefined if none were given. */
  readonly keyRing?: KeyRing | undefined;
  /** Whether keys also allow an object that is not encrypted; without keys, none has to be. */
  readonly allowsUnencrypted?: boolean | undefined;
}

/** An object that is unencrypted, or whose key was found and checked. */
export interface Decrypted {
  /** The decrypted object, to be consumed once. */
  readonly stream: ByteStream;
  /** Id of the key that encrypted it; undefined if it is not encrypted. */
  readonly keyId: string | undefined;
}

/** Raises a BackupError: key-missing, key-unknown, key-wrong, not-sealed, newer-format, damaged, cut-off. */
export async function decrypt(stream: ByteStream, options: DecryptOptions): Promise<Decrypted> {
  const source = new ByteSource(stream);
  try {
    const magic = Buffer.from(await source.peek(ENCRYPTED_MAGIC_BYTES)).toString("latin1");
    if (magic === ENCRYPTED_MAGIC) {
      return await openEncrypted(source, options.keyRing);
    }
    if (options.keyRing !== undefined && options.allowsUnencrypted !== true) {
      throw new BackupError(
        "not-sealed",
        "it is not encrypted, although keys were given. Another party may have put it there: check its origin",
      );
    }
    return { stream: source.rest(), keyId: undefined };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/**
 * The id of the key that encrypted an object; undefined if it is not encrypted. It reads only the first bytes, and
 * proves nothing about the rest. Raises a BackupError (damaged, cut-off) if the head of the encryption is not intact.
 */
export async function encryptionKeyId(stream: ByteStream): Promise<string | undefined> {
  const source = new ByteSource(stream);
  try {
    const magic = Buffer.from(await source.peek(ENCRYPTED_MAGIC_BYTES)).toString("latin1");
    return magic === ENCRYPTED_MAGIC ? (await readHead(source)).keyId : undefined;
  } finally {
    await source.close();
  }
}

async function openEncrypted(source: ByteSource, keyRing: KeyRing | undefined): Promise<Decrypted> {
  const { head, version, frameBytes, salt, keyId, keyCheck } = await readHead(source);
  if (version > ENCRYPTED_VERSION) {
    throw new BackupError(
      "newer-format",
      `it is encrypted in format ${version}, and this release knows formats up to ${ENCRYPTED_VERSION}. Use the release that wrote it, or a newer one`,
    );
  }
  if (version === 0 || frameBytes === 0 || frameBytes > ENCRYPTED_FRAME_BYTES_MAX) {
    throw new BackupError("damaged", `the head of its encryption holds impossible values. ${COPY_AGAIN}`);
  }
  if (keyRing === undefined) {
    throw new BackupError(
      "key-missing",
      `it is encrypted with key ${keyId}, and no key was given. Give the file with that key`,
    );
  }
  const key = keyRing.get(keyId);
  if (key === undefined) {
    throw new BackupError(
      "key-unknown",
      `it is encrypted with key ${keyId}, and only ${keyRing.ids.join(", ")} was given. Add that key to the file with keys`,
    );
  }
  const objectKey = deriveObjectKey(key, head, salt);
  if (!timingSafeEqual(objectKey.keyCheck, keyCheck)) {
    throw new BackupError(
      "key-wrong",
      `key ${keyId} is not the key that it was encrypted with, though it has the same id. Give the right one`,
    );
  }
  return { stream: decryptFrames(source, objectKey, frameBytes), keyId };
}

interface EncryptedHead {
  readonly head: Uint8Array;
  readonly version: number;
  readonly frameBytes: number;
  readonly salt: Uint8Array;
  readonly keyId: string;
  readonly keyCheck: Uint8Array;
}

async function readHead(source: ByteSource): Promise<EncryptedHead> {
  const prelude = await source.read(ENCRYPTED_PRELUDE_BYTES);
  const cursor = new ByteCursor(prelude, "the head of its encryption");
  cursor.bytes(ENCRYPTED_MAGIC_BYTES);
  const [version, idBytes, frameBytes] = [cursor.u16(), cursor.u16(), cursor.u32()];
  const salt = cursor.bytes(SALT_BYTES);
  if (idBytes > KEY_ID_BYTES_MAX) {
    throw new BackupError("damaged", `the head of its encryption holds impossible values. ${COPY_AGAIN}`);
  }
  const rest = await source.read(idBytes + KEY_CHECK_BYTES + CHECKSUM_BYTES);
  const all = Buffer.concat([prelude, rest]);
  const checked = all.subarray(0, -CHECKSUM_BYTES);
  if (!all.subarray(checked.length).equals(checksumOf(checked))) {
    throw new BackupError("damaged", `the checksum of the head of its encryption is wrong. ${COPY_AGAIN}`);
  }
  const keyId = Buffer.from(rest.subarray(0, idBytes)).toString("latin1");
  const head = all.subarray(0, ENCRYPTED_PRELUDE_BYTES + idBytes);
  return { head, version, frameBytes, salt, keyId, keyCheck: all.subarray(head.length, head.length + KEY_CHECK_BYTES) };
}

async function* decryptFrames(
  source: ByteSource,
  key: ObjectKey,
  frameBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (let frame = 0, isLast = false; !isLast; frame++) {
      const bytes = await source.readUpTo(frameBytes + TAG_BYTES);
      isLast = await source.isAtEnd();
      const plain = decryptFrame(key, frame, isLast, bytes);
      if (plain === undefined) {
        throw frameError(key, frame, isLast, bytes);
      }
      if (plain.length > 0) {
        yield plain;
      }
    }
  } finally {
    await source.close();
  }
}

/** @returns undefined if the frame is not authentic */
function decryptFrame(key: ObjectKey, frame: number, isLast: boolean, bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length < TAG_BYTES) {
    return undefined;
  }
  const length = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key.cipherKey, nonceOf(key, frame, isLast), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(bytes.subarray(length));
  const plain = decipher.update(bytes.subarray(0, length));
  try {
    decipher.final();
    return plain;
  } catch {
    // OpenSSL only reports that the tag does not match; the caller explains it.
    return undefined;
  }
}

function frameError(key: ObjectKey, frame: number, isLast: boolean, bytes: Uint8Array): BackupError {
  if (isLast && (bytes.length < TAG_BYTES || decryptFrame(key, frame, false, bytes) !== undefined)) {
    return new BackupError("cut-off", `it ends in the middle: the end is missing. ${COPY_AGAIN}`);
  }
  return new BackupError(
    "damaged",
    `frame ${frame + 1} of its encryption is not authentic: bytes were changed, moved or cut off. ${COPY_AGAIN}`,
  );
}
