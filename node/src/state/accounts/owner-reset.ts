/**
 * Restores access to a cluster whose owner can no longer log in: an administrator of its machines names the owner
 * again.
 *
 * The user with the address becomes an active owner with the new password, whatever it was before. If there is no such
 * user, it is created. Its logins end. Everything else of the user stays, API keys included. A repetition leaves the
 * same owner.
 */

import { equalBytes } from "../../bytes/index.ts";
import {
  type ApiKey,
  type ApplyContext,
  badField,
  clusterOperation,
  fixedBytes,
  flag,
  nullable,
  optionalRequest,
  recordOf,
  text,
  type User,
  verificationRow,
} from "../core/index.ts";
import type { ResetOwner, ResetOwnerResult } from "./account-commands.ts";
import { ensureApiKeyCapacity } from "./api-keys.ts";
import { readApiKeyByPrefix, readUserByEmail, SHA256_BYTES, writeApiKey, writeUser } from "./principals.ts";

const API_KEY_NAME = "owner";

export const resetOwnerOperation = clusterOperation<ResetOwner, ResetOwnerResult>({
  kind: "reset-owner",
  number: 71,
  fields: {
    userId: text,
    email: text,
    passwordHash: text,
    apiKey: nullable(recordOf({ apiKeyId: text, prefix: text, sha256: fixedBytes(SHA256_BYTES) })),
    subject: text,
    request: optionalRequest,
  },
  answer: { number: 62, fields: { userId: text, created: flag } },
  apply: applyResetOwner,
});

/** Raises BAD_FIELD if the API key cannot become the user's, and QUOTA if the user has too many. */
function applyResetOwner(context: ApplyContext, command: ResetOwner): ResetOwnerResult {
  const { transaction, wallMs } = context;
  const before = readUserByEmail(transaction, command.email);
  const user: User = {
    userId: before?.userId ?? command.userId,
    email: before?.email ?? command.email,
    role: "owner",
    namespaces: ["*"],
    status: "active",
    passwordHash: command.passwordHash,
    // The user's logins end, as with every new password.
    passwordVersion: before === undefined ? 0 : before.passwordVersion + 1,
    createdAtMs: before?.createdAtMs ?? wallMs,
  };
  const apiKey = newApiKey(context, user, command);
  writeUser(transaction, user);
  transaction.delete(verificationRow(user.userId));
  if (apiKey !== null) {
    writeApiKey(transaction, apiKey);
  }
  return { kind: "reset-owner", userId: user.userId, created: before === undefined, revision: context.revision };
}

/** @returns null if none is requested, or if the user already has it */
function newApiKey(context: ApplyContext, { userId }: User, { apiKey }: ResetOwner): ApiKey | null {
  if (apiKey === null) {
    return null;
  }
  const { transaction, wallMs } = context;
  const present = readApiKeyByPrefix(transaction, apiKey.prefix);
  if (present !== undefined) {
    const isSame = present.userId === userId && equalBytes(present.sha256, apiKey.sha256);
    if (!isSame || present.revokedAtMs !== 0 || (present.expiresAtMs !== 0 && present.expiresAtMs <= wallMs)) {
      throw badField("owner.api_key", "was revoked or belongs to another user");
    }
    return null;
  }
  ensureApiKeyCapacity(context, userId);
  return {
    ...apiKey,
    userId,
    name: API_KEY_NAME,
    createdAtMs: wallMs,
    expiresAtMs: 0,
    revokedAtMs: 0,
    lastUsedAtMs: 0,
  };
}
