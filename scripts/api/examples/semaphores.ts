/** Semaphores, and the value of a hold. */

import type { Example } from "./example.ts";

const SUBJECT = "cbf816ea-56f5-4410-a162-189526f00a62";

export const SEMAPHORES: readonly Example[] = [
  {
    kind: "grpc",
    method: "LockService/CreateSemaphore",
    request: { namespace: "shop", name: "printers", permits: 3, ttlSeconds: "60" },
    answers: [{ name: "printers", createdAtMs: "1795719583361", revision: "25" }],
  },
  {
    kind: "grpc",
    method: "LockService/AcquireSemaphore",
    request: { namespace: "shop", name: "printers", permits: 2, owner: "worker-1" },
    answers: [
      {
        acquired: true,
        fencingToken: "26",
        ttlSeconds: "60",
        expiresInMs: "60000",
        permits: 3,
        heldPermits: 2,
        holders: [
          {
            owner: "worker-1",
            subject: SUBJECT,
            fencingToken: "26",
            acquiredAtMs: "1795719583472",
            expiresInMs: "60000",
            permits: 2,
          },
        ],
        state: "HELD",
        revision: "26",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/DescribeSemaphore",
    request: { namespace: "shop", name: "printers" },
    answers: [
      {
        name: "printers",
        state: "HELD",
        permits: 3,
        heldPermits: 2,
        holders: [
          {
            owner: "worker-1",
            subject: SUBJECT,
            fencingToken: "26",
            acquiredAtMs: "1795719583472",
            expiresInMs: "59642",
            permits: 2,
          },
        ],
        ttlSeconds: "60",
        lastFencingToken: "26",
        createdAtMs: "1795719583361",
        revision: "26",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/UpdateSemaphore",
    about: "There are fewer permits than the hold has. It keeps them, and nothing is granted until it has ended.",
    request: { namespace: "shop", name: "printers", permits: 1 },
    answers: [{ revision: "27" }],
  },
  {
    kind: "grpc",
    method: "LockService/ReleaseSemaphore",
    request: { namespace: "shop", name: "printers", owner: "worker-1", fencingToken: "26" },
    answers: [{ released: true, revision: "28" }],
  },
  {
    kind: "grpc",
    method: "LockService/DeleteSemaphore",
    request: { namespace: "shop", name: "printers" },
    answers: [{ revision: "29" }],
  },
  {
    kind: "grpc",
    method: "LockService/CreateLock",
    about: "The lock of an election, which a candidate then acquires with its address as the value.",
    request: { namespace: "shop", name: "scheduler" },
    answers: [{ name: "scheduler", createdAtMs: "1795719583361", revision: "30" }],
  },
  {
    kind: "grpc",
    method: "LockService/AcquireLock",
    request: { namespace: "shop", name: "scheduler", owner: "host-a", value: "aG9zdC1hOjgwODA=" },
    answers: [
      {
        acquired: true,
        fencingToken: "31",
        ttlSeconds: "30",
        expiresInMs: "30000",
        holder: {
          owner: "host-a",
          subject: SUBJECT,
          fencingToken: "31",
          acquiredAtMs: "1795719583472",
          expiresInMs: "30000",
          value: "aG9zdC1hOjgwODA=",
        },
        state: "HELD",
        revision: "31",
      },
    ],
  },
  {
    kind: "grpc",
    method: "LockService/SetLockValue",
    about: "The leader has another address now.",
    request: { namespace: "shop", name: "scheduler", fencingToken: "31", value: "aG9zdC1hOjgwOTA=" },
    answers: [{ revision: "32" }],
  },
];
