/**
 * Verification tokens, which are sent to an e-mail address. A caller who returns the token has proved to read mail
 * there.
 *
 * A token is the user's id and 256 bits: random ones, or for a request with an id a code of the members, so that each
 * attempt of the request makes the same ones. The cluster stores only the SHA-256 of a token.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readUser, readVerification, type StateReader, type User } from "../state/index.ts";
import { memberMac } from "./member-mac.ts";

export interface VerificationToken {
  /** In plaintext; for the mail only. */
  readonly token: string;
  readonly sha256: Uint8Array;
}

/** The user of a token, and the stored hash of the token. */
export interface OpenedVerification {
  readonly user: User;
  readonly sha256: Uint8Array;
}

/** Lifetime of a token: a week, in milliseconds of wall clock. */
export const VERIFICATION_LIFETIME_MS = 604_800_000;
const SECRET_BYTES = 32;
const PURPOSE = "verification";
const TOKEN = /^([0-9a-f-]{36})\.[A-Za-z0-9_-]{43}$/;

/** The secret part of the token that this request of this user creates; random without a request id. */
export function verificationSecret(state: StateReader, subject: string, requestId: Uint8Array | null): Uint8Array {
  return requestId === null ? randomBytes(SECRET_BYTES) : memberMac(state, PURPOSE, subject, requestId);
}

/** The token for the user with this id. */
export function verificationToken(userId: string, secret: Uint8Array): VerificationToken {
  const token = `${userId}.${Buffer.from(secret).toString("base64url")}`;
  return { token, sha256: sha256Of(token) };
}

/** Whether the user still has to be verified with this token. */
export function isAwaited(state: StateReader, userId: string, { sha256 }: VerificationToken): boolean {
  const verification = readVerification(state, userId);
  return verification !== undefined && timingSafeEqual(sha256, verification.tokenSha256);
}

/**
 * Returns the user of the token; null if it was never sent, was used, or has expired at `wallMs`. Takes the same time
 * wherever the token differs from the one that was sent (S42).
 */
export function openVerification(state: StateReader, token: string, wallMs: number): OpenedVerification | null {
  const userId = TOKEN.exec(token)?.[1];
  if (userId === undefined) {
    return null;
  }
  const sha256 = sha256Of(token);
  const verification = readVerification(state, userId);
  const isSame = timingSafeEqual(sha256, verification?.tokenSha256 ?? new Uint8Array(sha256.length));
  const user = readUser(state, userId);
  if (verification === undefined || user === undefined || !isSame || verification.expiresAtMs <= wallMs) {
    return null;
  }
  return { user, sha256 };
}

function sha256Of(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
