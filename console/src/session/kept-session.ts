/**
 * The session where the person asked to stay signed in over a reload: in the storage of this tab, which ends with the tab.
 * Scripts from the same origin can read it; it goes when the token expires, when a member refuses it, and at sign-out.
 */

import { claimsOf } from "./claims.ts";
import type { Session } from "./rights.ts";

/** Below one origin, a proxy may serve several clusters. */
const nameOfPage = (): string => `quoin ${location.pathname}`;
/** A longer delay of a timer would end at once. */
const DELAY_MS_MAX = 2 ** 31 - 1;

let expiry: ReturnType<typeof setTimeout> | undefined;

/** Keeps the session until its token expires. */
export function keepSession(session: Session): void {
  const leftMs = claimsOf(session.token).expiresAtMs - Date.now();
  clearTimeout(expiry);
  expiry = setTimeout(forgetSession, Math.min(leftMs, DELAY_MS_MAX));
  storage()?.setItem(nameOfPage(), JSON.stringify(session));
}

export function forgetSession(): void {
  clearTimeout(expiry);
  storage()?.removeItem(nameOfPage());
}

/** The session that this tab has kept; null if there is none, or if it has expired. */
export function keptSession(): Session | null {
  try {
    const session = JSON.parse(storage()?.getItem(nameOfPage()) ?? "null") as Session | null;
    if (session !== null && claimsOf(session.token).expiresAtMs > Date.now()) {
      return session;
    }
  } catch {
    // Another page of the origin, or another release, has written something else.
  }
  forgetSession();
  return null;
}

/** Null where the person has forbidden the page to store anything. */
function storage(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
