/** The limits that apply uses; equal on every member of a cluster version. */

/** How much of the history is kept. Changes beyond any of these limits may be dropped. */
export interface HistoryLimits {
  /** Revisions behind the newest. */
  readonly revisionsMax: number;
  /** Age in cluster milliseconds. */
  readonly ageMsMax: number;
  /** Bytes of all changes. They do not count toward `dataBytesMax`: a client can free data, but not history. */
  readonly bytesMax: number;
}

export interface StateLimits {
  /** Bytes of keys, values and stored answers per cluster; above it, growing commands are refused (QUOTA). */
  readonly dataBytesMax: number;
  /** Bytes of one memory region, and of all regions of a namespace together; above them, growth is refused (QUOTA). */
  readonly memoryRegionBytesMax: number;
  readonly memoryNamespaceBytesMax: number;
  /**
   * Keys, locks of both kinds together, memory regions and event logs of one namespace; no more can be created (QUOTA).
   */
  readonly namespaceKeysMax: number;
  readonly namespaceLocksMax: number;
  readonly namespaceRegionsMax: number;
  readonly namespaceLogsMax: number;
  /** Sessions of one namespace; no more can be created (QUOTA). */
  readonly namespaceSessionsMax: number;
  /** Watches of one namespace at one member; further ones are refused (QUOTA). */
  readonly namespaceWatchesMax: number;
  /**
   * Keys and holds of one session, and bytes of its keys and values; no more can belong to it (QUOTA). One entry ends all
   * of them (S44).
   */
  readonly sessionObjectsMax: number;
  readonly sessionBytesMax: number;
  /** API keys of one user that are neither revoked nor expired; no more can be created (QUOTA). */
  readonly userApiKeysMax: number;
  /** Cluster ticks for which an answer is kept for retries, in milliseconds from its first execution. */
  readonly replayWindowMs: number;
  /** Bytes above which an answer is stored without the values it carries. */
  readonly replayAnswerBytesMax: number;
  /** Waits for one lock; further ones are refused (QUOTA), because one entry may end all of them (S44). */
  readonly lockWaitsMax: number;
  /** Readers that hold one lock at the same time; further ones wait. Every answer lists all of them. */
  readonly lockReadersMax: number;
  /**
   * Bytes of events and of their remembered keys per cluster; above it, nothing can be appended (QUOTA). This is a
   * separate limit, so that a log cannot use up the space of keys and locks.
   */
  readonly eventBytesMax: number;
  /** Event logs per cluster; no more can be created (QUOTA). */
  readonly logsMax: number;
  readonly history: HistoryLimits;
  /** How many entries apart members compare their states. */
  readonly checkpointEntries: number;
}

export const DEFAULT_STATE_LIMITS: StateLimits = {
  dataBytesMax: 8 * 1024 * 1024 * 1024,
  memoryRegionBytesMax: 64 * 1024 * 1024,
  memoryNamespaceBytesMax: 1024 * 1024 * 1024,
  namespaceKeysMax: 10_000_000,
  namespaceLocksMax: 1_000_000,
  namespaceRegionsMax: 100_000,
  namespaceLogsMax: 10_000,
  namespaceSessionsMax: 20_000,
  sessionObjectsMax: 1_000,
  sessionBytesMax: 4 * 1024 * 1024,
  // As many as one member serves.
  namespaceWatchesMax: 10_000,
  userApiKeysMax: 1_000,
  replayWindowMs: 300_000,
  replayAnswerBytesMax: 4 * 1024,
  lockWaitsMax: 1_000,
  lockReadersMax: 1_000,
  eventBytesMax: 16 * 1024 * 1024 * 1024,
  logsMax: 100_000,
  history: {
    revisionsMax: 1_000_000,
    ageMsMax: 3_600_000,
    // A million changes of small values need less. Without this limit, large values could fill a disk within an hour.
    bytesMax: 2 * 1024 * 1024 * 1024,
  },
  checkpointEntries: 1_000,
};
