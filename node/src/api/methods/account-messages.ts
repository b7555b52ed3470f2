/** Accounts in the form of the HTTP contract: never a hash, and times in ISO 8601. */

import type { ApiKeyBody, CreatedApiKeyBody, LoginBody, UserBody } from "@quoin/proto";
import type { IssuedToken } from "../../access/index.ts";
import type { ApiKey, User } from "../../state/index.ts";
import { timestamp } from "./timestamp.ts";

export function apiKeyBody(apiKey: ApiKey): ApiKeyBody {
  return {
    api_key_id: apiKey.apiKeyId,
    name: apiKey.name,
    key_prefix: apiKey.prefix,
    created_at: timestamp(apiKey.createdAtMs),
    expires_at: optionalTimestamp(apiKey.expiresAtMs),
    last_used_at: optionalTimestamp(apiKey.lastUsedAtMs),
    revoked_at: optionalTimestamp(apiKey.revokedAtMs),
  };
}

export function createdApiKeyBody(apiKey: ApiKey, key: string): CreatedApiKeyBody {
  return {
    api_key_id: apiKey.apiKeyId,
    name: apiKey.name,
    key,
    created_at: timestamp(apiKey.createdAtMs),
    expires_at: optionalTimestamp(apiKey.expiresAtMs),
  };
}

export function userBody(user: User): UserBody {
  const { userId, email, role, namespaces, status, createdAtMs } = user;
  return { user_id: userId, email, role, namespaces, status, created_at: timestamp(createdAtMs) };
}

export function loginBody({ accessToken, expiresInSecs }: IssuedToken, user: User): LoginBody {
  const { user_id, email, role, namespaces } = userBody(user);
  return {
    access_token: accessToken,
    expires_in: expiresInSecs,
    token_type: "Bearer",
    user: { user_id, email, role, namespaces },
  };
}

/** Null for 0, which means never. */
function optionalTimestamp(wallMs: number): string | null {
  return wallMs === 0 ? null : timestamp(wallMs);
}
