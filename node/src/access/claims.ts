/**
 * The claims of a token: its user, its expiry, and the upper bound of its rights.
 *
 * Claims are read strictly (S40, S41): a claim of a different type than the service writes makes the token invalid.
 * With a text instead of a list, "prod" would otherwise match inside "prod-eu". Claims are an upper bound and never
 * grant anything by themselves; see `Access`.
 */

import type { JWTPayload } from "jose";
import { type Access, CoordinationError, type Role, TOKEN_LIFETIME_MS_MAX } from "../state/index.ts";

export interface Claims {
  /** User id. */
  readonly subject: string;
  /** Unix time in seconds. */
  readonly issuedAtSecs: number;
  /** Unix time in seconds, from which the token is no longer valid. */
  readonly expiresAtSecs: number;
  /** Namespaces, "*" = all. */
  readonly namespaces: readonly string[];
  readonly access: readonly Access[];
  readonly role: Role;
  /** UUID of this token. */
  readonly tokenId: string;
  /** The API key for which the token was issued; "" for a login. */
  readonly apiKeyId: string;
  /** For a login: how often the user's password had been changed before it; 0 for an API key. */
  readonly passwordVersion: number;
}

const ISSUER = "quoin";
/** How far the issuer's clock may run ahead of ours (S41). The expiry has no such tolerance. */
const ISSUED_AHEAD_SECS_MAX = 30;
const MS_PER_SECOND = 1000;
/** The longest life of a token, in seconds. */
export const LIFETIME_SECS_MAX = TOKEN_LIFETIME_MS_MAX / MS_PER_SECOND;
const LEVELS: ReadonlySet<string> = new Set<Access>(["read", "write", "admin"]);
const ROLES: ReadonlySet<string> = new Set<Role>(["viewer", "member", "admin", "owner"]);

/** Returns the JWT payload with the claims, for members of the cluster with this id. */
export function payloadOf(claims: Claims, clusterId: string): JWTPayload {
  return {
    iss: ISSUER,
    aud: clusterId,
    sub: claims.subject,
    iat: claims.issuedAtSecs,
    exp: claims.expiresAtSecs,
    jti: claims.tokenId,
    namespaces: claims.namespaces,
    access: claims.access,
    role: claims.role,
    ...(claims.apiKeyId === "" ? { password_version: claims.passwordVersion } : { key_id: claims.apiKeyId }),
  };
}

/**
 * Returns the claims of a payload whose signature is already verified. Throws TOKEN_INVALID, naming the claim, for a
 * wrong type, another issuer or cluster, an issue time more than 30 s after `wallMs`, and a life of more than a day: no
 * member issues such a token. Does not check whether it has expired.
 */
export function claimsOf(payload: JWTPayload, clusterId: string, wallMs: number): Claims {
  if (payload.iss !== ISSUER) {
    throw invalid("iss", `must be "${ISSUER}"`);
  }
  if (payload.aud !== clusterId) {
    throw invalid("aud", "must be the id of this cluster");
  }
  const issuedAtSecs = count(payload, "iat", "seconds");
  if (issuedAtSecs * MS_PER_SECOND > wallMs + ISSUED_AHEAD_SECS_MAX * MS_PER_SECOND) {
    throw invalid("iat", `is more than ${ISSUED_AHEAD_SECS_MAX} s ahead of the clock of this member`);
  }
  const expiresAtSecs = count(payload, "exp", "seconds");
  if (expiresAtSecs - issuedAtSecs > LIFETIME_SECS_MAX) {
    throw invalid("exp", `is more than ${LIFETIME_SECS_MAX} s after its claim "iat"`);
  }
  return {
    subject: text(payload, "sub"),
    issuedAtSecs,
    expiresAtSecs,
    namespaces: texts(payload, "namespaces"),
    access: texts(payload, "access").map((level) => oneOf<Access>(level, LEVELS, "access")),
    role: oneOf<Role>(text(payload, "role"), ROLES, "role"),
    tokenId: text(payload, "jti"),
    apiKeyId: payload.key_id === undefined ? "" : text(payload, "key_id"),
    passwordVersion: payload.key_id === undefined ? count(payload, "password_version", "changes") : 0,
  };
}

/** Whether a token with these claims has expired at `wallMs`. */
export function isExpired(claims: Claims, wallMs: number): boolean {
  return claims.expiresAtSecs * MS_PER_SECOND <= wallMs;
}

function count(payload: JWTPayload, name: string, of: string): number {
  const value = payload[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalid(name, `must be a whole number of ${of}`);
  }
  return value;
}

function text(payload: JWTPayload, name: string): string {
  const value = payload[name];
  if (typeof value !== "string" || value === "") {
    throw invalid(name, "must be a non-empty text");
  }
  return value;
}

function texts(payload: JWTPayload, name: string): readonly string[] {
  const value = payload[name];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw invalid(name, "must be a list of texts");
  }
  return value;
}

function oneOf<Known extends string>(value: string, known: ReadonlySet<string>, name: string): Known {
  if (!known.has(value)) {
    throw invalid(name, `must be one of ${[...known].join(", ")}`);
  }
  return value as Known;
}

function invalid(name: string, problem: string): CoordinationError {
  return new CoordinationError("TOKEN_INVALID", `the token's claim "${name}" ${problem}`);
}
