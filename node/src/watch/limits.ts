/** The limits of a member's watches. */

export interface WatchLimits {
  /** Streams, including those that are about to end. */
  readonly streamsMax: number;
  /** Bytes of the newest changes that stay in memory, by their size in the history. */
  readonly recentBytesMax: number;
  /** A message is complete at this many bytes of changes. A revision is never split, however large it is. */
  readonly messageBytes: number;
  /** How much one read of the history returns at most: revisions, and their bytes (S44). */
  readonly readRevisionsMax: number;
  readonly readBytesMax: number;
  /** Milliseconds of work in one turn of the event loop, and watchers served in it. */
  readonly turnMs: number;
  readonly servedPerTurn: number;
  /**
   * The hub checks every watcher this often, in milliseconds: a watch ends within a second after its access is revoked
   * (S39).
   */
  readonly recheckMs: number;
  /** A member sends nothing after so many milliseconds without a leader, or while it lags so far behind in applying. */
  readonly staleMs: number;
}

export const DEFAULT_WATCH_LIMITS: WatchLimits = {
  streamsMax: 10_000,
  recentBytesMax: 16 * 1024 * 1024,
  messageBytes: 64 * 1024,
  readRevisionsMax: 512,
  readBytesMax: 1024 * 1024,
  turnMs: 4,
  servedPerTurn: 256,
  recheckMs: 500,
  staleMs: 1_000,
};
