/** Locks, and a write that a lock guards. */

import type { Example } from "./example.ts";

export const LOCKS: readonly Example[] = [
  {
    kind: "grpc",
    method: "LockService/CreateLock",
    request: { namespace: "shop", name: "nightly" },
    answers: [{ name: "nightly", createdAtMs: "1795719583361", revision: "7" }],
  },
  {
    kind: "grpc",
    method: "LockService/AcquireLock",
    request: { namespace: "shop", name: "nightly", owner: "worker-1", ttlSeconds: "600" },
    answers: [
      {
        acquired: true,
        fencingToken: "8",
        ttlSeconds: "600",
        expiresInMs: "600000",
        holder: {
          owner: "worker-1",
          subject: "cbf816ea-56f5-4410-a162-189526f00a62",
          fencingToken: "8",
          acquiredAtMs: "1795719583472",
          expiresInMs: "600000",
        },
        state: "HELD",
        revision: "8",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/AcquireLock",
    about: "Another worker waits for 100 ms and does not get the lock.",
    request: { namespace: "shop", name: "nightly", owner: "worker-2", waitMs: "100" },
    answers: [
      {
        holder: {
          owner: "worker-1",
          subject: "cbf816ea-56f5-4410-a162-189526f00a62",
          fencingToken: "8",
          acquiredAtMs: "1795719583472",
          expiresInMs: "599827",
        },
        state: "HELD",
        waitedMs: "155",
        revision: "8",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/DescribeLock",
    request: { namespace: "shop", name: "nightly" },
    answers: [
      {
        name: "nightly",
        state: "HELD",
        holder: {
          owner: "worker-1",
          subject: "cbf816ea-56f5-4410-a162-189526f00a62",
          fencingToken: "8",
          acquiredAtMs: "1795719583472",
          expiresInMs: "599642",
        },
        ttlSeconds: "30",
        lastFencingToken: "8",
        createdAtMs: "1795719583361",
        revision: "8",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/ListLocks",
    request: { namespace: "shop", inUseOnly: true, waitsMax: 10 },
    answers: [
      {
        locks: [
          {
            name: "nightly",
            state: "HELD",
            holders: [
              {
                owner: "worker-1",
                subject: "cbf816ea-56f5-4410-a162-189526f00a62",
                fencingToken: "8",
                acquiredAtMs: "1795719583472",
                expiresInMs: "599601",
              },
            ],
            holderCount: 1,
            ttlSeconds: "30",
            lastFencingToken: "8",
            createdAtMs: "1795719583361",
          },
        ],
        refusedGuardsForMs: "5120",
        revision: "8",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/ListLockWaits",
    about: "No request waits for the lock.",
    request: { namespace: "shop", name: "nightly" },
    answers: [{ revision: "8" }],
  },
  {
    kind: "grpc",
    method: "KeyValueService/PutKey",
    about: "The guard lets only the present holder of the lock write.",
    request: {
      namespace: "shop",
      key: "report",
      value: "ZG9uZQ==",
      guard: { lockName: "nightly", fencingToken: "8" },
    },
    answers: [{ modRevision: "9", created: true, revision: "9" }],
  },
  {
    kind: "grpc",
    method: "LockService/ReleaseLock",
    request: { namespace: "shop", name: "nightly", owner: "worker-1", fencingToken: "8" },
    answers: [{ released: true, revision: "10" }],
  },
  {
    kind: "grpc",
    method: "LockService/CreateRWLock",
    request: { namespace: "shop", name: "catalog" },
    answers: [{ name: "catalog", createdAtMs: "1795719583968", revision: "11" }],
  },
  {
    kind: "grpc",
    method: "LockService/AcquireRWLock",
    request: { namespace: "shop", name: "catalog", mode: "READ", owner: "reader-1", ttlSeconds: "600" },
    answers: [
      {
        acquired: true,
        fencingToken: "12",
        mode: "READ",
        ttlSeconds: "600",
        expiresInMs: "600000",
        holders: [
          {
            owner: "reader-1",
            subject: "cbf816ea-56f5-4410-a162-189526f00a62",
            fencingToken: "12",
            acquiredAtMs: "1795719584009",
            expiresInMs: "600000",
            mode: "READ",
          },
        ],
        state: "READ_HELD",
        revision: "12",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/DescribeRWLock",
    request: { namespace: "shop", name: "catalog" },
    answers: [
      {
        name: "catalog",
        state: "READ_HELD",
        holders: [
          {
            owner: "reader-1",
            subject: "cbf816ea-56f5-4410-a162-189526f00a62",
            fencingToken: "12",
            acquiredAtMs: "1795719584009",
            expiresInMs: "599955",
            mode: "READ",
          },
        ],
        ttlSeconds: "30",
        lastFencingToken: "12",
        createdAtMs: "1795719583968",
        revision: "12",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/ReleaseRWLock",
    request: { namespace: "shop", name: "catalog", mode: "READ", owner: "reader-1" },
    answers: [{ released: true, revision: "13" }],
  },
  {
    kind: "grpc",
    method: "LockService/AcquireRWLock",
    about: "A writer acquires the same lock.",
    request: { namespace: "shop", name: "catalog", mode: "WRITE", owner: "writer-1", ttlSeconds: "600" },
    answers: [
      {
        acquired: true,
        fencingToken: "14",
        mode: "WRITE",
        ttlSeconds: "600",
        expiresInMs: "600000",
        holders: [
          {
            owner: "writer-1",
            subject: "cbf816ea-56f5-4410-a162-189526f00a62",
            fencingToken: "14",
            acquiredAtMs: "1795719584237",
            expiresInMs: "600000",
            mode: "WRITE",
          },
        ],
        state: "WRITE_HELD",
        revision: "14",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/ForceReleaseLock",
    request: {
      namespace: "shop",
      name: "catalog",
      rw: true,
      reason: "writer-1 does not answer",
    },
    answers: [
      {
        released: true,
        previous: {
          owner: "writer-1",
          subject: "cbf816ea-56f5-4410-a162-189526f00a62",
          fencingToken: "14",
          acquiredAtMs: "1795719584237",
          expiresInMs: "599939",
          mode: "WRITE",
        },
        revision: "15",
      },
    ],
  },
];
