/**
 * The session of the user. The token lives in a variable of this page only, so a reload signs out, and no other page can
 * use it. If the person asks for it, the storage of the tab keeps the session too, see `kept-session.ts`.
 *
 * When a member refuses the token, `renewed` resolves after the next sign-in. Calls wait for that, so nothing on the
 * page is lost.
 */

import { computed, effect, signal } from "@preact/signals";
import { forgetSession, keepSession, keptSession } from "./kept-session.ts";
import type { Session } from "./rights.ts";

const session = signal<Session | null>(null);
const kept = signal(false);
const expired = signal(false);
let renewal: PromiseWithResolvers<void> | null = null;

/** The signed-in user; null before the first sign-in. After an expiry, the user who was signed in. */
export const currentUser = computed(() => session.value?.user ?? null);

/** Calls back when another user signs in, who must not see what the one before could. */
export function onOtherUser(forget: () => void): void {
  let before: string | undefined;
  effect(() => {
    const userId = currentUser.value?.userId;
    if (userId !== before) {
      before = userId;
      forget();
    }
  });
}

/** Whether the session outlives a reload of this tab. */
export const isKept = computed(() => kept.value);

/** Whether the user must sign in again to continue. */
export const isExpired = computed(() => expired.value);

/** The token for calls; null if there is none. */
export function currentToken(): string | null {
  return session.peek()?.token ?? null;
}

/** @param isToBeKept whether the session shall outlive a reload of this tab. */
export function signIn(next: Session, isToBeKept: boolean): void {
  session.value = next;
  setKept(isToBeKept);
  expired.value = false;
  renewal?.resolve();
  renewal = null;
}

/** Keeps the present session over a reload of this tab, or no longer. */
export function setKept(isToBeKept: boolean): void {
  kept.value = isToBeKept;
  const present = session.peek();
  if (isToBeKept && present !== null) {
    keepSession(present);
  } else {
    forgetSession();
  }
}

/** Goes on with the session that this tab has kept, if there is one. */
export function resumeSession(): void {
  const found = keptSession();
  if (found !== null) {
    signIn(found, true);
  }
}

/** Forgets the token and everything that the page shows. */
export function signOut(): void {
  forgetSession();
  session.value = null;
  expired.value = false;
  location.reload();
}

/** Asks the user to sign in again, because a member refused this token. Resolves after that. */
export function renewed(refused: string): Promise<void> {
  if (session.peek()?.token !== refused) {
    return Promise.resolve(); // Another call has already led to a new sign-in.
  }
  forgetSession();
  expired.value = true;
  renewal ??= Promise.withResolvers<void>();
  return renewal.promise;
}
