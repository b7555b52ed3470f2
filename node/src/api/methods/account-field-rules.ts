/**
 * Field rules of requests about accounts; `field-rules.ts` has the rules of the other requests. Each function checks
 * one field and returns it in the form that commands use, or raises BAD_FIELD with the field's name.
 */

import { ALL_NAMESPACES, badRequestField, NAMESPACE_PATTERN, type Role } from "../../state/index.ts";

/** Characters of the name of an API key, counted as code points. */
const KEY_NAME_CHARACTERS_MAX = 128;
const EXPIRES_IN_DAYS_MAX = 3_650;
const MS_PER_DAY = 86_400_000;
/**
 * Namespaces of one user, and their bytes in a token. A token names them all, and request headers have at most 16 KiB.
 */
const NAMESPACES_MAX = 1_000;
const NAMESPACES_BYTES_MAX = 8 * 1024;
/** Two quotes and a comma. */
const BYTES_AROUND_NAME = 3;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ROLES: ReadonlySet<string> = new Set<Role>(["viewer", "member", "admin", "owner"]);

/** The name of an API key, for people. */
export function keyNameField(name: string): string {
  const { length } = [...name];
  if (!name.isWellFormed() || length < 1 || length > KEY_NAME_CHARACTERS_MAX) {
    throw badRequestField("name", `must have 1 to ${KEY_NAME_CHARACTERS_MAX} characters`, KEY_NAME_CHARACTERS_MAX);
  }
  return name;
}

/** Milliseconds until an API key expires; 0 = it does not expire. */
export function keyLifetimeField(expiresInDays: bigint): number {
  if (expiresInDays < 0n || expiresInDays > EXPIRES_IN_DAYS_MAX) {
    const rule = `must be 0 (it does not expire) or 1 to ${EXPIRES_IN_DAYS_MAX}`;
    throw badRequestField("expires_in_days", rule, EXPIRES_IN_DAYS_MAX);
  }
  return Number(expiresInDays) * MS_PER_DAY;
}

/** The id of a user or an API key, in lower case. */
export function accountIdField(field: string, id: string): string {
  const lowerCase = id.toLowerCase();
  if (!UUID.test(lowerCase)) {
    throw badRequestField(field, "must be a UUID");
  }
  return lowerCase;
}

export function roleField(role: string): Role {
  if (!ROLES.has(role)) {
    throw badRequestField("role", `must be one of ${[...ROLES].join(", ")}`);
  }
  return role as Role;
}

/** The status that an administrator may give to a verified user. */
export function statusField(status: string): "active" | "disabled" {
  if (status !== "active" && status !== "disabled") {
    throw badRequestField("status", "must be active or disabled");
  }
  return status;
}

/** Namespaces of a user, "*" = all; no duplicates. They need not exist. */
export function namespacesField(namespaces: readonly string[]): readonly string[] {
  const isRight = namespaces.every((namespace) => namespace === ALL_NAMESPACES || NAMESPACE_PATTERN.test(namespace));
  if (!isRight || namespaces.length > NAMESPACES_MAX || new Set(namespaces).size !== namespaces.length) {
    throw badRequestField("namespaces", `must be at most ${NAMESPACES_MAX} names of namespaces or "*", each once`);
  }
  const bytes = namespaces.reduce((sum, { length }) => sum + length + BYTES_AROUND_NAME, 0);
  if (bytes > NAMESPACES_BYTES_MAX) {
    throw badRequestField(
      "namespaces",
      `must have at most ${NAMESPACES_BYTES_MAX} bytes with their quotes and commas`,
      NAMESPACES_BYTES_MAX,
    );
  }
  return namespaces;
}
