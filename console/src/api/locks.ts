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

export interface NewSemaphore {
  readonly namespace: string;
  readonly name: string;
  readonly permits: number;
  readonly ttlSeconds: number;
}

export async function createSemaphore(semaphore: NewSemaphore): Promise<void> {
  await change<Proto.CreateSemaphoreRequest, Proto.CreateSemaphoreResponse>(
    "LockService",
    "CreateSemaphore",
    semaphore,
  );
}

export async function createLock({ rw, ...lock }: NewLock): Promise<void> {
  if (rw) {
    await change<Proto.CreateRWLockRequest, Proto.CreateRWLockResponse>("LockService", "CreateRWLock", lock);
  } else {
    await change<Proto.CreateLockRequest, Proto.CreateLockResponse>("LockService", "CreateLock", lock);
  }
}

export interface Acquisition {
  readonly namespace: string;
  readonly name: string;
  /** The mode of the hold of a read-write lock; null = the lock is exclusive. */
  readonly mode: "READ" | "WRITE" | null;
  readonly owner: string;
  readonly ttlSeconds: number;
}

/** Acquires a lock without waiting for it. Returns whether the user holds it now. */
export async function acquireLock({ mode, ...lock }: Acquisition): Promise<boolean> {
  const { acquired } =
    mode === null
      ? await change<Proto.AcquireLockRequest, Proto.AcquireLockResponse>("LockService", "AcquireLock", lock)
      : await change<Proto.AcquireRWLockRequest, Proto.AcquireRWLockResponse>("LockService", "AcquireRWLock", {
          ...lock,
          mode,
        });
  return acquired;
}

export interface PermitsAcquisition {
  readonly namespace: string;
  readonly name: string;
  readonly permits: number;
  readonly owner: string;
  readonly ttlSeconds: number;
}

/** Acquires permits of a semaphore without waiting for them. Returns whether the user has them now. */
export async function acquirePermits(acquisition: PermitsAcquisition): Promise<boolean> {
  const { acquired } = await change<Proto.AcquireSemaphoreRequest, Proto.AcquireSemaphoreResponse>(
    "LockService",
    "AcquireSemaphore",
    acquisition,
  );
  return acquired;
}

export interface Release {
  readonly namespace: string;
  readonly name: string;
  readonly owner: string;
  readonly fencingToken: string;
}

/** Ends a hold of the user. */
export async function releaseLock({ rw, permits }: Pick<Lock, "rw" | "permits">, release: Release): Promise<void> {
  if (permits > 0) {
    await change<Proto.ReleaseSemaphoreRequest, Proto.ReleaseSemaphoreResponse>(
      "LockService",
      "ReleaseSemaphore",
      release,
    );
  } else if (rw) {
    await change<Proto.ReleaseRWLockRequest, Proto.ReleaseRWLockResponse>("LockService", "ReleaseRWLock", release);
  } else {
    await change<Proto.ReleaseLockRequest, Proto.ReleaseLockResponse>("LockService", "ReleaseLock", release);
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
    "LockService",
    "ForceReleaseLock",
    release,
  );
}

export interface LockDeletion {
  readonly namespace: string;
  readonly name: string;
  /** Whether to delete it although it is in use. */
  readonly force: boolean;
}

export async function deleteLock({ rw, permits }: Pick<Lock, "rw" | "permits">, lock: LockDeletion): Promise<void> {
  if (permits > 0) {
    await change<Proto.DeleteSemaphoreRequest, Proto.DeleteSemaphoreResponse>("LockService", "DeleteSemaphore", lock);
  } else if (rw) {
    await change<Proto.DeleteRWLockRequest, Proto.DeleteRWLockResponse>("LockService", "DeleteRWLock", lock);
  } else {
    await change<Proto.DeleteLockRequest, Proto.DeleteLockResponse>("LockService", "DeleteLock", lock);
  }
}
