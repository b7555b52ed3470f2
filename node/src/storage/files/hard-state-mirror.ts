/**
 * The mirror: proof, outside of the store, of the last write that the store acknowledged.
 *
 * RocksDB may open a damaged write-ahead log as a shorter one without an error. The mirror is written after each synced
 * batch and before its acknowledgement. So a store whose write sequence is behind the mirror has lost acknowledged data.
 * The mirror is never ahead of an undamaged store. Its two slots are written in turn, so a torn write leaves the other
 * one. Its votes are exact, because it is synced whenever term or vote change. A start compares the write sequence,
 * never (term, index) (P57).
 *
 * It also records two facts that outlive the loss of both stores: that data was lost and is not back yet, and whether
 * other members have the data.
 *
 * Slot, big-endian: crc32 (4) · format (1) · damaged (1) · others vote (1) · zero (1) · counter, member id, boot,
 * writeSeq, term, vote (8 each) · cluster id (16) · incarnation (16) · zeros up to 512.
 */

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { readUint32, readUint53, writeUint32, writeUint53 } from "../../primitives/index.ts";
import { crashPoint } from "./crash-point.ts";

export interface HardStateMirror {
  /** Counts the writes of the mirror; its parity names the slot. */
  readonly counter: number;
  readonly clusterId: string;
  readonly memberId: number;
  readonly incarnation: string;
  readonly boot: number;
  readonly writeSeq: number;
  readonly term: number;
  readonly vote: number;
  /** Acknowledged data was lost and is not back yet: the member follows and neither votes nor leads (P46). */
  readonly damaged: boolean;
  /**
   * The applied configuration has this member as the only voter, so no other member can restore lost data. A mirror from
   * before this field also reads as true: only clusters of one member were possible then.
   */
  readonly isSoleVoter: boolean;
}

export const MIRROR_FILE = "fence";
/** One sector: written whole or not at all by every disk. */
export const MIRROR_SLOT_BYTES = 512;
/** Slots lie in different blocks of a file system, so one bad block spares the other. */
const SLOT_STRIDE_BYTES = 4096;
const FORMAT = 1;
const DAMAGED_OFFSET = 5;
const OTHERS_VOTE_OFFSET = 6;

/** Offset in the file of the mirror with this counter, in bytes. */
export function mirrorOffset(counter: number): number {
  return (counter % 2) * SLOT_STRIDE_BYTES;
}

export function encodeMirror(mirror: HardStateMirror): Uint8Array {
  const slot = new Uint8Array(MIRROR_SLOT_BYTES);
  slot[4] = FORMAT;
  slot[DAMAGED_OFFSET] = mirror.damaged ? 1 : 0;
  slot[OTHERS_VOTE_OFFSET] = mirror.isSoleVoter ? 0 : 1;
  writeUint53(slot, 8, mirror.counter);
  writeUint53(slot, 16, mirror.memberId);
  writeUint53(slot, 24, mirror.boot);
  writeUint53(slot, 32, mirror.writeSeq);
  writeUint53(slot, 40, mirror.term);
  writeUint53(slot, 48, mirror.vote);
  slot.set(uuidBytes(mirror.clusterId), 56);
  slot.set(Buffer.from(mirror.incarnation, "hex"), 72);
  writeUint32(slot, 0, crc32(slot.subarray(4)));
  return slot;
}

/** The mirror of a slot, or null if the slot is not whole. */
export function decodeMirror(slot: Uint8Array): HardStateMirror | null {
  if (slot.length !== MIRROR_SLOT_BYTES || slot[4] !== FORMAT || readUint32(slot, 0) !== crc32(slot.subarray(4))) {
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
    damaged: slot[DAMAGED_OFFSET] !== 0,
    isSoleVoter: slot[OTHERS_VOTE_OFFSET] === 0,
  };
}

/** The newer of the two slots of the file, or null if there is no file or both slots are bad. */
export function readMirror(path: string): HardStateMirror | null {
  const [first, second] = readSlots(path).map(decodeMirror);
  if (!first || !second) {
    return first ?? second ?? null;
  }
  return first.counter > second.counter ? first : second;
}

/**
 * Whether both slots are good. With a bad slot the mirror may be an older one. That suffices if the log is undamaged,
 * because the log holds the votes as well; with a damaged log the last vote may be lost.
 */
export function isMirrorIntact(path: string): boolean {
  const slots = readSlots(path);
  const mirrors = slots.map(decodeMirror);
  // Before its second write a mirror has one slot, and the other one is a hole in the file.
  return slots.every((slot, at) => {
    return mirrors[at] !== null || (slot.every((byte) => byte === 0) && mirrors[1 - at]?.counter === 1);
  });
}

/** Writes the mirror into its slot of the existing file; durable on return. Blocks the calling thread. */
export function writeMirror(path: string, mirror: HardStateMirror): void {
  const file = openSync(path, "r+");
  try {
    writeMirrorSlot(file, encodeMirror(mirror), mirrorOffset(mirror.counter));
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Writes a slot into the open file, not durably yet. Raises an Error if only a part of it was written. */
export function writeMirrorSlot(file: number, slot: Uint8Array, offset: number): void {
  crashPoint("mirror.write.before");
  const written = writeSync(file, slot, 0, slot.length, offset);
  if (written !== slot.length) {
    throw new Error(`only ${written} of ${slot.length} bytes of the mirror were written`);
  }
  crashPoint("mirror.write.after");
}

/** The bytes of both slots; empty if there is no file, fewer if it is truncated. */
function readSlots(path: string): Buffer[] {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) {
      throw error;
    }
    file = Buffer.alloc(0);
  }
  return [0, 1].map((parity) => file.subarray(mirrorOffset(parity), mirrorOffset(parity) + MIRROR_SLOT_BYTES));
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
