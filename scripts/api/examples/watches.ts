/** Watches that begin in the past, with changes of the examples before. */

import type { Example } from "./example.ts";

export const WATCHES: readonly Example[] = [
  {
    kind: "grpc",
    method: "WatchService/WatchKeys",
    about: "The stream continues with later changes.",
    request: { namespace: "shop", prefix: "greet", startRevision: "3" },
    answers: [
      { created: true, revision: "2" },
      {
        events: [
          {
            type: "PUT",
            kv: {
              key: "greeting",
              value: "aGVsbG8=",
              createRevision: "3",
              modRevision: "3",
              version: "1",
            },
          },
          {
            type: "PUT",
            kv: {
              key: "greeting",
              value: "Z29vZGJ5ZQ==",
              createRevision: "3",
              modRevision: "4",
              version: "2",
            },
          },
        ],
        revision: "19",
      },
    ],
  },
  {
    kind: "grpc",
    method: "WatchService/WatchLocks",
    about: "The stream continues with later changes.",
    request: { namespace: "shop", namePrefix: "nightly", startRevision: "8" },
    answers: [
      { created: true, revision: "7" },
      {
        events: [
          {
            lockKey: "nightly",
            action: "ACQUIRED",
            owner: "worker-1",
            fencingToken: "8",
            revision: "8",
          },
          {
            lockKey: "nightly",
            action: "RELEASED",
            owner: "worker-1",
            fencingToken: "8",
            revision: "10",
          },
        ],
        revision: "19",
      },
    ],
  },
  {
    kind: "grpc",
    method: "WatchService/ListStreams",
    about: "No stream of the namespace is open at the member that answers.",
    request: { namespace: "default" },
    answers: [{ memberId: "1", revision: "19" }],
  },
];
