/** Tokens, users, API keys and usage over gRPC. */

import type { Example, JsonObject } from "./example.ts";

const OWNER: JsonObject = {
  userId: "cbf816ea-56f5-4410-a162-189526f00a62",
  email: "owner@example.com",
  role: "OWNER",
  namespaces: ["*"],
  status: "ACTIVE",
  createdAtMs: "1795719579821",
};
const USER = "5a1f3c66-0b8e-4f0d-9c61-2d4d1f7e8a10";
const KEY = "9be1a7f4-3d52-4c0b-8f5e-6f1a0c2d3e4f";

function user(changes: JsonObject): JsonObject {
  return {
    userId: USER,
    email: "ben@example.com",
    role: "MEMBER",
    namespaces: ["shop"],
    status: "ACTIVE",
    createdAtMs: "1795719588088",
    ...changes,
  };
}

export const ACCOUNT_SERVICE: readonly Example[] = [
  {
    kind: "grpc",
    method: "AccountService/Login",
    about: "It needs no token.",
    request: { email: "owner@example.com", password: "a long password" },
    answers: [{ accessToken: "eyJhbGciOiJH….eyJpc3MiOiJz….C7hYKpJ69fFY…", expiresInSeconds: "3600", user: OWNER }],
  },
  {
    kind: "grpc",
    method: "AccountService/CreateApiKey",
    request: { name: "weekly report", expiresInDays: "90" },
    answers: [
      {
        apiKey: {
          apiKeyId: KEY,
          name: "weekly report",
          keyPrefix: "qk_4Vn2RkTs",
          userId: "cbf816ea-56f5-4410-a162-189526f00a62",
          createdAtMs: "1795719588026",
          expiresAtMs: "1803495588026",
        },
        key: "qk_4Vn2RkTs_Zk3Qw8yTn5bVx1LmPfHd7RsJc2GaUe9oXtBiKq4Mz6w",
        revision: "19",
      },
    ],
  },
  {
    kind: "grpc",
    method: "AccountService/ExchangeToken",
    about: "It needs no token.",
    request: { apiKey: "qk_4Vn2RkTs_Zk3Qw8yTn5bVx1LmPfHd7RsJc2GaUe9oXtBiKq4Mz6w", expiresInSeconds: "600" },
    answers: [{ accessToken: "eyJhbGciOiJG….eyJpc3MiOiJy….B9lZNoJ58eEX…", expiresInSeconds: "600" }],
  },
  {
    kind: "grpc",
    method: "AccountService/ExchangeToken",
    about: "Every key that gives no token gets this answer.",
    request: { apiKey: "qk_8Pnrukrs_nj4l62VavB1LXMuoW29FNH3C5WBacA89lJL9jElHH0w" },
    answers: [],
    refusal: { code: "UNAUTHENTICATED", reason: "INVALID_API_KEY", message: "the API key is not valid" },
  },
  {
    kind: "grpc",
    method: "AccountService/ListApiKeys",
    request: { pageSize: 10 },
    answers: [
      {
        keys: [
          {
            apiKeyId: "3fd4e05d-5d99-4ff2-90d7-0ebe135cb91d",
            name: "owner",
            keyPrefix: "qk_4hT9wQzL",
            userId: "cbf816ea-56f5-4410-a162-189526f00a62",
            createdAtMs: "1795719579821",
            lastUsedAtMs: "1795719583685",
          },
          {
            apiKeyId: KEY,
            name: "weekly report",
            keyPrefix: "qk_4Vn2RkTs",
            userId: "cbf816ea-56f5-4410-a162-189526f00a62",
            createdAtMs: "1795719588026",
            expiresAtMs: "1803495588026",
          },
        ],
        revision: "19",
      },
    ],
    isPart: true,
    isRepeated: true,
  },
  {
    kind: "grpc",
    method: "AccountService/RevokeApiKey",
    request: { apiKeyId: KEY },
    answers: [{ revokedAtMs: "1795719588071", revision: "19" }],
  },
  {
    kind: "grpc",
    method: "AccountService/CreateUser",
    request: { email: "ben@example.com", role: "MEMBER", namespaces: ["shop"] },
    answers: [{ user: user({ status: "UNVERIFIED" }), revision: "19" }],
  },
  {
    kind: "grpc",
    method: "AccountService/VerifyEmail",
    about: "It needs the token of a mail.",
    request: { token: `${USER}.mS0cXg1rVbq2yTz8LwEoJhNuP4kQd7Hf3iRtA9xKcYs`, password: "another long password" },
    answers: [{}],
  },
  {
    kind: "grpc",
    method: "AccountService/RequestPasswordReset",
    about: "Every address gets this answer.",
    request: { email: "ben@example.com" },
    answers: [{}],
  },
  {
    kind: "grpc",
    method: "AccountService/GetUser",
    request: { userId: USER },
    answers: [{ user: user({}), revision: "19" }],
  },
  {
    kind: "grpc",
    method: "AccountService/UpdateUser",
    request: { userId: USER, role: "VIEWER", status: "DISABLED" },
    answers: [{ user: user({ role: "VIEWER", status: "DISABLED" }), revision: "19" }],
  },
  {
    kind: "grpc",
    method: "AccountService/DeleteUser",
    request: { userId: USER },
    answers: [{ revision: "19" }],
  },
  {
    kind: "grpc",
    method: "AccountService/ListUsers",
    request: { pageSize: 10 },
    answers: [{ users: [OWNER], revision: "19" }],
  },
  {
    kind: "grpc",
    method: "AccountService/GetUsage",
    request: { granularity: "DAY" },
    answers: [
      {
        startMs: "1793491200000",
        endMs: "1795719589935",
        totals: { requests: "27", kvOperations: "8" },
        asOfMs: "1795719589935",
        revision: "19",
      },
    ],
    isPart: true,
  },
];
