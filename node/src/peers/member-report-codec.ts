/**
 * What members report to each other: free space of the disk, whether most voters have none left, and the digest of the
 * state.
 */

import { BodyReader, BodyWriter, NUMBER_BYTES } from "./body-codec.ts";
import { FrameError } from "./frame.ts";

const DISK_SPACE_LEVELS = ["ok", "low", "full"] as const;
const DIGEST_MAX = 0xffff_ffff;

export interface MemberReport {
  /** Free space on the sender's disk. */
  readonly diskSpace: (typeof DISK_SPACE_LEVELS)[number];
  /** The leader knows that the disks of most voters are full. */
  readonly isCritical: boolean;
  /** The digest of the sender's state after the entry at an index, an unsigned 32-bit number; null if it has none. */
  readonly checkpoint: { readonly index: number; readonly digest: number } | null;
}

export function encodeMemberReport({ diskSpace, isCritical, checkpoint }: MemberReport): Uint8Array {
  return new BodyWriter(4 * NUMBER_BYTES)
    .number(DISK_SPACE_LEVELS.indexOf(diskSpace))
    .number(isCritical ? 1 : 0)
    .number(checkpoint?.index ?? 0)
    .number(checkpoint?.digest ?? 0)
    .finish();
}

/** Raises a FrameError unless the body is a whole report. */
export function decodeMemberReport(body: Uint8Array): MemberReport {
  const read = new BodyReader(body);
  const report = { diskSpace: read.oneOf(DISK_SPACE_LEVELS), isCritical: read.flag() };
  const [index, digest] = [read.number(), read.number()];
  read.end();
  if (digest > DIGEST_MAX || (index === 0 && digest !== 0)) {
    throw new FrameError("the digest in a report is not possible");
  }
  return { ...report, checkpoint: index === 0 ? null : { index, digest } };
}
