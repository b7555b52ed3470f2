/** What bounds the watches of a member. */

export interface WatchLimits {
  /** Streams, those included that are about to end. */
  readonly streamsMax: number;
  /** Bytes of the newest changes in memory, as they take them in the history. */
  readonly recentBytesMax: number;
  /** A message is closed when its changes have so many bytes; one revision is never split, however large it is. */
  readonly messageBytes: number;
  /** What is read from the history in one go: revisions, and bytes of them (S44). */
  readonly readRevisionsMax: number;
  readonly readBytesMax: number;
  /** Milliseconds of work in one turn of the event loop, and watchers served in it. */
  readonly turnMs: number;
  readonly servedPerTurn: number;
  /** Every watcher is checked this often, in milliseconds: what was revoked ends within a second (S39). */
  readonly recheckMs: number;
  /** A member that hears no leader, or lags behind in applying, for so many milliseconds tells nobody anything. */
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
