/**
 * Verification tokens, which are sent to an e-mail address. A caller who returns the token has proved to read mail
 * there.
 *
 * A token is the user's id and 256 random bits. The cluster stores only its SHA-256, so no token can be read from the
 * state.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readUser, readVerification, type StateReader, type User } from "../state/index.ts";

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
const TOKEN = /^([0-9a-f-]{36})\.[A-Za-z0-9_-]{43}$/;

/** Creates a new token for the user with this id. */
export function createVerificationToken(userId: string): VerificationToken {
  const token = `${userId}.${randomBytes(SECRET_BYTES).toString("base64url")}`;
  return { token, sha256: sha256Of(token) };
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
