/**
 * Users, API keys and what they may do: records, and the one check that decides it.
 *
 * The check runs against whatever reader it is given: against the transaction in apply, where it is ordered with the
 * revocation that it must respect, and against the applied state for reads. Whatever a token claims is only an upper
 * bound; the user's record as it is now is intersected with it.
 */

import { invariant } from "../raft/index.ts";
import type { Principal } from "./command.ts";
import { CoordinationError } from "./coordination-error.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { apiKeyPrefixRow, apiKeyRow, emailRow, userRow } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** Each level includes the ones before it. */
export type Access = "read" | "write" | "admin";
export type Role = "viewer" | "member" | "admin" | "owner";
export type UserStatus = "unverified" | "active" | "disabled";

export interface User {
  readonly userId: string;
  /** As given at creation; looked up in lower case. */
  readonly email: string;
  readonly role: Role;
  /** Namespaces that the user may touch; "*" = all, also ones that do not exist yet. */
  readonly namespaces: readonly string[];
  readonly status: UserStatus;
  /** With algorithm and parameters; "" = no password is set. */
  readonly passwordHash: string;
  readonly createdAtMs: number;
}

export interface ApiKey {
  readonly apiKeyId: string;
  readonly userId: string;
  readonly name: string;
  /** The public part, by which the key is found: `qk_` and eight characters. */
  readonly prefix: string;
  /** SHA-256 of the whole plaintext key. */
  readonly sha256: Uint8Array;
  readonly createdAtMs: number;
  /** Wall clock in milliseconds; 0 = never. */
  readonly expiresAtMs: number;
  /** Wall clock in milliseconds; 0 = not revoked. */
  readonly revokedAtMs: number;
}

const ROLES: readonly Role[] = ["viewer", "member", "admin", "owner"];
const STATUSES: readonly UserStatus[] = ["unverified", "active", "disabled"];
const LEVELS: readonly Access[] = ["read", "write", "admin"];
const ALL_NAMESPACES = "*";
const SHA256_BYTES = 32;

/** The access levels of a role, lowest first. */
export function roleAccess(role: Role): readonly Access[] {
  switch (role) {
    case "viewer":
      return LEVELS.slice(0, 1);
    case "member":
      return LEVELS.slice(0, 2);
    case "admin":
    case "owner":
      return LEVELS;
  }
}

/** Whether one of the granted levels is the needed one or above it. */
export function includesAccess(granted: readonly string[], needed: Access): boolean {
  return LEVELS.slice(LEVELS.indexOf(needed)).some((level) => granted.includes(level));
}

/** Whether the list holds the namespace itself or the wildcard. Never a match by part of a name (S40). */
export function includesNamespace(namespaces: readonly string[], namespace: string): boolean {
  return namespaces.includes(namespace) || namespaces.includes(ALL_NAMESPACES);
}

/** What a request needs: an access level, in a namespace or, with null, in none in particular. */
export interface Need {
  readonly access: Access;
  readonly namespace: string | null;
}

/**
 * Whether the principal may do this now, by the records that the reader shows. `wallMs` decides about expired keys.
 * Returns the refusal (TOKEN_REVOKED, TOKEN_EXPIRED, NAMESPACE_DENIED, ACCESS_DENIED), or null if it may.
 */
export function refusalOf(
  reader: StateReader,
  principal: Principal,
  need: Need | null,
  wallMs: number,
): CoordinationError | null {
  const user = readUser(reader, principal.subject);
  if (user === undefined || user.status !== "active") {
    return new CoordinationError("TOKEN_REVOKED", "the token's user no longer exists or is disabled");
  }
  if (principal.apiKeyId !== "") {
    const apiKey = readApiKey(reader, principal.apiKeyId);
    if (apiKey === undefined || apiKey.revokedAtMs !== 0 || apiKey.userId !== principal.subject) {
      return new CoordinationError("TOKEN_REVOKED", "the API key that the token was issued for is revoked");
    }
    if (apiKey.expiresAtMs !== 0 && apiKey.expiresAtMs <= wallMs) {
      return new CoordinationError("TOKEN_EXPIRED", "the API key that the token was issued for has expired");
    }
  }
  if (need === null) {
    return null;
  }
  if (need.namespace !== null && !includesNamespace(user.namespaces, need.namespace)) {
    return new CoordinationError("NAMESPACE_DENIED", "the user may not access the namespace of the request");
  }
  if (!includesAccess(roleAccess(user.role), need.access)) {
    return new CoordinationError("ACCESS_DENIED", `the user's role "${user.role}" does not give ${need.access} access`);
  }
  return null;
}

