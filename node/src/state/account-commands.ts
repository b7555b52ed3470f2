/**
 * Commands about identity and settings, and their encoding.
 *
 * Whatever is random or secret in them was made by the member that proposes them, and of secrets that others keep, API
 * keys, passwords and verification tokens, they hold only hashes.
 */

import { invariant } from "../raft/index.ts";
import type { Principal, RequestIdentity } from "./command.ts";
import { ROLES, type Role, SHA256_BYTES, STATUSES, type UserStatus } from "./principals.ts";
import { type RecordReader, type RecordWriter, readOptionalCount, writeOptionalCount } from "./record.ts";
import { SIGNING_KEY_BYTES } from "./signing-keys.ts";

/** A new API key, which acts as whoever asks for it. */
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

/** A new user, who is unverified until they answer a mail. */
export interface CreateUser {
  readonly kind: "create-user";
  /** UUID in text form, new. */
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly namespaces: readonly string[];
  /** "" = none: it is set with the verification. */
  readonly passwordHash: string;
  /** SHA-256 of the token that is sent to the address, and for how many milliseconds of wall clock it is good. */
  readonly tokenSha256: Uint8Array;
  readonly tokenLifetimeMs: number;
}

/** Changes what is given of a user, and leaves what is null. */
export interface UpdateUser {
  readonly kind: "update-user";
  readonly userId: string;
  readonly role: Role | null;
  readonly namespaces: readonly string[] | null;
  /** Of whoever was verified. */
  readonly status: "active" | "disabled" | null;
  readonly passwordHash: string | null;
  /** The version of the password that the caller has shown to know: for one's own password; null = none was shown. */
  readonly knownPasswordVersion: number | null;
}

export interface DeleteUser {
  readonly kind: "delete-user";
  readonly userId: string;
}

/** Whoever sends this knows the token that was sent to the user's address. */
export interface VerifyUser {
  readonly kind: "verify-user";
  readonly userId: string;
  readonly tokenSha256: Uint8Array;
  /** "" = it stays as it is. */
  readonly passwordHash: string;
}

/** Changes settings; an empty value takes a setting back to its default. */
export interface PutSettings {
  readonly kind: "put-settings";
  readonly values: readonly { readonly name: string; readonly value: string }[];
  /** The revision that the settings must have, 0 = any. */
  readonly ifRevision: number;
  /** Who asks, for the stored answer. */
  readonly subject: string;
  /** Makes a retry recognisable; null for a call without a request id. */
  readonly request: RequestIdentity | null;
}

/** A new key that signs tokens from now on. */
export interface RotateSigningKey {
  readonly kind: "rotate-signing-key";
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
  /** Only if this key signs until now; "" = whichever does. */
  readonly ifKid: string;
  /** Who asks, for the stored answer; "" = the cluster itself. */
  readonly subject: string;
  readonly request: RequestIdentity | null;
}

/** The owner can log in again: see owner-reset.ts. */
export interface ResetOwner {
  readonly kind: "reset-owner";
  /** UUID in text form, new: of the user, if there is none with the address. */
  readonly userId: string;
  readonly email: string;
  readonly passwordHash: string;
  /** Null = the API keys stay as they are. */
  readonly apiKey: { readonly apiKeyId: string; readonly prefix: string; readonly sha256: Uint8Array } | null;
  /** Who asks, for the stored answer. */
  readonly subject: string;
  readonly request: RequestIdentity | null;
}

/** Drops keys that no token can be signed with any more that is still good. */
export interface DropSigningKeys {
  readonly kind: "drop-signing-keys";
}

/** What one principal has asked for that left no entry, since the last report of the same member. */
export interface ReportedUse {
  readonly principal: Principal;
  readonly requests: number;
  readonly kvOperations: number;
  readonly lockOperations: number;
  readonly memoryOperations: number;
}

/** A member tells what it has answered without an entry, and which API keys were used. Nothing is told twice. */
export interface ReportUse {
  readonly kind: "report-use";
  readonly uses: readonly ReportedUse[];
}

/** Drops rows of usage that are older than they are kept, at most this many. */
export interface PruneUsage {
  readonly kind: "prune-usage";
  readonly countMax: number;
}

/** What is asked for by HTTP, by whoever has a token. */
export type AccountOperation = CreateApiKey | RevokeApiKey | CreateUser | UpdateUser | DeleteUser;
/** What members propose by themselves, for somebody who has no token, or for an administrator of the cluster. */
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
