/**
 * Verification tokens: what is sent to an address, so that whoever brings it back has shown to read what is sent there.
 *
 * A token is the user's id and 256 random bits. Only its SHA-256 is stored, so nobody can take one out of the state.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readUser, readVerification, type StateReader, type User } from "../state/index.ts";

export interface VerificationToken {
  /** In plaintext; for the mail alone. */
  readonly token: string;
  readonly sha256: Uint8Array;
}

/** The user whom a token belongs to, and what is stored of it. */
export interface OpenedVerification {
  readonly user: User;
  readonly sha256: Uint8Array;
}

/** A token is good for a week, in milliseconds of wall clock. */
export const VERIFICATION_LIFETIME_MS = 604_800_000;
const SECRET_BYTES = 32;
const TOKEN = /^([0-9a-f-]{36})\.[A-Za-z0-9_-]{43}$/;

/** A new token for the user with this id. */
export function createVerificationToken(userId: string): VerificationToken {
  const token = `${userId}.${randomBytes(SECRET_BYTES).toString("base64url")}`;
  return { token, sha256: sha256Of(token) };
}

/**
 * Whose token it is, or null unless it was sent, is not used yet, and is good at `wallMs`. It takes the same time
 * wherever it differs from the one that was sent (S42).
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
