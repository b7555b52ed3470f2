/**
 * Commands about identity and settings, and their encoding.
 *
 * The proposing member makes all random and secret values in them. For secrets that other parties keep (API keys,
 * passwords, verification tokens) a command holds only the hash.
 */

import { invariant } from "../../primitives/index.ts";
import {
  type Principal,
  type PutSettings,
  type RecordReader,
  type RecordWriter,
  type RequestIdentity,
  type Role,
  readOptionalCount,
  type UserStatus,
  writeOptionalCount,
} from "../core/index.ts";
import { ROLES, SHA256_BYTES, STATUSES } from "./principals.ts";

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

/** Operations by HTTP, from a caller with a token. */
export type AccountOperation = CreateApiKey | RevokeApiKey | CreateUser | UpdateUser | DeleteUser;
/** Operations that members propose themselves: for a caller without a token, or for an administrator of the cluster. */
export type AccountClusterOperation =
  | VerifyUser
  | PutSettings
  | RotateSigningKey
  | ResetOwner
  | DropSigningKeys
  | ReportUse
  | PruneUsage;

export const ACCOUNT_KINDS = {
  "create-api-key": 60,
  "revoke-api-key": 61,
  "create-user": 62,
  "update-user": 63,
  "delete-user": 64,
} as const;
export const ACCOUNT_CLUSTER_KINDS = {
  "verify-user": 65,
  "report-use": 66,
  "put-settings": 67,
  "rotate-signing-key": 68,
  "drop-signing-keys": 69,
  "prune-usage": 70,
  "reset-owner": 71,
} as const;

const REQUEST_ID_BYTES = 16;

export function writeAccountOperation(
  writer: RecordWriter,
  operation: AccountOperation | AccountClusterOperation,
): void {
  switch (operation.kind) {
    case "create-api-key":
      writer.text(operation.apiKeyId).text(operation.name).text(operation.prefix);
      writer.fixed(operation.sha256, SHA256_BYTES).uint53(operation.lifetimeMs);
      return;
    case "revoke-api-key":
      writer.text(operation.apiKeyId);
      return;
    case "create-user":
      writer.text(operation.userId).text(operation.email).uint8(ROLES.indexOf(operation.role));
      writeTexts(writer, operation.namespaces);
      writer.text(operation.passwordHash).fixed(operation.tokenSha256, SHA256_BYTES).uint53(operation.tokenLifetimeMs);
      return;
    case "update-user":
      writeUpdate(writer, operation);
      return;
    case "delete-user":
      writer.text(operation.userId);
      return;
    case "verify-user":
      writer.text(operation.userId).fixed(operation.tokenSha256, SHA256_BYTES).text(operation.passwordHash);
      return;
    case "put-settings":
      writer.uint32(operation.values.length);
      for (const { name, value } of operation.values) {
        writer.text(name).text(value);
      }
      writer.uint53(operation.ifRevision).text(operation.subject);
      writeRequest(writer, operation.request);
      return;
    case "rotate-signing-key":
      writer.text(operation.kid).fixed(operation.publicKey, SIGNING_KEY_BYTES);
      writer.fixed(operation.privateKey, SIGNING_KEY_BYTES).text(operation.ifKid).text(operation.subject);
      writeRequest(writer, operation.request);
      return;
    case "reset-owner":
      writer.text(operation.userId).text(operation.email).text(operation.passwordHash);
      writer.boolean(operation.apiKey !== null);
      if (operation.apiKey !== null) {
        const { apiKeyId, prefix, sha256 } = operation.apiKey;
        writer.text(apiKeyId).text(prefix).fixed(sha256, SHA256_BYTES);
      }
      writer.text(operation.subject);
      writeRequest(writer, operation.request);
      return;
    case "drop-signing-keys":
      return;
    case "report-use":
      writer.uint32(operation.uses.length);
      for (const { principal, requests, kvOperations, lockOperations, memoryOperations } of operation.uses) {
        writer.text(principal.subject).text(principal.apiKeyId).uint53(requests);
        writer.uint53(kvOperations).uint53(lockOperations).uint53(memoryOperations);
      }
      return;
    case "prune-usage":
      writer.uint32(operation.countMax);
      return;
  }
}

export function readAccountOperation(kind: number, reader: RecordReader): AccountOperation {
  switch (kind) {
    case ACCOUNT_KINDS["create-api-key"]:
      return {
        kind: "create-api-key",
        apiKeyId: reader.text(),
        name: reader.text(),
        prefix: reader.text(),
        sha256: reader.fixed(SHA256_BYTES),
        lifetimeMs: reader.uint53(),
      };
    case ACCOUNT_KINDS["revoke-api-key"]:
      return { kind: "revoke-api-key", apiKeyId: reader.text() };
    case ACCOUNT_KINDS["create-user"]:
      return {
        kind: "create-user",
        userId: reader.text(),
        email: reader.text(),
        role: readRole(reader),
        namespaces: readTexts(reader),
        passwordHash: reader.text(),
        tokenSha256: reader.fixed(SHA256_BYTES),
        tokenLifetimeMs: reader.uint53(),
      };
    case ACCOUNT_KINDS["update-user"]:
      return {
        kind: "update-user",
        userId: reader.text(),
        role: reader.boolean() ? readRole(reader) : null,
        namespaces: reader.boolean() ? readTexts(reader) : null,
        status: reader.boolean() ? readStatus(reader) : null,
        passwordHash: reader.boolean() ? reader.text() : null,
        knownPasswordVersion: readOptionalCount(reader) ?? null,
      };
    case ACCOUNT_KINDS["delete-user"]:
      return { kind: "delete-user", userId: reader.text() };
    default:
      invariant(false, "commands have a known kind", () => String(kind));
  }
}

