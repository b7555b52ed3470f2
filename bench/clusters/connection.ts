/**
 * What the benchmark asks of a member, whatever the cluster is made of: keys, locks and regions over one connection, and
 * watches over another kind of it. A call that fails rejects; nothing is retried. Revisions are those of the cluster.
 */

export interface Connection {
  /** Null for a system that has none, and so are the others. */
  readonly keys: Keys | null;
  readonly locks: Locks | null;
  readonly regions: Regions | null;
  readonly logs: EventLogs | null;
  close(): void;
}

export interface Keys {
  /** Stores the value and returns the revision after it. */
  put(key: string, value: Buffer): Promise<bigint>;
  /** Reads linearizably. A key that is not there is an error. */
  get(key: string): Promise<Found>;
  /** Stores the value if the key was changed last at that revision. */
  swap(key: string, modRevision: bigint, value: Buffer): Promise<Swapped>;
}

export interface Found {
  readonly value: Uint8Array;
  /** Of the last change of the key. */
  readonly modRevision: bigint;
  readonly revision: bigint;
}

export interface Swapped {
  readonly isDone: boolean;
  readonly revision: bigint;
}

/** A lock that nobody gives back for so long is not measured but lost. */
export const LOCK_WAIT_MS = 60_000;

export interface Locks {
  /** Makes a lock of this name and returns the revision after it; null where locks need not be made. */
  create(name: string): Promise<bigint | null>;
  /** Takes the lock, or waits for it in a queue. Not to get it within LOCK_WAIT_MS is an error. */
  acquire(name: string): Promise<Hold>;
  /** How many requests wait behind the holder. */
  countWaiters(name: string): Promise<number>;
}

/** A lock, held. */
export interface Hold {
  /** A revision at which it is held: at the grant, or later. */
  readonly token: bigint;
  /** Gives the lock back and returns the revision after that. */
  release(): Promise<bigint>;
}

export interface Regions {
  /** Makes a region of so many zeros and returns its id. */
  allocate(sizeBytes: number): Promise<string>;
  /** Overwrites bytes and returns the revision after that. */
  write(id: string, offset: number, data: Buffer): Promise<bigint>;
  /** Reads linearizably. */
  read(id: string, offset: number, length: number): Promise<RegionPart>;
}

export interface RegionPart {
  readonly data: Uint8Array;
  /** 1 at first, one more with each write. */
  readonly version: bigint;
}

export interface EventLogs {
  /** Makes an event log of this name and returns its id. */
  create(name: string): Promise<string>;
  /** Appends an event and returns its sequence; null = without a key. */
  append(log: string, payload: Buffer, key: string | null): Promise<number>;
  /** Appends each line as an event, and returns their sequences. */
  appendBatch(log: string, lines: Buffer, key: string): Promise<readonly number[]>;
  /** Of the log; 0 = nothing was ever appended. */
  lastSequence(log: string): Promise<number>;
  /**
   * Tells of the events of the log, from a sequence on and as they come. Fulfilled when that has begun. Rejects for a
   * system for which this is not measured.
   */
  follow(log: string, fromSequence: number, onEvent: (sequence: number) => void): Promise<void>;
}

/** A connection that watches share. Each of them is a stream of its own. */
export interface WatchConnection {
  /** Watches the keys with the prefix for what comes from now on. Fulfilled when the watch is in place. */
  watch(prefix: string, listener: WatchListener): Promise<void>;
  /** Ends all watches, without a word to their listeners. */
  close(): void;
}

export interface WatchListener {
  /** Told as soon as they arrive. */
  onPuts(puts: readonly WatchedPut[]): void;
  /** The watch has ended, or told something else than puts. */
  onFailed(error: Error): void;
}

/** A put, as a watcher is told of it. */
export interface WatchedPut {
  readonly key: string;
  readonly revision: bigint;
}
