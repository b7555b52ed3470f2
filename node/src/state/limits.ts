/** Limits that apply decides by, equal on every member of a cluster version. */

/** How much of the history of changes is kept: what is beyond any of these may be dropped. */
export interface HistoryLimits {
  /** Revisions behind the newest. */
  readonly revisionsMax: number;
  /** Age in cluster milliseconds. */
  readonly ageMsMax: number;
  /** Bytes of all changes. They do not count into `dataBytesMax`: a client can free those, but not these. */
  readonly bytesMax: number;
}

export interface StateLimits {
  /** Bytes of keys, values and stored answers per cluster, above which growing commands are refused (QUOTA). */
  readonly dataBytesMax: number;
  /** Bytes of one memory region, and of all regions of a namespace together; beyond, growth is refused (QUOTA). */
  readonly memoryRegionBytesMax: number;
  readonly memoryNamespaceBytesMax: number;
  /** Keys, locks of both kinds together, memory regions and event logs of one namespace; none is added beyond (QUOTA). */
  readonly namespaceKeysMax: number;
  readonly namespaceLocksMax: number;
  readonly namespaceRegionsMax: number;
  readonly namespaceLogsMax: number;
  /** Watches of one namespace at one member; further ones are refused (QUOTA). */
  readonly namespaceWatchesMax: number;
  /** API keys of one user that are neither revoked nor expired; none is added beyond (QUOTA). */
  readonly userApiKeysMax: number;
  /** Cluster ticks that an answer is kept for retries, in milliseconds from its first execution. */
  readonly replayWindowMs: number;
  /** Bytes above which an answer is stored without the values it carries. */
  readonly replayAnswerBytesMax: number;
  /** Waits for one lock, above which further ones are refused (QUOTA): one entry may end all of them (S44). */
  readonly lockWaitsMax: number;
  /** Readers that hold one lock at a time; further ones wait. Every answer lists all of them. */
  readonly lockReadersMax: number;
  /**
   * Bytes of events and of what is remembered of their keys, per cluster, above which nothing is appended (QUOTA). They
   * have a limit of their own, so that a log cannot take the room of keys and locks.
   */
  readonly eventBytesMax: number;
  /** Event logs per cluster, above which none is created (QUOTA). */
  readonly logsMax: number;
  readonly history: HistoryLimits;
  /** Entries after which members compare their states anew. */
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
    // A million changes of small values take less; without it, large ones could fill a disk within the hour.
    bytesMax: 2 * 1024 * 1024 * 1024,
  },
  checkpointEntries: 1_000,
};
