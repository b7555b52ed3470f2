/**
 * A batch of changes as one buffer, which moves to a worker thread without being copied.
 *
 * Layout, big-endian: count (4), then for each change key length (4), value length plus one or 0 for a deletion (4),
 * key, value.
 */

import { invariant, readUint32, writeUint32 } from "../../primitives/index.ts";
import type { Change } from "../../state/index.ts";

const COUNT_BYTES = 4;
const LENGTHS_BYTES = 8;

export function encodeChanges(changes: readonly Change[]): ArrayBuffer {
  let length = COUNT_BYTES;
  for (const { key, value } of changes) {
    length += LENGTHS_BYTES + key.length + (value?.length ?? 0);
  }
  const bytes = new Uint8Array(length);
  writeUint32(bytes, 0, changes.length);
  let offset = COUNT_BYTES;
  for (const { key, value } of changes) {
    writeUint32(bytes, offset, key.length);
    writeUint32(bytes, offset + 4, value === null ? 0 : value.length + 1);
    offset += LENGTHS_BYTES;
    bytes.set(key, offset);
    offset += key.length;
    if (value !== null) {
      bytes.set(value, offset);
      offset += value.length;
    }
  }
  return bytes.buffer;
}

/** Decodes the changes; keys and values are views into the buffer. */
export function decodeChanges(buffer: ArrayBuffer): Change[] {
  const bytes = new Uint8Array(buffer);
  const changes: Change[] = [];
  let offset = COUNT_BYTES;
  for (let left = readUint32(bytes, 0); left > 0; left--) {
    const keyLength = readUint32(bytes, offset);
    const valueField = readUint32(bytes, offset + 4);
    offset += LENGTHS_BYTES;
    const key = bytes.subarray(offset, offset + keyLength);
    offset += keyLength;
    const valueLength = Math.max(0, valueField - 1);
    changes.push({ key, value: valueField === 0 ? null : bytes.subarray(offset, offset + valueLength) });
    offset += valueLength;
  }
  invariant(offset === bytes.length, "batches are read to their end", () => `${offset} of ${bytes.length}`);
  return changes;
}
