/**
 * The e-mail addresses of users by their ids, as far as the signed-in user may list users. They are loaded when a view
 * shows an id that is not known yet, at most once a minute, and kept until another user signs in.
 */

import { signal } from "@preact/signals";
import { ApiError, listUsers } from "../api/index.ts";
import { currentUser, mayAdminister, onOtherUser } from "../session/index.ts";

const AGAIN_MS = 60_000;
/** Of more users, the rest keep their ids: 1,000 addresses are more than any view shows. */
const PAGES_MAX = 10;

const emails = signal<ReadonlyMap<string, string>>(new Map());
let askedAtMs = 0;

onOtherUser(() => {
  emails.value = new Map();
  askedAtMs = 0;
});

/** The address of a user; undefined if it is not known. */
export function emailOf(userId: string): string | undefined {
  return emails.value.get(userId);
}

/** Loads the addresses if this one is not known. Without an answer the id stays in its place. */
export async function learnEmail(userId: string): Promise<void> {
  const user = currentUser.peek();
  const isRecent = Date.now() - askedAtMs < AGAIN_MS;
  if (user === null || !mayAdminister(user) || emails.peek().has(userId) || isRecent) {
    return;
  }
  askedAtMs = Date.now();
  const found = new Map<string, string>();
  try {
    let cursor = "";
    for (let pages = 0; pages < PAGES_MAX && (pages === 0 || cursor !== ""); pages++) {
      const { items, next } = await listUsers(cursor, {});
      for (const { user_id, email } of items) {
        found.set(user_id, email);
      }
      cursor = next;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) {
      throw error;
    }
  }
  if (currentUser.peek()?.userId === user.userId) {
    emails.value = new Map([...emails.peek(), ...found]);
  }
}
