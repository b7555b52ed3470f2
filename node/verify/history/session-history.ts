/**
 * What clients did with sessions, and which answers they got. All sessions belong to one user. A key is put once in a
 * history, into one session, and no client deletes it. Holds of locks are in a history of their own.
 */

import type { RecordedOperation } from "./history.ts";

/** A client's request; it names a session by its id. */
export type SessionOperation =
  | { readonly kind: "create"; readonly ttlMs: number }
  | { readonly kind: "renew" | "end" | "describe"; readonly session: number }
  /** Writes a key of no session, with the session as its guard. */
  | { readonly kind: "guarded-write"; readonly session: number }
  /** Puts the key into the session, or reads it. */
  | { readonly kind: "put" | "get"; readonly session: number; readonly key: string };

export type SessionAnswer =
  /** The session was created at the revision that is its id, and lives for so long. */
  | { readonly kind: "created"; readonly session: number; readonly lifeMs: number }
  /** The session was renewed, and lives for so long. */
  | { readonly kind: "renewed"; readonly lifeMs: number; readonly revision: number }
  /** The key was put into the session at the revision. */
  | { readonly kind: "put"; readonly revision: number }
  /** The guarded write was executed at the revision. */
  | { readonly kind: "written"; readonly revision: number }
  /** The key is there at the revision; it belongs to this session, 0 = to none. */
  | { readonly kind: "found"; readonly session: number; readonly revision: number }
  /** The session is live at the revision, with these keys and with holds of these tokens. */
  | {
      readonly kind: "described";
      readonly keys: readonly string[];
      readonly tokens: readonly number[];
      readonly revision: number;
    }
  /** The session was ended at the revision. */
  | { readonly kind: "ended"; readonly revision: number }
  /** There is no such session, or no such key. Only a renewal returns a revision with that. */
  | { readonly kind: "gone"; readonly revision: number | null };

export type SessionRecord = RecordedOperation<SessionOperation, SessionAnswer>;

/** The answer; null if there is none. */
export function sessionAnswerOf({ outcome }: SessionRecord): SessionAnswer | null {
  return outcome.kind === "ok" ? outcome.answer : null;
}

/** The operation in a few words. */
export function describeSessionRecord({ id, client, operation }: SessionRecord): string {
  const session = "session" in operation ? ` ${operation.session}` : "";
  const key = "key" in operation ? ` of ${operation.key}` : "";
  return `#${id} ${operation.kind}${session}${key} of ${client}`;
}
