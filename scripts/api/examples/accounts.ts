/** Logins, API keys, users and usage. */

import type { Example } from "./example.ts";

export const ACCOUNTS: readonly Example[] = [
  {
    kind: "http",
    method: "POST",
    operation: "logIn",
    target: "/auth/login",
    isAuthorized: false,
    json: { email: "owner@example.com", password: "a long password" },
    answer: {
      status: 200,
      json: {
        access_token: "eyJhbGciOiJF….eyJpc3MiOiJx….A8kZMnI47dDW…",
        expires_in: 3600,
        token_type: "Bearer",
        user: {
          user_id: "cbf816ea-56f5-4410-a162-189526f00a62",
          email: "owner@example.com",
          role: "owner",
          namespaces: ["*"],
        },
      },
    },
  },
  {
    kind: "http",
    method: "POST",
    operation: "createKey",
    target: "/keys",
    isAuthorized: true,
    json: { name: "nightly report", expires_in_days: 90 },
    answer: {
      status: 201,
      json: {
        api_key_id: "21eb9817-d676-45c1-a4f2-423c68754c6f",
        name: "nightly report",
        key: "qk_8Pnrukrs_nj4l62VavB1LXMuoW29FNH3C5WBacA89lJL9jElHH0w",
        created_at: "2026-11-26T18:59:48.026Z",
        expires_at: "2027-02-24T18:59:48.026Z",
      },
    },
  },
  {
    kind: "http",
    method: "DELETE",
    operation: "revokeKey",
    target: "/keys/21eb9817-d676-45c1-a4f2-423c68754c6f",
    isAuthorized: true,
    answer: {
      status: 200,
      json: {
        api_key_id: "21eb9817-d676-45c1-a4f2-423c68754c6f",
        revoked: true,
        revoked_at: "2026-11-26T18:59:48.071Z",
      },
    },
  },
  {
    kind: "http",
    method: "GET",
    operation: "listKeys",
    target: "/keys?limit=10",
    isAuthorized: true,
    answer: {
      status: 200,
      json: {
        keys: [
          {
            api_key_id: "3fd4e05d-5d99-4ff2-90d7-0ebe135cb91d",
            name: "owner",
            key_prefix: "qk_4hT9wQzL",
            created_at: "2026-11-26T18:59:39.821Z",
            expires_at: null,
            last_used_at: "2026-11-26T18:59:43.685Z",
            revoked_at: null,
          },
        ],
        next_cursor: null,
      },
    },
  },
  {
    kind: "http",
    method: "POST",
    operation: "createUser",
    target: "/users",
    isAuthorized: true,
    json: { email: "anna@example.com", role: "member", namespaces: ["shop"] },
    answer: {
      status: 201,
      json: {
        user_id: "b92aacc9-a67c-4295-b4ab-e8e75ed53d06",
        email: "anna@example.com",
        role: "member",
        namespaces: ["shop"],
        status: "unverified",
        created_at: "2026-11-26T18:59:48.088Z",
      },
    },
  },
  {
    kind: "http",
    method: "POST",
    operation: "verifyEmail",
    target: "/auth/verify",
    isAuthorized: false,
    json: {
      token: "b92aacc9-a67c-4295-b4ab-e8e75ed53d06.evcJH5EthXRUF0mxtJ-95dtnsEE3lvGItl5w2Bqo0no",
      password: "another long password",
    },
    answer: { status: 200, json: { verified: true } },
  },
  {
    kind: "http",
    method: "POST",
    operation: "requestPasswordReset",
    target: "/auth/reset",
    isAuthorized: false,
    json: { email: "anna@example.com" },
    answer: { status: 200, json: { requested: true } },
  },
  {
    kind: "http",
    method: "GET",
    operation: "getUser",
    target: "/users/b92aacc9-a67c-4295-b4ab-e8e75ed53d06",
    isAuthorized: true,
    answer: {
      status: 200,
      json: {
        user_id: "b92aacc9-a67c-4295-b4ab-e8e75ed53d06",
        email: "anna@example.com",
        role: "member",
        namespaces: ["shop"],
        status: "active",
        created_at: "2026-11-26T18:59:48.088Z",
      },
    },
  },
  {
    kind: "http",
    method: "PATCH",
    operation: "updateUser",
    target: "/users/b92aacc9-a67c-4295-b4ab-e8e75ed53d06",
    isAuthorized: true,
    json: { role: "viewer" },
    answer: {
      status: 200,
      json: {
        user_id: "b92aacc9-a67c-4295-b4ab-e8e75ed53d06",
        email: "anna@example.com",
        role: "viewer",
        namespaces: ["shop"],
        status: "active",
        created_at: "2026-11-26T18:59:48.088Z",
      },
    },
  },
  {
    kind: "http",
    method: "DELETE",
    operation: "deleteUser",
    target: "/users/b92aacc9-a67c-4295-b4ab-e8e75ed53d06",
    isAuthorized: true,
    answer: {
      status: 200,
      json: { user_id: "b92aacc9-a67c-4295-b4ab-e8e75ed53d06", deleted: true },
    },
  },
  {
    kind: "http",
    method: "GET",
    operation: "listUsers",
    target: "/users?limit=10",
    isAuthorized: true,
    answer: {
      status: 200,
      json: {
        users: [
          {
            user_id: "cbf816ea-56f5-4410-a162-189526f00a62",
            email: "owner@example.com",
            role: "owner",
            namespaces: ["*"],
            status: "active",
            created_at: "2026-11-26T18:59:39.821Z",
          },
        ],
        next_cursor: null,
      },
    },
  },
  {
    kind: "http",
    method: "GET",
    operation: "getUsage",
    target: "/billing/usage?granularity=day",
    isAuthorized: true,
    answer: {
      status: 200,
      json: {
        period: { start: "2026-11-01T00:00:00.000Z", end: "2026-11-26T18:59:49.935Z" },
        totals: {
          requests: 27,
          append_requests: 0,
          events_appended: 0,
          bytes_appended: 0,
          bytes_stored: 3849,
          kv_operations: 8,
          lock_operations: 9,
          memory_operations: 4,
          memory_bytes: 0,
        },
        limits: { requests_per_minute: 0 },
        as_of: "2026-11-26T18:59:49.935Z",
      },
      isPart: true,
    },
  },
  {
    kind: "http",
    method: "GET",
    operation: "getPublicKeys",
    target: "/.well-known/jwks.json",
    isAuthorized: false,
    answer: {
      status: 200,
      json: {
        keys: [
          {
            kty: "OKP",
            crv: "Ed25519",
            x: "DOn-EmdyRWXvhJ_w761dghVlVWKN33EjJq6DY8ApTwY",
            kid: "Xoko8JvmXLl_OMYakDLswwTZGXeQgJTDRUxt3sRO8T0",
            use: "sig",
            alg: "EdDSA",
          },
          {
            kty: "OKP",
            crv: "Ed25519",
            x: "WvCyW7gfKitF5UgRBiBPyKE8PWJXEa-GRKNOvYWPdFw",
            kid: "_1Yzk-b5rp194qHDc8D1JAxnXXc8O7cBPFbD3NG4Hak",
            use: "sig",
            alg: "EdDSA",
          },
        ],
      },
    },
  },
];