/** The user with this id. */
export function readUser(reader: StateReader, userId: string): User | undefined {
  const bytes = reader.get(userRow(userId));
  return bytes === undefined ? undefined : decodeUser(bytes);
}

/** The user with this e-mail address, in any case. */
export function readUserByEmail(reader: StateReader, email: string): User | undefined {
  const bytes = reader.get(emailRow(email.toLowerCase()));
  if (bytes === undefined) {
    return undefined;
  }
  return readUser(reader, new RecordReader(bytes).text());
}

/** The API key with this id. */
export function readApiKey(reader: StateReader, apiKeyId: string): ApiKey | undefined {
  const bytes = reader.get(apiKeyRow(apiKeyId));
  return bytes === undefined ? undefined : decodeApiKey(bytes);
}

/** The API key with this public part. */
export function readApiKeyByPrefix(reader: StateReader, prefix: string): ApiKey | undefined {
  const bytes = reader.get(apiKeyPrefixRow(prefix));
  return bytes === undefined ? undefined : readApiKey(reader, new RecordReader(bytes).text());
}

/** Writes the user and the row by which the address finds it. */
export function writeUser(transaction: Transaction, user: User): void {
  const writer = new RecordWriter().text(user.userId).text(user.email).uint8(ROLES.indexOf(user.role));
  writer.uint32(user.namespaces.length);
  for (const namespace of user.namespaces) {
    writer.text(namespace);
  }
  writer.uint8(STATUSES.indexOf(user.status)).text(user.passwordHash).uint53(user.createdAtMs);
  transaction.put(userRow(user.userId), writer.finish());
  transaction.put(emailRow(user.email.toLowerCase()), new RecordWriter().text(user.userId).finish());
}

/** Writes the API key and the row by which its public part finds it. */
export function writeApiKey(transaction: Transaction, apiKey: ApiKey): void {
  const writer = new RecordWriter().text(apiKey.apiKeyId).text(apiKey.userId).text(apiKey.name).text(apiKey.prefix);
  writer
    .fixed(apiKey.sha256, SHA256_BYTES)
    .uint53(apiKey.createdAtMs)
    .uint53(apiKey.expiresAtMs)
    .uint53(apiKey.revokedAtMs);
  transaction.put(apiKeyRow(apiKey.apiKeyId), writer.finish());
  transaction.put(apiKeyPrefixRow(apiKey.prefix), new RecordWriter().text(apiKey.apiKeyId).finish());
}

function decodeUser(bytes: Uint8Array): User {
  const reader = new RecordReader(bytes);
  const userId = reader.text();
  const email = reader.text();
  const role = ROLES[reader.uint8()];
  invariant(role !== undefined, "users have a known role");
  const namespaces: string[] = [];
  for (let left = reader.uint32(); left > 0; left--) {
    namespaces.push(reader.text());
  }
  const status = STATUSES[reader.uint8()];
  invariant(status !== undefined, "users have a known status");
  const user = { userId, email, role, namespaces, status, passwordHash: reader.text(), createdAtMs: reader.uint53() };
  reader.end();
  return user;
}

function decodeApiKey(bytes: Uint8Array): ApiKey {
  const reader = new RecordReader(bytes);
  const apiKey = {
    apiKeyId: reader.text(),
    userId: reader.text(),
    name: reader.text(),
    prefix: reader.text(),
    sha256: reader.fixed(SHA256_BYTES),
    createdAtMs: reader.uint53(),
    expiresAtMs: reader.uint53(),
    revokedAtMs: reader.uint53(),
  };
  reader.end();
  return apiKey;
}
