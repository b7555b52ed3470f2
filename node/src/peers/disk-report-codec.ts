/** How full disks are, between members: what each has left, and whether most voters have nothing left. */

import { BodyReader, BodyWriter, NUMBER_BYTES } from "./body-codec.ts";

const ROOMS = ["ok", "low", "full"] as const;

export interface DiskReport {
  /** Room on the disk of the sender. */
  readonly room: (typeof ROOMS)[number];
  /** The disks of most voters are full, as the leader knows. */
  readonly isCritical: boolean;
}

export function encodeDiskReport({ room, isCritical }: DiskReport): Uint8Array {
  return new BodyWriter(2 * NUMBER_BYTES)
    .number(ROOMS.indexOf(room))
    .number(isCritical ? 1 : 0)
    .finish();
}

/** Raises a FrameError unless the body is a whole report. */
export function decodeDiskReport(body: Uint8Array): DiskReport {
  const read = new BodyReader(body);
  const report = { room: read.oneOf(ROOMS), isCritical: read.flag() };
  read.end();
  return report;
}
