/**
 * The claims of a token: who it speaks for, until when, and the most that it may be used for.
 *
 * Reading them is strict (S40, S41): a claim of another type than the service writes makes the token invalid. A text
 * where a list belongs would otherwise let "prod" match inside "prod-eu". Claims are an upper bound and never grant
 * anything by themselves; see `Access`.
 */

import type { JWTPayload } from "jose";
import { type Access, CoordinationError, type Role } from "../state/index.ts";

export interface Claims {
  /** User id. */
  readonly subject: string;
  /** Unix time in seconds. */
  readonly issuedAtSecs: number;
  /** Unix time in seconds, from which on the token is no longer good. */
  readonly expiresAtSecs: number;
  /** Namespaces, "*" = all. */
  readonly namespaces: readonly string[];
  readonly access: readonly Access[];
  readonly role: Role;
  /** UUID of this token. */
  readonly tokenId: string;
  /** The API key that the token was issued for, "" for a login. */
  readonly apiKeyId: string;
  /** Of a login: how often the user's password had been changed before it; 0 for an API key. */
  readonly passwordVersion: number;
}

const ISSUER = "quoin";
/** How far the issuer's clock may run ahead of ours (S41). An expiry gets no such allowance. */
const ISSUED_AHEAD_SECS_MAX = 30;
const MS_PER_SECOND = 1000;
const LEVELS: ReadonlySet<string> = new Set<Access>(["read", "write", "admin"]);
const ROLES: ReadonlySet<string> = new Set<Role>(["viewer", "member", "admin", "owner"]);

/** The JWT payload that carries the claims, for members of the cluster with this id. */
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
 * The claims in a payload whose signature is already verified. Raises TOKEN_INVALID, naming the claim, for a wrong
 * type, another issuer or cluster, and an issue time more than 30 s after `wallMs`. Does not compare the expiry.
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
    throw invalid("iat", `lies more than ${ISSUED_AHEAD_SECS_MAX} s in the future`);
  }
  return {
    subject: text(payload, "sub"),
    issuedAtSecs,
    expiresAtSecs: count(payload, "exp", "seconds"),
    namespaces: texts(payload, "namespaces"),
    access: texts(payload, "access").map((level) => oneOf<Access>(level, LEVELS, "access")),
    role: oneOf<Role>(text(payload, "role"), ROLES, "role"),
    tokenId: text(payload, "jti"),
    apiKeyId: payload.key_id === undefined ? "" : text(payload, "key_id"),
    passwordVersion: payload.key_id === undefined ? count(payload, "password_version", "changes") : 0,
  };
}

/** Whether the token that carries the claims is no longer good at `wallMs`. */
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
    throw invalid(name, "must be a text that is not empty");
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
    throw invalid(name, `must be of ${[...known].join(", ")}`);
  }
  return value as Known;
}

function invalid(name: string, problem: string): CoordinationError {
  return new CoordinationError("TOKEN_INVALID", `the token's claim "${name}" ${problem}`);
}
