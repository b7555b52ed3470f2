/** Accounts in the form of the HTTP contract: never a hash, and times in ISO 8601. */

import type { ApiKeyBody, ApiKeysBody, CreatedApiKeyBody, LoginBody, UserBody, UsersBody } from "@quoin/proto";
import type { ApiKey, User } from "../../../state/index.ts";
import type { CreatedKey, ListedKeys, ListedUsers, LoggedIn } from "../../methods/index.ts";
import { timestamp } from "../answers/index.ts";
import { cursorBody } from "../requests/index.ts";

export function createdApiKeyBody({ apiKey, key }: CreatedKey): CreatedApiKeyBody {
  return {
    api_key_id: apiKey.apiKeyId,
    name: apiKey.name,
    key,
    created_at: timestamp(apiKey.createdAtMs),
    expires_at: optionalTimestamp(apiKey.expiresAtMs),
  };
}

export function apiKeysBody({ keys, nextPageToken }: ListedKeys): ApiKeysBody {
  return { keys: keys.map(apiKeyBody), next_cursor: cursorBody(nextPageToken) };
}

export function userBody(user: User): UserBody {
  const { userId, email, role, namespaces, status, createdAtMs } = user;
  return { user_id: userId, email, role, namespaces, status, created_at: timestamp(createdAtMs) };
}

export function usersBody({ users, nextPageToken }: ListedUsers): UsersBody {
  return { users: users.map(userBody), next_cursor: cursorBody(nextPageToken) };
}

export function loginBody({ issued, user }: LoggedIn): LoginBody {
  const { user_id, email, role, namespaces } = userBody(user);
  return {
    access_token: issued.accessToken,
    expires_in: issued.expiresInSecs,
    token_type: "Bearer",
    user: { user_id, email, role, namespaces },
  };
}

function apiKeyBody(apiKey: ApiKey): ApiKeyBody {
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

/** Null for 0, which means never. */
function optionalTimestamp(wallMs: number): string | null {
  return wallMs === 0 ? null : timestamp(wallMs);
}
