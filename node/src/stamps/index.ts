/** Stamps: named steps of a write, so that a tool can measure when a member takes them. */

export { hasStampReader, STAMP_CHANNEL, type Stamp, type StampName, stamp } from "./stamp.ts";
