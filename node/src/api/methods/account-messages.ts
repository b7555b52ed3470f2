/** Accounts in the form of the HTTP contract: never a hash, and times in ISO 8601. */

import type { IssuedToken } from "../../access/index.ts";
import type { ApiKey, User } from "../../state/index.ts";
import { timestamp } from "./timestamp.ts";

/** An API key in a listing. */
export interface ListedApiKey {
  readonly api_key_id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

/** A new API key: the only answer that contains the key itself. */
export interface CreatedApiKey {
  readonly api_key_id: string;
  readonly name: string;
  readonly key: string;
  readonly created_at: string;
  readonly expires_at: string | null;
}

/** The answer to a login. */
export interface LoginBody {
  readonly access_token: string;
  readonly expires_in: number;
  readonly token_type: "Bearer";
  readonly user: Pick<UserMessage, "user_id" | "email" | "role" | "namespaces">;
}

export interface UserMessage {
  readonly user_id: string;
  readonly email: string;
  readonly role: string;
  readonly namespaces: readonly string[];
  readonly status: string;
  readonly created_at: string;
}

export function listedApiKey(apiKey: ApiKey): ListedApiKey {
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

export function createdApiKey(apiKey: ApiKey, key: string): CreatedApiKey {
  return {
    api_key_id: apiKey.apiKeyId,
    name: apiKey.name,
    key,
    created_at: timestamp(apiKey.createdAtMs),
    expires_at: optionalTimestamp(apiKey.expiresAtMs),
  };
}

export function userMessage(user: User): UserMessage {
  const { userId, email, role, namespaces, status, createdAtMs } = user;
  return { user_id: userId, email, role, namespaces, status, created_at: timestamp(createdAtMs) };
}

export function loginBody({ accessToken, expiresInSecs }: IssuedToken, user: User): LoginBody {
  const { user_id, email, role, namespaces } = userMessage(user);
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
