/** The founding of a cluster on one member, and the first access token. */

import type { Example } from "./example.ts";

export const FOUNDING: readonly Example[] = [
  {
    kind: "grpc",
    method: "ClusterAdminService/GetStatus",
    port: "admin",
    about: "A member with a new data directory waits until a cluster is founded on it.",
    request: {},
    answers: [
      {
        status: {
          name: "q-0",
          state: "EMPTY",
          stateForMs: "253",
          dbSizeBytes: "8039",
          diskFreeBytes: "46576107520",
          version: "0.1.0",
          downgradeFloor: "0.1.0",
          uptimeMs: "254",
          incarnation: "daf59092ae0a0f9ec3e48c586d39ef4e",
          clockMs: "1795719247012",
        },
      },
    ],
  },
  {
    kind: "grpc",
    method: "ClusterAdminService/Bootstrap",
    port: "admin",
    request: {
      clusterId: "3f0c8a52-6d1e-4b9a-8f27-5c94e1b7d036",
      incarnation: "daf59092ae0a0f9ec3e48c586d39ef4e",
      owner: {
        email: "owner@example.com",
        password: "a long password",
        apiKey: "qk_4hT9wQzL_Jx2vB7nKcR5mYpE8sFdA3gUqWiO1lZtN6bXhVkCyM0D",
      },
    },
    answers: [{ memberId: "1" }],
  },
  {
    kind: "http",
    method: "POST",
    operation: "exchangeApiKey",
    target: "/auth/token",
    isAuthorized: false,
    json: { api_key: "qk_4hT9wQzL_Jx2vB7nKcR5mYpE8sFdA3gUqWiO1lZtN6bXhVkCyM0D" },
    answer: {
      status: 200,
      json: {
        access_token: "eyJhbGciOiJF….eyJpc3MiOiJx….t8IuqfqroWGR…",
        expires_in: 3600,
        token_type: "Bearer",
      },
    },
  },
];
