/** How members are, between them: the room on each disk, whether most voters have none left, and what their states are. */

import { BodyReader, BodyWriter, NUMBER_BYTES } from "./body-codec.ts";
import { FrameError } from "./frame.ts";

const ROOMS = ["ok", "low", "full"] as const;
const DIGEST_MAX = 0xffff_ffff;

export interface MemberReport {
  /** Room on the disk of the sender. */
  readonly room: (typeof ROOMS)[number];
  /** The disks of most voters are full, as the leader knows. */
  readonly isCritical: boolean;
  /** The digest of the sender's state after the entry at an index, an unsigned number of 32 bits; null if it has none. */
  readonly checkpoint: { readonly index: number; readonly digest: number } | null;
}

export function encodeMemberReport({ room, isCritical, checkpoint }: MemberReport): Uint8Array {
  return new BodyWriter(4 * NUMBER_BYTES)
    .number(ROOMS.indexOf(room))
    .number(isCritical ? 1 : 0)
    .number(checkpoint?.index ?? 0)
    .number(checkpoint?.digest ?? 0)
    .finish();
}

/** Raises a FrameError unless the body is a whole report. */
export function decodeMemberReport(body: Uint8Array): MemberReport {
  const read = new BodyReader(body);
  const report = { room: read.oneOf(ROOMS), isCritical: read.flag() };
  const [index, digest] = [read.number(), read.number()];
  read.end();
  if (digest > DIGEST_MAX || (index === 0 && digest !== 0)) {
    throw new FrameError("a report has a digest that no state has");
  }
  return { ...report, checkpoint: index === 0 ? null : { index, digest } };
}