export function readAccountClusterOperation(kind: number, reader: RecordReader): AccountClusterOperation {
  switch (kind) {
    case ACCOUNT_CLUSTER_KINDS["verify-user"]:
      return {
        kind: "verify-user",
        userId: reader.text(),
        tokenSha256: reader.fixed(SHA256_BYTES),
        passwordHash: reader.text(),
      };
    case ACCOUNT_CLUSTER_KINDS["put-settings"]: {
      const values = [];
      for (let left = reader.uint32(); left > 0; left--) {
        values.push({ name: reader.text(), value: reader.text() });
      }
      const fields = { ifRevision: reader.uint53(), subject: reader.text() };
      return { kind: "put-settings", values, ...fields, request: readRequest(reader) };
    }
    case ACCOUNT_CLUSTER_KINDS["rotate-signing-key"]:
      return {
        kind: "rotate-signing-key",
        kid: reader.text(),
        publicKey: reader.fixed(SIGNING_KEY_BYTES),
        privateKey: reader.fixed(SIGNING_KEY_BYTES),
        ifKid: reader.text(),
        subject: reader.text(),
        request: readRequest(reader),
      };
    case ACCOUNT_CLUSTER_KINDS["reset-owner"]:
      return {
        kind: "reset-owner",
        userId: reader.text(),
        email: reader.text(),
        passwordHash: reader.text(),
        apiKey: reader.boolean()
          ? { apiKeyId: reader.text(), prefix: reader.text(), sha256: reader.fixed(SHA256_BYTES) }
          : null,
        subject: reader.text(),
        request: readRequest(reader),
      };
    case ACCOUNT_CLUSTER_KINDS["drop-signing-keys"]:
      return { kind: "drop-signing-keys" };
    case ACCOUNT_CLUSTER_KINDS["report-use"]: {
      const uses = [];
      for (let left = reader.uint32(); left > 0; left--) {
        uses.push({
          principal: { subject: reader.text(), apiKeyId: reader.text() },
          requests: reader.uint53(),
          kvOperations: reader.uint53(),
          lockOperations: reader.uint53(),
          memoryOperations: reader.uint53(),
        });
      }
      return { kind: "report-use", uses };
    }
    case ACCOUNT_CLUSTER_KINDS["prune-usage"]:
      return { kind: "prune-usage", countMax: reader.uint32() };
    default:
      invariant(false, "commands have a known kind", () => String(kind));
  }
}

function writeUpdate(writer: RecordWriter, command: UpdateUser): void {
  const { userId, role, namespaces, status, passwordHash, knownPasswordVersion } = command;
  writer.text(userId).boolean(role !== null);
  if (role !== null) {
    writer.uint8(ROLES.indexOf(role));
  }
  writer.boolean(namespaces !== null);
  if (namespaces !== null) {
    writeTexts(writer, namespaces);
  }
  writer.boolean(status !== null);
  if (status !== null) {
    writer.uint8(STATUSES.indexOf(status));
  }
  writer.boolean(passwordHash !== null);
  if (passwordHash !== null) {
    writer.text(passwordHash);
  }
  writeOptionalCount(writer, knownPasswordVersion ?? undefined);
}

function readRole(reader: RecordReader): Role {
  const role = ROLES[reader.uint8()];
  invariant(role !== undefined, "users have a known role");
  return role;
}

function readStatus(reader: RecordReader): Exclude<UserStatus, "unverified"> {
  const status = STATUSES[reader.uint8()];
  invariant(status === "active" || status === "disabled", "users become active or disabled");
  return status;
}

function writeTexts(writer: RecordWriter, texts: readonly string[]): void {
  writer.uint32(texts.length);
  for (const text of texts) {
    writer.text(text);
  }
}

function readTexts(reader: RecordReader): readonly string[] {
  const texts: string[] = [];
  for (let left = reader.uint32(); left > 0; left--) {
    texts.push(reader.text());
  }
  return texts;
}

function writeRequest(writer: RecordWriter, request: RequestIdentity | null): void {
  writer.boolean(request !== null);
  if (request !== null) {
    writer.fixed(request.requestId, REQUEST_ID_BYTES).fixed(request.payloadHash, SHA256_BYTES);
  }
}

function readRequest(reader: RecordReader): RequestIdentity | null {
  return reader.boolean()
    ? { requestId: reader.fixed(REQUEST_ID_BYTES), payloadHash: reader.fixed(SHA256_BYTES) }
    : null;
}
