/** Limits on how many entries, and how long, wait for the archive. */

export interface ArchiveLimits {
  /** The longest wait of an entry before it is written, in milliseconds. */
  readonly segmentMs: number;
  /** The same for entries that change nothing, such as ticks. */
  readonly idleSegmentMs: number;
  /** A segment is full, and written at once, at this many bytes of entries. */
  readonly segmentBytes: number;
  /** Bytes of entries that one turn reads from the log. */
  readonly turnBytes: number;
}

export const DEFAULT_ARCHIVE_LIMITS: ArchiveLimits = {
  segmentMs: 10_000,
  idleSegmentMs: 300_000,
  segmentBytes: 8 * 1024 * 1024,
  turnBytes: 256 * 1024,
};
