/** Keys and values. They need the access token of the founding. */

import type { Example } from "./example.ts";

export const KEY_VALUE: readonly Example[] = [
  {
    kind: "grpc",
    method: "KeyValueService/CreateNamespace",
    request: { namespace: "shop" },
    answers: [{ namespace: "shop", createdAtMs: "1795719582815", revision: "2" }],
  },
  {
    kind: "grpc",
    method: "KeyValueService/ListNamespaces",
    about: "Without `namesOnly`, the answer also shows what each namespace uses of its quotas.",
    request: { prefix: "sh", namesOnly: true },
    answers: [{ namespaces: [{ name: "shop" }], revision: "2" }],
  },
  {
    kind: "grpc",
    method: "KeyValueService/PutKey",
    about: "The value is `hello` in base64.",
    request: { namespace: "shop", key: "greeting", value: "aGVsbG8=" },
    answers: [{ modRevision: "3", created: true, revision: "3" }],
  },
  {
    kind: "grpc",
    method: "KeyValueService/GetKey",
    request: { namespace: "shop", key: "greeting" },
    answers: [
      {
        value: "aGVsbG8=",
        createRevision: "3",
        modRevision: "3",
        version: "1",
        revision: "3",
      },
    ],
  },
  {
    kind: "grpc",
    method: "KeyValueService/CompareAndSwap",
    request: {
      namespace: "shop",
      key: "greeting",
      expectedValue: "aGVsbG8=",
      newValue: "Z29vZGJ5ZQ==",
    },
    answers: [
      {
        success: true,
        currentExists: true,
        currentValue: "Z29vZGJ5ZQ==",
        modRevision: "4",
        revision: "4",
      },
    ],
  },
  {
    kind: "grpc",
    method: "KeyValueService/CompareAndSwap",
    about: "The value is no longer `hello`: the call changes nothing, and the answer has no `success`.",
    request: {
      namespace: "shop",
      key: "greeting",
      expectedValue: "aGVsbG8=",
      newValue: "Z29vZCBuaWdodA==",
    },
    answers: [
      {
        currentExists: true,
        currentValue: "Z29vZGJ5ZQ==",
        modRevision: "4",
        revision: "4",
      },
    ],
  },
  {
    kind: "grpc",
    method: "KeyValueService/ListKeyVersions",
    request: { namespace: "shop", key: "greeting" },
    answers: [
      {
        versions: [
          {
            type: "PUT",
            kv: {
              key: "greeting",
              value: "Z29vZGJ5ZQ==",
              createRevision: "3",
              modRevision: "4",
              version: "2",
            },
            ageMs: "95",
          },
          {
            type: "PUT",
            kv: {
              key: "greeting",
              value: "aGVsbG8=",
              createRevision: "3",
              modRevision: "3",
              version: "1",
            },
            ageMs: "211",
          },
        ],
        revision: "4",
      },
    ],
  },
  {
    kind: "grpc",
    method: "KeyValueService/PutKey",
    about: "This key expires in an hour.",
    request: { namespace: "shop", key: "sessions/7", value: "YW5uYQ==", ttlSeconds: "3600" },
    answers: [{ modRevision: "5", created: true, revision: "5" }],
  },
  {
    kind: "grpc",
    method: "KeyValueService/TouchKey",
    about: "The key has two hours from now on. Its revision and that of the cluster stay.",
    request: { namespace: "shop", key: "sessions/7", ttlSeconds: "7200" },
    answers: [{ modRevision: "5", expiresInMs: "7200000", revision: "5" }],
  },
  {
    kind: "grpc",
    method: "KeyValueService/ListKeys",
    request: { namespace: "shop", pageSize: 1 },
    answers: [
      {
        items: [
          {
            key: "greeting",
            value: "Z29vZGJ5ZQ==",
            createRevision: "3",
            modRevision: "4",
            version: "2",
          },
        ],
        nextPageToken: "Ab_inBHmr8w5G07C2ulC7mVsA-f7l9ILa4UXNL3lnHT2Z3JlZXRpbmc",
        revision: "5",
      },
    ],
  },
  {
    kind: "grpc",
    method: "KeyValueService/DeleteKey",
    request: { namespace: "shop", key: "sessions/7", returnPrevious: true },
    answers: [
      {
        deleted: true,
        previous: {
          key: "sessions/7",
          value: "YW5uYQ==",
          createRevision: "5",
          modRevision: "5",
          version: "1",
          expiresInMs: "7199897",
        },
        revision: "6",
      },
    ],
  },
  {
    kind: "grpc",
    method: "KeyValueService/GetKey",
    about: "The key was deleted.",
    request: { namespace: "shop", key: "sessions/7" },
    answers: [],
    refusal: {
      code: "NOT_FOUND",
      reason: "KEY_NOT_FOUND",
      message: 'key "shop/sessions/7" does not exist',
    },
  },
];
