/** A session with a key, its renewal and its end. */

import type { Example } from "./example.ts";

const SESSION = {
  sessionId: "22",
  owner: "web-1",
  subject: "cbf816ea-56f5-4410-a162-189526f00a62",
  metadata: "cmFjayA3",
  ttlSeconds: "10",
  expiresInMs: "9912",
  createdAtMs: "1795719583361",
  objects: "1",
};

export const SESSIONS: readonly Example[] = [
  {
    kind: "grpc",
    method: "SessionService/CreateSession",
    about: "The metadata is `rack 7`.",
    request: { namespace: "shop", ttlSeconds: "10", owner: "web-1", metadata: "cmFjayA3" },
    answers: [{ sessionId: "22", expiresInMs: "10000", revision: "22" }],
  },
  {
    kind: "grpc",
    method: "KeyValueService/PutKey",
    about: "The key ends with the session.",
    request: { namespace: "shop", key: "services/web/1", value: "MTAuMC4wLjE=", sessionId: "22" },
    answers: [{ modRevision: "23", created: true, revision: "23" }],
  },
  {
    kind: "grpc",
    method: "KeyValueService/PutKey",
    about: "There is no such session.",
    request: { namespace: "shop", key: "services/web/2", value: "MTAuMC4wLjI=", sessionId: "3" },
    answers: [],
    refusal: {
      code: "NOT_FOUND",
      reason: "SESSION_NOT_FOUND",
      message: 'namespace "shop" has no session 3; it has ended, or there was none',
    },
  },
  {
    kind: "grpc",
    method: "SessionService/RenewSessions",
    about: "The second session has ended.",
    request: { namespace: "shop", sessions: [{ sessionId: "22" }, { sessionId: "21" }] },
    answers: [{ sessions: [{ sessionId: "22", expiresInMs: "10000" }, { sessionId: "21" }], revision: "23" }],
  },
  {
    kind: "grpc",
    method: "SessionService/DescribeSession",
    request: { namespace: "shop", sessionId: "22" },
    answers: [{ session: SESSION, keys: ["services/web/1"], revision: "23" }],
  },
  {
    kind: "grpc",
    method: "SessionService/ListSessions",
    request: { namespace: "shop" },
    answers: [{ items: [SESSION], revision: "23" }],
  },
  {
    kind: "grpc",
    method: "SessionService/EndSession",
    request: { namespace: "shop", sessionId: "22" },
    answers: [{ endedObjects: "1", revision: "24" }],
  },
];
