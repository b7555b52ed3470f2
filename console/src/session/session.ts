/**
 * The session of the user. The token lives in a variable of this page only: no cookie and no storage keeps it, so a reload signs
 * out, and no other page can use it.
 *
 * When a member refuses the token, `renewed` resolves after the next sign-in. Calls wait for that, so nothing on the
 * page is lost.
 */

import { computed, signal } from "@preact/signals";
import type { SessionUser } from "./rights.ts";

/** A token and its user. */
export interface Session {
  readonly token: string;
  readonly user: SessionUser;
}

const session = signal<Session | null>(null);
const expired = signal(false);
let renewal: PromiseWithResolvers<void> | null = null;

/** The signed-in user; null before the first sign-in. After an expiry, the user who was signed in. */
export const currentUser = computed(() => session.value?.user ?? null);

/** Whether the user must sign in again to continue. */
export const isExpired = computed(() => expired.value);

/** The token for calls; null if there is none. */
export function currentToken(): string | null {
  return session.peek()?.token ?? null;
}

export function signIn(next: Session): void {
  session.value = next;
  expired.value = false;
  renewal?.resolve();
  renewal = null;
}

/** Forgets the token and everything that the page shows. */
export function signOut(): void {
  session.value = null;
  expired.value = false;
  location.reload();
}

/** Asks the user to sign in again, because a member refused this token. Resolves after that. */
export function renewed(refused: string): Promise<void> {
  if (session.peek()?.token !== refused) {
    return Promise.resolve(); // Another call has already led to a new sign-in.
  }
  expired.value = true;
  renewal ??= Promise.withResolvers<void>();
  return renewal.promise;
}
