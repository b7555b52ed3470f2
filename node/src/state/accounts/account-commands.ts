/**
 * Commands about identity and settings.
 *
 * The proposing member makes all random and secret values in them. For secrets that other parties keep (API keys,
 * passwords, verification tokens) a command holds only the hash.
 */

import { invariant } from "../../primitives/index.ts";
import type { ApiKey, User } from "../core/index.ts";
import { type Field, oneOf, type Principal, type RequestIdentity, type Role } from "../core/index.ts";
import { ROLES, STATUSES } from "./principals.ts";

declare module "../core/results.ts" {
  interface StoredResults {
    readonly "create-user": UserResult;
    readonly "update-user": UserResult;
    readonly "verify-user": UserResult;
    readonly "delete-user": DeleteUserResult;
    readonly "create-api-key": CreateApiKeyResult;
    readonly "revoke-api-key": RevokeApiKeyResult;
    readonly "rotate-signing-key": RotateSigningKeyResult;
    readonly "reset-owner": ResetOwnerResult;
  }
}

/** A user was created, changed, or verified. */
export interface UserResult {
  readonly kind: "create-user" | "update-user" | "verify-user";
  readonly user: User;
  readonly revision: number;
}

export interface DeleteUserResult {
  readonly kind: "delete-user";
  readonly userId: string;
  readonly revision: number;
}

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

export interface RotateSigningKeyResult {
  readonly kind: "rotate-signing-key";
  /** Of the signing key after the command. */
  readonly kid: string;
  readonly revision: number;
}

export interface ResetOwnerResult {
  readonly kind: "reset-owner";
  readonly userId: string;
  /** Whether there was no user with the address. */
  readonly created: boolean;
  readonly revision: number;
}

export const SIGNING_KEY_BYTES = 32;

/** A new API key, which acts for the user who requests it. */
export interface CreateApiKey {
  readonly kind: "create-api-key";
  /** UUID in text form, new. */
  readonly apiKeyId: string;
  readonly name: string;
  /** `qk_` and eight characters, new. */
  readonly prefix: string;
  /** SHA-256 of the whole plaintext key. */
  readonly sha256: Uint8Array;
  /** Milliseconds of wall clock after which it expires; 0 = never. */
  readonly lifetimeMs: number;
}

export interface RevokeApiKey {
  readonly kind: "revoke-api-key";
  readonly apiKeyId: string;
}

/** A new user, who stays unverified until they confirm their mail address. */
export interface CreateUser {
  readonly kind: "create-user";
  /** UUID in text form, new. */
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly namespaces: readonly string[];
  /** "" = none yet: the verification sets it. */
  readonly passwordHash: string;
  /** SHA-256 of the token that is mailed to the address, and its lifetime in milliseconds of wall clock. */
  readonly tokenSha256: Uint8Array;
  readonly tokenLifetimeMs: number;
}

/** Changes the fields that are not null. */
export interface UpdateUser {
  readonly kind: "update-user";
  readonly userId: string;
  readonly role: Role | null;
  readonly namespaces: readonly string[] | null;
  /** Only for a verified user. */
  readonly status: "active" | "disabled" | null;
  readonly passwordHash: string | null;
  /** For one's own password: the password version that the caller has proven to know; null = no proof. */
  readonly knownPasswordVersion: number | null;
}

export interface DeleteUser {
  readonly kind: "delete-user";
  readonly userId: string;
}

/** The sender knows the token that was mailed to the user's address. */
export interface VerifyUser {
  readonly kind: "verify-user";
  readonly userId: string;
  readonly tokenSha256: Uint8Array;
  /** "" = the password stays as it is. */
  readonly passwordHash: string;
}

/** A new key, which signs tokens from now on. */
export interface RotateSigningKey {
  readonly kind: "rotate-signing-key";
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
  /** The key that must be the signing key now; "" = any. */
  readonly ifKid: string;
  /** The caller, under whom the answer is stored; "" = the cluster itself. */
  readonly subject: string;
  readonly request: RequestIdentity | null;
}

/** Lets the owner log in again: see owner-reset.ts. */
export interface ResetOwner {
  readonly kind: "reset-owner";
  /** UUID in text form, new: the id of the user that is created if no user has the address. */
  readonly userId: string;
  readonly email: string;
  readonly passwordHash: string;
  /** Null = the API keys do not change. */
  readonly apiKey: { readonly apiKeyId: string; readonly prefix: string; readonly sha256: Uint8Array } | null;
  /** The caller, under whom the answer is stored. */
  readonly subject: string;
  readonly request: RequestIdentity | null;
}

/** Drops the keys that have no valid token left. */
export interface DropSigningKeys {
  readonly kind: "drop-signing-keys";
}

/** Calls of one principal that left no entry, since the last report of the same member. */
export interface ReportedUse {
  readonly principal: Principal;
  readonly requests: number;
  readonly kvOperations: number;
  readonly lockOperations: number;
  readonly memoryOperations: number;
}

/**
 * A member reports the calls that it answered without an entry, and the API keys that were used. It reports each call
 * once.
 */
export interface ReportUse {
  readonly kind: "report-use";
  readonly uses: readonly ReportedUse[];
}

/** Drops usage rows beyond their retention, at most this many. */
export interface PruneUsage {
  readonly kind: "prune-usage";
  readonly countMax: number;
}

export const role = oneOf(ROLES, "users have a known role");
/** A status that a change can set. */
export const newStatus: Field<"active" | "disabled"> = {
  write: (writer, value) => void writer.uint8(STATUSES.indexOf(value)),
  read: (reader) => {
    const status = STATUSES[reader.uint8()];
    invariant(status === "active" || status === "disabled", "users become active or disabled");
    return status;
  },
};
