/** The kinds of locks for the commands: all differences between them are here. */

import type {
  AcquireOptions,
  Client,
  CreateLockOptions,
  CreateLockResult,
  DeleteLockOptions,
  ForceReleaseOptions,
  HoldOptions,
  InSession,
  LockHandle,
  LockHold,
  LockMode,
  LockWait,
  ReleaseLockOptions,
} from "../../index.ts";

/** A lock in its namespace. */
export interface LockTarget {
  readonly namespace: string;
  readonly name: string;
}

/** A hold of any kind. */
export type ShownHold = Omit<LockHold, "value"> & {
  readonly mode?: LockMode | undefined;
  readonly permits?: number;
  readonly value?: Uint8Array;
};

/** What a request wants of a lock of some kinds; undefined = not given. */
export interface Wanted {
  readonly mode: LockMode | undefined;
  readonly permits: number | undefined;
}

/** The state of a lock. */
export interface ShownLock {
  readonly state: string;
  readonly holders: readonly ShownHold[];
  /** Numbers of waiting requests, by their names in JSON. */
  readonly waiting: Readonly<Record<string, number>>;
  /** Permits of a semaphore, and those that its holds have. */
  readonly permits?: number;
  readonly heldPermits?: number;
  readonly ttlSeconds: number;
  /** Semaphores have none. */
  readonly lockDelaySeconds?: number;
  readonly lastFencingToken: number;
  readonly createdAtMs: number;
  readonly revision: number;
}

/** The answer to a lock request. */
export interface ShownAcquisition {
  readonly acquired: boolean;
  readonly fencingToken: number;
  readonly ttlSeconds: number;
  readonly expiresInMs: number;
  readonly holders: readonly ShownHold[];
  readonly queueLength: number;
  readonly state: string;
  readonly waitedMs: number;
  readonly revision: number;
}

/** The answer to a forced release. */
export interface ShownForce {
  readonly released: boolean;
  readonly previous: ShownHold | undefined;
  readonly revision: number;
}

/** A kind of locks, with its operations. */
export interface LockKind {
  /** The command, such as `lock`. */
  readonly command: string;
  /** Its name in the help. */
  readonly title: string;
  readonly hasModes: boolean;
  readonly hasPermits: boolean;
  create(
    client: Client,
    target: LockTarget,
    permits: number | undefined,
    options: CreateLockOptions,
  ): Promise<CreateLockResult>;
  describe(client: Client, target: LockTarget, options?: { readonly timeoutMs: number }): Promise<ShownLock>;
  /** The waiting requests, in the order in which they are served. */
  listWaits(client: Client, target: LockTarget): Promise<readonly LockWait[]>;
  /** @param token of a hold to renew or to change; undefined = a new hold. */
  acquire(
    client: Client,
    target: LockTarget,
    wanted: Wanted,
    token: number | undefined,
    options: AcquireOptions & InSession,
  ): Promise<ShownAcquisition>;
  release(
    client: Client,
    target: LockTarget,
    mode: LockMode | undefined,
    options: ReleaseLockOptions,
  ): Promise<{ readonly revision: number }>;
  forceRelease(client: Client, target: LockTarget, options: ForceReleaseOptions): Promise<ShownForce>;
  delete(client: Client, target: LockTarget, options: DeleteLockOptions): Promise<{ readonly revision: number }>;
  withLock<Result>(
    client: Client,
    target: LockTarget,
    wanted: Wanted,
    work: (handle: LockHandle) => Promise<Result>,
    options: HoldOptions,
  ): Promise<Result>;
}

/** The mode of a request without one. Its hold excludes all others. */
const DEFAULT_MODE: LockMode = "WRITE";

