/**
 * API keys: creation and revocation. A revocation is final and takes effect with its entry: every member checks later
 * entries against it.
 */

import {
  API_KEYS_PER_USER_MAX,
  type ApiKey,
  type ApplyContext,
  CoordinationError,
  count,
  fixedBytes,
  operationWithOptionalId,
  type Principal,
  text,
  userApiKeysMaxOf,
  userFull,
} from "../core/index.ts";
import type { CreateApiKey, CreateApiKeyResult, RevokeApiKey, RevokeApiKeyResult } from "./account-commands.ts";
import {
  apiKeyInAnswer,
  apiKeysOf,
  countApiKeysOf,
  managedUsers,
  readApiKey,
  readApiKeyByPrefix,
  removeApiKey,
  SHA256_BYTES,
  writeApiKey,
} from "./principals.ts";

/** The last use of a key is written at most this often, in milliseconds of wall clock. */
const USE_NOTED_MS = 60_000;

export const createApiKeyOperation = operationWithOptionalId<CreateApiKey, CreateApiKeyResult>({
  kind: "create-api-key",
  number: 60,
  grows: true,
  fields: { apiKeyId: text, name: text, prefix: text, sha256: fixedBytes(SHA256_BYTES), lifetimeMs: count },
  accesses: () => [{ access: "write", namespace: null }],
  asked: (operation) => ({ ...operation, apiKeyId: "", prefix: "", sha256: new Uint8Array(SHA256_BYTES) }),
  answer: { number: 63, fields: { apiKey: apiKeyInAnswer } },
  apply: applyCreateApiKey,
});

export const revokeApiKeyOperation = operationWithOptionalId<RevokeApiKey, RevokeApiKeyResult>({
  kind: "revoke-api-key",
  number: 61,
  fields: { apiKeyId: text },
  accesses: () => [null],
  answer: { number: 64, fields: { apiKeyId: text, revokedAtMs: count } },
  apply: applyRevokeApiKey,
});

/**
 * The key acts for the calling user, with that user's current rights. Raises QUOTA, and OVERLOADED if the caller must
 * try again with a new id.
 */
function applyCreateApiKey(context: ApplyContext, command: CreateApiKey, { subject }: Principal): CreateApiKeyResult {
  const { transaction, wallMs } = context;
  const { apiKeyId, name, prefix, sha256, lifetimeMs } = command;
  if (readApiKey(transaction, apiKeyId) !== undefined || readApiKeyByPrefix(transaction, prefix) !== undefined) {
    throw new CoordinationError("OVERLOADED", "the id that was drawn for the new key is taken; try again");
  }
  ensureApiKeyCapacity(context, subject);
  const apiKey: ApiKey = {
    apiKeyId,
    userId: subject,
    name,
    prefix,
    sha256,
    createdAtMs: wallMs,
    expiresAtMs: lifetimeMs === 0 ? 0 : wallMs + lifetimeMs,
    revokedAtMs: 0,
    lastUsedAtMs: 0,
  };
  writeApiKey(transaction, apiKey);
  return { kind: "create-api-key", apiKey, revision: context.revision };
}

/**
 * A repeated revocation gets the same answer. Raises API_KEY_NOT_FOUND, also for a key of a user whom the principal may
 * not manage (S43).
 */
function applyRevokeApiKey(
  context: ApplyContext,
  { apiKeyId }: RevokeApiKey,
  { subject }: Principal,
): RevokeApiKeyResult {
  const { transaction, wallMs } = context;
  const apiKey = readApiKey(transaction, apiKeyId);
  if (apiKey === undefined || !managedUsers(transaction, subject)(apiKey.userId)) {
    throw apiKeyNotFound();
  }
  const revokedAtMs = apiKey.revokedAtMs === 0 ? wallMs : apiKey.revokedAtMs;
  if (apiKey.revokedAtMs === 0) {
    writeApiKey(transaction, { ...apiKey, revokedAtMs });
  }
  return { kind: "revoke-api-key", apiKeyId, revokedAtMs, revision: context.revision };
}

export function apiKeyNotFound(): CoordinationError {
  return new CoordinationError("API_KEY_NOT_FOUND", "there is no API key with this id that you may revoke");
}

/** Records that the API key was used, unless a use was recorded within the last minute. */
export function noteApiKeyUse({ transaction, wallMs }: ApplyContext, apiKeyId: string): void {
  const apiKey = readApiKey(transaction, apiKeyId);
  if (apiKey !== undefined && wallMs - apiKey.lastUsedAtMs >= USE_NOTED_MS) {
    writeApiKey(transaction, { ...apiKey, lastUsedAtMs: wallMs });
  }
}

/**
 * Raises QUOTA if the user has as many live keys as a user may have. Revoked and expired keys do not count. If the user
 * has as many stored keys as possible, deletes the oldest key that does not count.
 */
export function ensureApiKeyCapacity({ transaction, wallMs, limits }: ApplyContext, userId: string): void {
  const stored = countApiKeysOf(transaction, userId);
  const limit = userApiKeysMaxOf(transaction, limits.userApiKeysMax);
  if (stored < limit) {
    return;
  }
  const apiKeys = apiKeysOf(transaction, userId);
  const ended = apiKeys.filter(({ revokedAtMs, expiresAtMs }) => {
    return revokedAtMs !== 0 || (expiresAtMs !== 0 && expiresAtMs <= wallMs);
  });
  const live = apiKeys.length - ended.length;
  if (live >= limit) {
    throw userFull(userId, limit, live);
  }
  if (stored >= API_KEYS_PER_USER_MAX) {
    removeApiKey(transaction, ended[0] as ApiKey);
  }
}
