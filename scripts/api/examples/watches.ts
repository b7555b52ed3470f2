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
    kind: "http",
    operation: "watchKeys",
    about: "The stream continues with later changes. Each event has the JSON of one message of `WatchKeys`.",
    method: "GET",
    target: "/v1/watch/keys?namespace=shop&prefix=greet&start_revision=3",
    isAuthorized: true,
    headers: { Accept: "text/event-stream" },
    answer: {
      status: 200,
      text: [
        `id: 2\nevent: created\ndata: {"events":[],"created":true,"progress":false,"partial":false,"revision":"2"}`,
        `id: 19\ndata: ${JSON.stringify({
          events: [
            {
              type: "PUT",
              kv: {
                key: "greeting",
                value: "aGVsbG8=",
                valueText: "hello",
                createRevision: "3",
                modRevision: "3",
                version: "1",
                expiresInMs: "0",
                sessionId: "0",
              },
            },
            {
              type: "PUT",
              kv: {
                key: "greeting",
                value: "Z29vZGJ5ZQ==",
                valueText: "goodbye",
                createRevision: "3",
                modRevision: "4",
                version: "2",
                expiresInMs: "0",
                sessionId: "0",
              },
            },
          ],
          created: false,
          progress: false,
          partial: false,
          revision: "19",
        })}`,
      ].join("\n\n"),
    },
  },
  {
    kind: "http",
    operation: "watchLocks",
    about: "The stream continues with later changes. A client continues it with the header `Last-Event-ID`.",
    method: "GET",
    target: "/v1/watch/locks?namespace=shop&name_prefix=nightly",
    isAuthorized: true,
    headers: { "Last-Event-ID": "7" },
    answer: {
      status: 200,
      text: [
        `id: 7\nevent: created\ndata: {"events":[],"created":true,"progress":false,"partial":false,"revision":"7"}`,
        `id: 19\ndata: ${JSON.stringify({
          events: [
            {
              lockKey: "nightly",
              action: "ACQUIRED",
              owner: "worker-1",
              reason: "NORMAL",
              mode: "RW_MODE_UNSPECIFIED",
              fencingToken: "8",
              revision: "8",
              rw: false,
              permits: 0,
              value: "",
              valueText: "",
            },
            {
              lockKey: "nightly",
              action: "RELEASED",
              owner: "worker-1",
              reason: "NORMAL",
              mode: "RW_MODE_UNSPECIFIED",
              fencingToken: "8",
              revision: "10",
              rw: false,
              permits: 0,
              value: "",
              valueText: "",
            },
          ],
          created: false,
          progress: false,
          partial: false,
          revision: "19",
        })}`,
      ].join("\n\n"),
    },
  },
  {
    kind: "grpc",
    method: "WatchService/ListStreams",
    about: "No stream of the namespace is open at the member that answers.",
    request: { namespace: "default" },
    answers: [{ memberId: "1", revision: "19" }],
  },
];
