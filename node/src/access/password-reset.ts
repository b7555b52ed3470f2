/**
 * Tokens that set a forgotten password. They are sent to the user's e-mail address.
 *
 * A token is the user's id, the time until which it is valid, and a code of the members. The code covers the present
 * password, so that a token works once, and ends with every new password. Members store nothing for it: a
 * client without a token cannot make a cluster write.
 */

import { timingSafeEqual } from "node:crypto";
import { readUser, readUserByEmail, type StateReader, type User } from "../state/index.ts";
import { memberMac } from "./member-mac.ts";

/** Lifetime of a token: an hour, in milliseconds of wall clock. */
const LIFETIME_MS = 3_600_000;
const PURPOSE = "password-reset";
const TOKEN = /^([0-9a-f-]{36})\.([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/;
const UNTIL_RADIX = 36;

/** For addresses without a user, so that a token is made for them as well. */
const NOBODY = { userId: "00000000-0000-0000-0000-000000000000", passwordHash: "", passwordVersion: 0 };

export interface PasswordReset {
  readonly user: User;
  /** In plaintext; for the mail only. */
  readonly token: string;
}

/**
 * Returns a token for the user with this address; null if there is none, or if the user is not active. Takes the same
 * time for every address (S42).
 */
export function createPasswordReset(state: StateReader, email: string, wallMs: number): PasswordReset | null {
  const user = readUserByEmail(state, email);
  const until = (wallMs + LIFETIME_MS).toString(UNTIL_RADIX);
  const { userId } = user ?? NOBODY;
  const token = `${userId}.${until}.${codeOf(state, user ?? NOBODY, until)}`;
  return user?.status === "active" ? { user, token } : null;
}

/**
 * Returns the user of the token; null if it was never made, or has expired at `wallMs`, or if the user is not active or
 * has another password by now.
 */
export function openPasswordReset(state: StateReader, token: string, wallMs: number): User | null {
  const [, userId = "", until = "", code = ""] = TOKEN.exec(token) ?? [];
  const user = readUser(state, userId);
  if (user?.status !== "active") {
    return null;
  }
  const isMade = timingSafeEqual(Buffer.from(code), Buffer.from(codeOf(state, user, until)));
  return isMade && Number.parseInt(until, UNTIL_RADIX) > wallMs ? user : null;
}

function codeOf(
  state: StateReader,
  { userId, passwordHash, passwordVersion }: Pick<User, "userId" | "passwordHash" | "passwordVersion">,
  until: string,
): string {
  return memberMac(state, PURPOSE, userId, until, String(passwordVersion), passwordHash).toString("base64url");
}
