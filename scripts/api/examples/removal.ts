/** Counts and deletions of what other examples have created. */

import type { Example } from "./example.ts";

export const REMOVAL: readonly Example[] = [
  {
    kind: "grpc",
    method: "KeyValueService/CountKeys",
    request: { namespace: "shop" },
    answers: [{ keys: "2", revision: "32" }],
  },
  {
    kind: "grpc",
    method: "LockService/DeleteLock",
    request: { namespace: "shop", name: "nightly" },
    answers: [{ revision: "33" }],
  },
  {
    kind: "grpc",
    method: "LockService/DeleteRWLock",
    about: "An administrator deletes a lock that may be in use.",
    request: { namespace: "shop", name: "catalog", force: true },
    answers: [{ revision: "34" }],
  },
  {
    kind: "grpc",
    method: "KeyValueService/DeleteNamespace",
    about: "An administrator deletes a namespace with everything in it.",
    request: { namespace: "shop", recursive: true },
    answers: [{ revision: "35" }],
  },
];
