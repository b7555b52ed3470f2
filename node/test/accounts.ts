/** Commands about users and API keys, with defaults for the fields that a spec need not name. */

import type { ClientOperation } from "../src/state/index.ts";

type OperationOf<Kind> = Extract<ClientOperation, { readonly kind: Kind }>;

/** The SHA-256 of the verification token of every user that a spec creates. */
export const TOKEN_SHA256: Uint8Array = new Uint8Array(32).fill(0x77);
/** Lifetime of that token in milliseconds. */
export const TOKEN_LIFETIME_MS = 60_000;

export function createUser(
  userId: string,
  changes: Partial<OperationOf<"create-user">> = {},
): OperationOf<"create-user"> {
  return {
    kind: "create-user",
    userId,
    email: `${userId}@quoin.local`,
    role: "member",
    namespaces: ["default"],
    passwordHash: "scrypt$of-a-spec",
    tokenSha256: TOKEN_SHA256,
    tokenLifetimeMs: TOKEN_LIFETIME_MS,
    ...changes,
  };
}

export function updateUser(
  userId: string,
  changes: Partial<OperationOf<"update-user">> = {},
): OperationOf<"update-user"> {
  const unchanged = { role: null, namespaces: null, status: null, passwordHash: null, knownPasswordVersion: null };
  return { kind: "update-user", userId, ...unchanged, ...changes };
}

/** A key whose public part and hash follow from its id. */
export function createApiKey(apiKeyId: string, lifetimeMs = 0): OperationOf<"create-api-key"> {
  const prefix = `qk_${apiKeyId.padStart(8, "0").slice(-8)}`;
  const sha256 = new Uint8Array(32).fill(apiKeyId.length);
  return { kind: "create-api-key", apiKeyId, name: `key ${apiKeyId}`, prefix, sha256, lifetimeMs };
}
