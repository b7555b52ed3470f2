/**
 * The benchmark's interface to a member of any kind of cluster: keys, locks, sessions and regions over one kind of
 * connection, and watches over another. A failed call rejects; nothing is retried. Revisions are those of the cluster.
 */

export interface Connection {
  /** Null for a system without keys; the same holds for the other fields. */
  readonly keys: Keys | null;
  readonly locks: Locks | null;
  readonly sessions: Sessions | null;
  readonly regions: Regions | null;
  readonly logs: EventLogs | null;
  close(): void;
}

export interface Keys {
  /** Stores the value and returns the revision after it. */
  put(key: string, value: Buffer): Promise<bigint>;
  /** Reads linearizably. A missing key is an error. */
  get(key: string): Promise<Found>;
  /** Stores the value if the last change of the key has that revision. */
  swap(key: string, modRevision: bigint, value: Buffer): Promise<Swapped>;
  /** Stores the value under each of these keys in one transaction, and returns the revision after it. */
  transact(keys: readonly string[], value: Buffer): Promise<bigint>;
  /** Adds 1 to the number in the key, and returns the revision after it; null for a system without increments. */
  readonly increment: ((key: string) => Promise<bigint>) | null;
}

export interface Found {
  readonly value: Uint8Array;
  /** Revision of the key's last change. */
  readonly modRevision: bigint;
  readonly revision: bigint;
}

export interface Swapped {
  readonly isDone: boolean;
  readonly revision: bigint;
}

/** A lock that is not released for this long counts as lost and is not measured. */
export const LOCK_WAIT_MS = 60_000;

export interface Locks {
  /** Creates a lock of this name and returns the revision after it; null if locks need no creation. */
  create(name: string): Promise<bigint | null>;
  /** Takes the lock, or waits for it in a queue. A wait of more than LOCK_WAIT_MS is an error. */
  acquire(name: string): Promise<Hold>;
  /** Number of requests that wait behind the holder. */
  countWaiters(name: string): Promise<number>;
}

/** A held lock. */
export interface Hold {
  /** A revision at which the lock is held: that of the grant, or a later one. */
  readonly token: bigint;
  /** Releases the lock and returns the revision after that. */
  release(): Promise<bigint>;
}

/** Sessions: of etcd, leases. */
export interface Sessions {
  /** By how much the creation of a session raises the revision. */
  readonly revisionsPerCreation: bigint;
  /** Prepares the cluster for more sessions than it has by default. */
  allowMany(): Promise<void>;
  create(ttlSeconds: number): Promise<CreatedSession>;
  /** Renews these sessions at once, and returns the revision then. A session that has ended is an error. */
  renew(ids: readonly bigint[]): Promise<bigint>;
  /** Number of live sessions, of any client. */
  count(): Promise<number>;
}

export interface CreatedSession {
  readonly id: bigint;
  /** After the creation. */
  readonly revision: bigint;
}

export interface Regions {
  /** Creates a region of this many zeros and returns its id. */
  allocate(sizeBytes: number): Promise<string>;
  /** Overwrites bytes and returns the revision after that. */
  write(id: string, offset: number, data: Buffer): Promise<bigint>;
  /** Reads linearizably. */
  read(id: string, offset: number, length: number): Promise<RegionPart>;
}

export interface RegionPart {
  readonly data: Uint8Array;
  /** 1 at first, and one more with each write. */
  readonly version: bigint;
}

export interface EventLogs {
  /** Creates an event log of this name and returns its id. */
  create(name: string): Promise<string>;
  /** Appends an event and returns its sequence; a key of null = without one. */
  append(log: string, payload: Buffer, key: string | null): Promise<number>;
  /** The same over HTTP, where the system has that too. */
  appendByHttp(log: string, payload: Buffer, key: string | null): Promise<number>;
  /** Appends each line as an event, and returns their sequences. */
  appendBatch(log: string, lines: Buffer, key: string): Promise<readonly number[]>;
  /** The last sequence of the log; 0 = no event yet. */
  lastSequence(log: string): Promise<number>;
  /**
   * Calls `onEvent` for the events of the log, from a sequence on and as they arrive. Fulfilled when that has begun.
   * Rejects for a system for which this is not measured.
   */
  follow(log: string, fromSequence: number, onEvent: (sequence: number) => void): Promise<void>;
}

/** A connection that watches share. Each watch has its own stream. */
export interface WatchConnection {
  /** Watches future changes of the keys with the prefix. Fulfilled when the watch is in place. */
  watch(prefix: string, listener: WatchListener): Promise<void>;
  /** Ends all watches, without a call to their listeners. */
  close(): void;
}

export interface WatchListener {
  /** Called as soon as puts arrive. */
  onPuts(puts: readonly WatchedPut[]): void;
  /** The watch has ended, or reported something other than puts. */
  onFailed(error: Error): void;
}

/** A put, as a watcher receives it. */
export interface WatchedPut {
  readonly key: string;
  readonly revision: bigint;
}
