/** Locks, their holds and their queues. */

import type * as Proto from "@quoin/proto";
import { change, read } from "./call.ts";
import type { Json } from "./json.ts";
import { consistencyOf, type ReadOptions } from "./key-value.ts";

export type Lock = Json<Proto.Lock>;
export type LockHold = Json<Proto.LockHold>;
export type LockWait = Json<Proto.LockWait>;

export interface LockListing {
  readonly namespace: string;
  readonly namePrefix: string;
  readonly inUseOnly: boolean;
  readonly pageToken: string;
  readonly pageSize: number;
  /** Maximum number of waits for each lock. */
  readonly waitsMax: number;
}

export async function listLocks(listing: LockListing, options: ReadOptions): Promise<Json<Proto.ListLocksResponse>> {
  return await read<Proto.ListLocksRequest, Proto.ListLocksResponse>(
    "LockService",
    "ListLocks",
    { ...listing, consistency: consistencyOf(options) },
    options,
  );
}

/** All requests that wait for a lock, in the order in which they are served. */
export async function listLockWaits(
  lock: { readonly namespace: string; readonly name: string; readonly rw: boolean },
  options: ReadOptions,
): Promise<LockWait[]> {
  const { waits } = await read<Proto.ListLockWaitsRequest, Proto.ListLockWaitsResponse>(
    "LockService",
    "ListLockWaits",
    { ...lock, consistency: consistencyOf(options) },
    options,
  );
  return waits;
}

export interface NewLock {
  readonly namespace: string;
  readonly name: string;
  readonly rw: boolean;
  readonly ttlSeconds: number;
  readonly lockDelaySeconds: number;
}

export async function createLock({ rw, ...lock }: NewLock): Promise<void> {
  if (rw) {
    await change<Proto.CreateRWLockRequest, Proto.CreateRWLockResponse>("LockService", "CreateRWLock", lock);
  } else {
    await change<Proto.CreateLockRequest, Proto.CreateLockResponse>("LockService", "CreateLock", lock);
  }
}

export interface ForcedRelease {
  readonly namespace: string;
  readonly name: string;
  readonly rw: boolean;
  readonly fencingToken: string;
  readonly reason: string;
}

/** Ends a hold that its holder does not release. */
export async function forceReleaseLock(release: ForcedRelease): Promise<void> {
  await change<Proto.ForceReleaseLockRequest, Proto.ForceReleaseLockResponse>(
    ...(["LockService", "ForceReleaseLock"] as const),
    release,
  );
}
