/** How much, and how long, entries wait before they are archived. */

export interface ArchiveLimits {
  /** Entries wait at most this long before they are written, in milliseconds. */
  readonly segmentMs: number;
  /** Bytes of entries with which a segment is full, and is written at once. */
  readonly segmentBytes: number;
  /** Bytes of entries that one turn reads from the log. */
  readonly turnBytes: number;
}

export const DEFAULT_ARCHIVE_LIMITS: ArchiveLimits = {
  segmentMs: 10_000,
  segmentBytes: 8 * 1024 * 1024,
  turnBytes: 256 * 1024,
};
