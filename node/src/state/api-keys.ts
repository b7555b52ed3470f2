/**
 * API keys: how they come and how they end. Revoking is final, and counts from the entry that does it: every later one
 * is checked against it, on every member.
 */

import type { CreateApiKey, RevokeApiKey } from "./account-commands.ts";
import type { ApplyContext } from "./apply-context.ts";
import type { Principal } from "./command.ts";
import { CoordinationError } from "./coordination-error.ts";
import {
  API_KEYS_PER_USER_MAX,
  type ApiKey,
  apiKeysOf,
  countApiKeysOf,
  includesAccess,
  readApiKey,
  readApiKeyByPrefix,
  readUser,
  removeApiKey,
  roleAccess,
  writeApiKey,
} from "./principals.ts";

export interface CreateApiKeyResult {
  readonly kind: "create-api-key";
  readonly apiKey: ApiKey;
  readonly revision: number;
}

export interface RevokeApiKeyResult {
  readonly kind: "revoke-api-key";
  readonly apiKeyId: string;
  /** Of the first revocation. */
  readonly revokedAtMs: number;
  readonly revision: number;
}

/** The last use of a key is written at most that often, in milliseconds of wall clock. */
const USE_NOTED_MS = 60_000;

/** The key acts as whoever asks, with what they may do at any time. Raises QUOTA, and OVERLOADED if it is to be made anew. */
export function applyCreateApiKey(
  context: ApplyContext,
  { subject }: Principal,
  command: CreateApiKey,
): CreateApiKeyResult {
  const { transaction, wallMs } = context;
  const { apiKeyId, name, prefix, sha256, lifetimeMs } = command;
  if (readApiKey(transaction, apiKeyId) !== undefined || readApiKeyByPrefix(transaction, prefix) !== undefined) {
    throw new CoordinationError("OVERLOADED", "the id that was drawn for the new key is taken; try again");
  }
  makeRoom(context, subject);
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

/** Again it answers the same. Raises API_KEY_NOT_FOUND, also for somebody else's key unless an administrator asks (S43). */
export function applyRevokeApiKey(
  context: ApplyContext,
  { subject }: Principal,
  { apiKeyId }: RevokeApiKey,
): RevokeApiKeyResult {
  const { transaction, wallMs } = context;
  const apiKey = readApiKey(transaction, apiKeyId);
  const actor = readUser(transaction, subject);
  const isAdmin = actor !== undefined && includesAccess(roleAccess(actor.role), "admin");
  if (apiKey === undefined || (apiKey.userId !== subject && !isAdmin)) {
    throw new CoordinationError("API_KEY_NOT_FOUND", "you have no API key with this id");
  }
  const revokedAtMs = apiKey.revokedAtMs === 0 ? wallMs : apiKey.revokedAtMs;
  if (apiKey.revokedAtMs === 0) {
    writeApiKey(transaction, { ...apiKey, revokedAtMs });
  }
  return { kind: "revoke-api-key", apiKeyId, revokedAtMs, revision: context.revision };
}

/** Notes that the API key was used, unless that was noted within the last minute. */
export function noteApiKeyUse({ transaction, wallMs }: ApplyContext, apiKeyId: string): void {
  const apiKey = readApiKey(transaction, apiKeyId);
  if (apiKey !== undefined && wallMs - apiKey.lastUsedAtMs >= USE_NOTED_MS) {
    writeApiKey(transaction, { ...apiKey, lastUsedAtMs: wallMs });
  }
}

/** Of a user who has as many keys as there may be, the oldest one goes that is revoked or expired. */
function makeRoom({ transaction, wallMs }: ApplyContext, userId: string): void {
  if (countApiKeysOf(transaction, userId) < API_KEYS_PER_USER_MAX) {
    return;
  }
  const ended = apiKeysOf(transaction, userId).find(({ revokedAtMs, expiresAtMs }) => {
    return revokedAtMs !== 0 || (expiresAtMs !== 0 && expiresAtMs <= wallMs);
  });
  if (ended === undefined) {
    throw new CoordinationError("QUOTA", `a user has at most ${API_KEYS_PER_USER_MAX} API keys; revoke some first`);
  }
  removeApiKey(transaction, ended);
}
