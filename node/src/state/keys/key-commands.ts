/** Commands about keys. */

import type { StoredKey } from "../core/index.ts";
import type { Guard } from "../locks/index.ts";

declare module "../core/results.ts" {
  interface StoredResults {
    readonly "put-key": PutKeyResult;
    readonly "delete-key": DeleteKeyResult;
    readonly "compare-and-swap": CompareAndSwapResult;
    readonly "touch-key": TouchKeyResult;
    readonly "remove-key": RemoveKeyResult;
    readonly "read-key": ReadKeyResult;
    readonly "list-keys": ListKeysResult;
    readonly "increment-key": IncrementKeyResult;
    readonly "delete-keys": DeleteKeysResult;
  }
}

export interface PutKeyResult {
  readonly kind: "put-key";
  readonly modRevision: number;
  readonly created: boolean;
  readonly previous: StoredKey | null;
  readonly revision: number;
}

export interface DeleteKeyResult {
  readonly kind: "delete-key";
  readonly previous: StoredKey | null;
  readonly revision: number;
}

export interface CompareAndSwapResult {
  readonly kind: "compare-and-swap";
  readonly success: boolean;
  /** The current key: the new value on success, else the value that did not match. */
  readonly currentExists: boolean;
  readonly currentValue: Uint8Array;
  readonly modRevision: number;
  readonly revision: number;
}

export interface TouchKeyResult {
  readonly kind: "touch-key";
  readonly modRevision: number;
  /** Cluster tick at which the key may expire, in milliseconds; 0 = never. */
  readonly deadlineMs: number;
  readonly revision: number;
}

export interface RemoveKeyResult {
  readonly kind: "remove-key";
  readonly removed: boolean;
  readonly previous: StoredKey | null;
  readonly revision: number;
}

export interface ReadKeyResult {
  readonly kind: "read-key";
  /** Null if the key does not exist. */
  readonly current: StoredKey | null;
  readonly revision: number;
}

export interface ListKeysResult {
  readonly kind: "list-keys";
  readonly keys: readonly StoredKey[];
  /** Whether keys with the prefix follow. */
  readonly more: boolean;
  readonly revision: number;
}

export interface IncrementKeyResult {
  readonly kind: "increment-key";
  /** The new number. */
  readonly value: bigint;
  readonly created: boolean;
  readonly modRevision: number;
  readonly revision: number;
}

export interface DeleteKeysResult {
  readonly kind: "delete-keys";
  readonly deletedKeys: number;
  readonly revision: number;
}

export interface PutKey {
  readonly kind: "put-key";
  readonly namespace: string;
  /** UTF-8 bytes of the key. */
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Seconds until the key expires; 0 = never. */
  readonly ttlSeconds: number;
  /** The session that the key ends with; absent = none, also if the key had one. */
  readonly sessionId?: number;
  /** The mod revision that the key must have; 0 = it must not exist, undefined = any. */
  readonly expectedModRevision: number | undefined;
  readonly returnPrevious: boolean;
  /** The hold that must be live for the write. */
  readonly guard?: Guard;
}

export interface DeleteKey {
  readonly kind: "delete-key";
  readonly namespace: string;
  readonly key: Uint8Array;
  readonly expectedModRevision: number | undefined;
  readonly returnPrevious: boolean;
  /** The hold that must be live for the write. */
  readonly guard?: Guard;
}

export interface CompareAndSwap {
  readonly kind: "compare-and-swap";
  readonly namespace: string;
  readonly key: Uint8Array;
  /** The value that the key must have; undefined = not compared. An empty value is not an absent one (S14). */
  readonly expectedValue: Uint8Array | undefined;
  readonly newValue: Uint8Array;
  readonly expectedModRevision: number | undefined;
  readonly ttlSeconds: number;
  readonly sessionId?: number;
  readonly guard?: Guard;
}

/** Gives a key a new time to live, and changes nothing else. */
export interface TouchKey {
  readonly kind: "touch-key";
  readonly namespace: string;
  readonly key: Uint8Array;
  /** Seconds until the key expires; 0 = never. */
  readonly ttlSeconds: number;
  readonly expectedModRevision: number | undefined;
  readonly guard?: Guard;
}

/** Names keys that may have expired; apply decides (S22). */
export interface ExpireKeys {
  readonly kind: "expire-keys";
  readonly keys: readonly { readonly namespace: string; readonly key: Uint8Array; readonly modRevision: number }[];
}

/** Deletes a key within a transaction. */
export interface RemoveKey extends Omit<DeleteKey, "kind"> {
  readonly kind: "remove-key";
  /** Whether the key need not exist. */
  readonly mayBeMissing: boolean;
}

/** Reads a key within a transaction. */
export interface ReadKey {
  readonly kind: "read-key";
  readonly namespace: string;
  readonly key: Uint8Array;
}

/** Reads keys with a prefix within a transaction, in the order of their bytes. */
export interface ListKeys {
  readonly kind: "list-keys";
  readonly namespace: string;
  readonly prefix: Uint8Array;
  /** Only keys above this one; empty = from the first one. */
  readonly after: Uint8Array;
  readonly entriesMax: number;
  readonly keysOnly: boolean;
}

/** Adds to a number, which is the decimal text of a value. */
export interface IncrementKey {
  readonly kind: "increment-key";
  readonly namespace: string;
  readonly key: Uint8Array;
  /** −2^63 to 2^63 − 1. */
  readonly delta: bigint;
  /** Seconds until the key expires if this creates it; 0 = never. A key that exists keeps its deadline. */
  readonly ttlSeconds: number;
}

/** Deletes all keys with a prefix. */
export interface DeleteKeys {
  readonly kind: "delete-keys";
  readonly namespace: string;
  readonly prefix: Uint8Array;
}
