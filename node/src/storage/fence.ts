/**
 * The fence: proof, outside of the store, of how far the store had come when it last acknowledged a write.
 *
 * RocksDB may open a damaged write-ahead log as a shorter one without an error. The fence is written after each synced
 * batch and before its acknowledgement, so a store whose write sequence is behind it has lost acknowledged data. It is
 * never ahead of the store. Two slots are written in turn, so a torn write leaves the other; votes are exact in it,
 * because it is synced whenever term or vote changed. Compared is the write sequence, never (term, index) (P57).
 *
 * Slot, big-endian: crc32 (4) · format (1) · zero (3) · counter, member id, boot, writeSeq, term, vote
 * (8 each) · cluster id (16) · incarnation (16) · zeros up to 512.
 */

import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { readUint32, readUint53, writeUint32, writeUint53 } from "../raft/index.ts";

export interface Fence {
  /** Counts the writes of the fence; its parity names the slot. */
  readonly counter: number;
  readonly clusterId: string;
  readonly memberId: number;
  readonly incarnation: string;
  readonly boot: number;
  readonly writeSeq: number;
  readonly term: number;
  readonly vote: number;
}

export const FENCE_FILE = "fence";
/** One sector: written whole or not at all by every disk. */
export const FENCE_SLOT_BYTES = 512;
/** Slots lie in different blocks of a file system, so one bad block spares the other. */
const SLOT_STRIDE_BYTES = 4096;
const FORMAT = 1;

/** Where in the file the fence with this counter is written. */
export function fenceOffset(counter: number): number {
  return (counter % 2) * SLOT_STRIDE_BYTES;
}

export function encodeFence(fence: Fence): Uint8Array {
  const slot = new Uint8Array(FENCE_SLOT_BYTES);
  slot[4] = FORMAT;
  writeUint53(slot, 8, fence.counter);
  writeUint53(slot, 16, fence.memberId);
  writeUint53(slot, 24, fence.boot);
  writeUint53(slot, 32, fence.writeSeq);
  writeUint53(slot, 40, fence.term);
  writeUint53(slot, 48, fence.vote);
  slot.set(uuidBytes(fence.clusterId), 56);
  slot.set(Buffer.from(fence.incarnation, "hex"), 72);
  writeUint32(slot, 0, crc32(slot.subarray(4)));
  return slot;
}

/** The fence of a slot, or null if the slot is not whole. */
export function decodeFence(slot: Uint8Array): Fence | null {
  if (slot.length !== FENCE_SLOT_BYTES || slot[4] !== FORMAT || readUint32(slot, 0) !== crc32(slot.subarray(4))) {
    return null;
  }
  return {
    counter: readUint53(slot, 8),
    memberId: readUint53(slot, 16),
    boot: readUint53(slot, 24),
    writeSeq: readUint53(slot, 32),
    term: readUint53(slot, 40),
    vote: readUint53(slot, 48),
    clusterId: uuidText(slot.subarray(56, 72)),
    incarnation: Buffer.from(slot.subarray(72, 88)).toString("hex"),
  };
}

/** The newer of the two slots of the file, or null if there is no file or both slots are bad. */
export function readFence(path: string): Fence | null {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return null;
    }
    throw error;
  }
  let newest: Fence | null = null;
  for (const offset of [0, SLOT_STRIDE_BYTES]) {
    const fence = decodeFence(file.subarray(offset, offset + FENCE_SLOT_BYTES));
    if (fence !== null && (newest === null || fence.counter > newest.counter)) {
      newest = fence;
    }
  }
  return newest;
}

/** The 16 bytes of a UUID in text form. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll("-", ""), "hex");
}

/** The text form of a UUID, lower case. */
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