/** Exclusive locks. */
export const EXCLUSIVE_LOCKS: LockKind = {
  command: "lock",
  title: "exclusive lock",
  hasModes: false,
  hasPermits: false,
  create: ({ locks }, { namespace, name }, _permits, options) => locks.create(namespace, name, options),
  describe: async ({ locks }, { namespace, name }, options) => {
    const { holder, waiters, ...rest } = await locks.describe(namespace, name, options);
    return { ...rest, holders: holder === undefined ? [] : [holder], waiting: { waiters } };
  },
  listWaits: ({ locks }, { namespace, name }) => locks.listWaits(namespace, name),
  acquire: async ({ locks }, { namespace, name }, _wanted, token, { waitMs, ...options }) => {
    const { holder, ...rest } =
      token === undefined
        ? await locks.acquire(namespace, name, { ...options, waitMs })
        : await locks.renew(namespace, name, token, options);
    return { ...rest, holders: holder === undefined ? [] : [holder] };
  },
  release: ({ locks }, { namespace, name }, _mode, options) => locks.release(namespace, name, options),
  forceRelease: ({ locks }, { namespace, name }, options) => locks.forceRelease(namespace, name, options),
  delete: ({ locks }, { namespace, name }, options) => locks.delete(namespace, name, options),
  withLock: ({ locks }, { namespace, name }, _wanted, work, options) => locks.withLock(namespace, name, work, options),
};

/** Read-write locks. */
export const READ_WRITE_LOCKS: LockKind = {
  command: "rwlock",
  title: "read-write lock",
  hasModes: true,
  hasPermits: false,
  create: (client, { namespace, name }, _permits, options) => client.readWriteLocks.create(namespace, name, options),
  describe: async ({ readWriteLocks: locks }, { namespace, name }, options) => {
    const { waitingReaders, waitingWriters, ...rest } = await locks.describe(namespace, name, options);
    return { ...rest, waiting: { waiting_readers: waitingReaders, waiting_writers: waitingWriters } };
  },
  listWaits: ({ locks }, { namespace, name }) => locks.listWaits(namespace, name, { rw: true }),
  acquire: ({ readWriteLocks: locks }, { namespace, name }, { mode = DEFAULT_MODE }, token, { waitMs, ...options }) =>
    token === undefined
      ? locks.acquire(namespace, name, mode, { ...options, waitMs })
      : locks.renew(namespace, name, mode, token, options),
  release: (client, { namespace, name }, mode, options) =>
    client.readWriteLocks.release(namespace, name, { ...options, mode }),
  forceRelease: (client, { namespace, name }, options) => client.readWriteLocks.forceRelease(namespace, name, options),
  delete: (client, { namespace, name }, options) => client.readWriteLocks.delete(namespace, name, options),
  withLock: (client, { namespace, name }, { mode = DEFAULT_MODE }, work, options) =>
    client.readWriteLocks.withLock(namespace, name, mode, work, options),
};

/** Semaphores. */
export const SEMAPHORES: LockKind = {
  command: "semaphore",
  title: "semaphore",
  hasModes: false,
  hasPermits: true,
  create: ({ semaphores }, { namespace, name }, permits = 1, { lockDelaySeconds: _none, ...options }) =>
    semaphores.create(namespace, name, permits, options),
  describe: async ({ semaphores }, { namespace, name }, options) => {
    const { waiters, ...rest } = await semaphores.describe(namespace, name, options);
    return { ...rest, waiting: { waiters } };
  },
  listWaits: ({ locks }, { namespace, name }) => locks.listWaits(namespace, name),
  acquire: ({ semaphores }, { namespace, name }, { permits }, token, { waitMs, ...options }) =>
    token === undefined
      ? semaphores.acquire(namespace, name, { ...options, waitMs, permits })
      : semaphores.renew(namespace, name, token, options),
  release: ({ semaphores }, { namespace, name }, _mode, options) => semaphores.release(namespace, name, options),
  forceRelease: ({ semaphores }, { namespace, name }, options) => semaphores.forceRelease(namespace, name, options),
  delete: ({ semaphores }, { namespace, name }, options) => semaphores.delete(namespace, name, options),
  withLock: ({ semaphores }, { namespace, name }, { permits }, work, options) =>
    semaphores.withPermits(namespace, name, work, { ...options, permits }),
};
