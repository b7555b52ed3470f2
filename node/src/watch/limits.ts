/** The limits of a member's watches. */

import { DEFAULT_STREAM_LIMITS, type StreamLimits } from "./stream-scheduler.ts";

export interface WatchLimits extends StreamLimits {
  /** Streams, including those that are about to end. */
  readonly streamsMax: number;
  /** Memory for the newest changes, in bytes: an estimate. */
  readonly recentBytesMax: number;
  /** A message is complete at this many bytes of changes, and the rest of their revision. */
  readonly messageBytes: number;
  /** A revision with more bytes than this is divided: clients refuse messages that are too large. */
  readonly partBytes: number;
  /** How much one read of the history returns at most: revisions, and their bytes (S44). */
  readonly readRevisionsMax: number;
  readonly readBytesMax: number;
}

export const DEFAULT_WATCH_LIMITS: WatchLimits = {
  ...DEFAULT_STREAM_LIMITS,
  streamsMax: 10_000,
  recentBytesMax: 16 * 1024 * 1024,
  messageBytes: 64 * 1024,
  partBytes: 1024 * 1024,
  readRevisionsMax: 512,
  readBytesMax: 1024 * 1024,
};
