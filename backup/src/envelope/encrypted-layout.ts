/**
 * The layout of an encrypted object, and its derived keys. AES-256-GCM over frames of one size, in the STREAM
 * construction (Hoang, Reyhanitabar, Rogaway, Vizár, 2015): the nonce contains the number of the frame and whether it
 * is the last one. Each object has its own key, which depends on all bytes of its head. So without the key, no change,
 * cut, reordering or mix of objects goes unnoticed.
 */

import { hkdfSync } from "node:crypto";
import { crc32 } from "node:zlib";
import { RecordBuffer } from "../format/index.ts";
import { type EncryptionKey, KEY_BYTES } from "./key-ring.ts";

export const ENCRYPTED_MAGIC = "QUOIN-EN";
export const ENCRYPTED_MAGIC_BYTES = 8;
export const ENCRYPTED_VERSION = 1;
/** Magic, version, length of the key's id, bytes of a frame, salt. */
export const ENCRYPTED_PRELUDE_BYTES = 48;
export const SALT_BYTES = 32;
/** The maximum length of a key's id. */
export const KEY_ID_BYTES_MAX = 64;
/** Shows that a key is the right one before anything is decrypted, and binds the object to a single key. */
export const KEY_CHECK_BYTES = 32;
export const TAG_BYTES = 16;
/** Plain bytes of each frame; the last frame may have fewer. */
export const ENCRYPTED_FRAME_BYTES = 64 * 1024;
/** The largest frame that a reader takes. */
export const ENCRYPTED_FRAME_BYTES_MAX = 1024 * 1024;

const CIPHER_PREFIX_BYTES = 7;
const COUNTER_MAX = 0xffff_ffff;
const INFO = "quoin backup 1";

/** The keys for the frames of one object. */
export interface ObjectKey {
  readonly cipherKey: Uint8Array;
  readonly keyCheck: Uint8Array;
  readonly noncePrefix: Uint8Array;
}

/** The head up to the key check. */
export function encodeEncryptedHead(keyId: string, salt: Uint8Array): Uint8Array {
  const id = new TextEncoder().encode(keyId);
  const head = new RecordBuffer(ENCRYPTED_PRELUDE_BYTES + KEY_ID_BYTES_MAX);
  head.bytes(new TextEncoder().encode(ENCRYPTED_MAGIC));
  head.u16(ENCRYPTED_VERSION);
  head.u16(id.length);
  head.u32(ENCRYPTED_FRAME_BYTES);
  head.bytes(salt);
  head.bytes(id);
  return head.written;
}

/** @param head all bytes of the object before the key check */
export function deriveObjectKey(key: EncryptionKey, head: Uint8Array, salt: Uint8Array): ObjectKey {
  const info = Buffer.concat([Buffer.from(INFO), head]);
  const derived = new Uint8Array(
    hkdfSync("sha256", key.bytes, salt, info, KEY_BYTES + KEY_CHECK_BYTES + CIPHER_PREFIX_BYTES),
  );
  return {
    cipherKey: derived.subarray(0, KEY_BYTES),
    keyCheck: derived.subarray(KEY_BYTES, KEY_BYTES + KEY_CHECK_BYTES),
    noncePrefix: derived.subarray(KEY_BYTES + KEY_CHECK_BYTES),
  };
}

/** Raises an error for a frame whose number exceeds a counter of four bytes: beyond 256 TiB. */
export function nonceOf({ noncePrefix }: ObjectKey, frame: number, isLast: boolean): Uint8Array {
  if (frame > COUNTER_MAX) {
    throw new Error("the object is too large to be sealed");
  }
  const nonce = new RecordBuffer(12);
  nonce.bytes(noncePrefix);
  nonce.u32(frame);
  nonce.bytes(Uint8Array.of(isLast ? 1 : 0));
  return nonce.written;
}

export function checksumOf(bytes: Uint8Array): Uint8Array {
  const checksum = new RecordBuffer(4);
  checksum.u32(crc32(bytes));
  return checksum.written;
}
