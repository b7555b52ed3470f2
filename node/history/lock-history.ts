/**
 * What clients did with locks, and what they were told. A lock is an exclusive one or a read-write lock, and its name in
 * a history is of one of them only. Owners name acquisitions: each asks under an owner of its own.
 */

import type { RecordedOperation } from "./history.ts";

/** `exclusive` on exclusive locks only, the others on read-write locks only. */
export type LockMode = "exclusive" | "read" | "write";

/** What a client asked for. All of a history come from one subject, and name a hold by its token. */
export type LockOperation = { readonly lock: string } & (
  | {
      readonly kind: "acquire";
      readonly mode: LockMode;
      readonly owner: string;
      readonly ttlMs: number;
      /** How long to wait for it; 0 = not at all. */
      readonly waitMs: number;
    }
  /** Renews the hold, or changes its mode: to read keeps the token, to write brings another one. */
  | { readonly kind: "change"; readonly token: number; readonly mode: LockMode; readonly ttlMs: number }
  | { readonly kind: "release"; readonly token: number }
  /** Ends this hold, or with the token 0 all of them. */
  | { readonly kind: "force-release"; readonly token: number }
  /** Writes something, a key or memory, under the guard of the hold. */
  | { readonly kind: "guarded-write"; readonly token: number; readonly what: string }
  | { readonly kind: "describe" }
);

export interface SeenHold {
  readonly token: number;
  readonly owner: string;
  readonly mode: LockMode;
}

/** A lock as an answer shows it: all of its holds at a revision. */
export interface LockView {
  readonly state: "free" | "held" | "read-held" | "write-held" | "cooldown";
  readonly holds: readonly SeenHold[];
  readonly waiters: number;
  readonly revision: number;
}

/** What every answer to an acquisition says. */
interface Acquisition {
  /** Cluster ticks that the last attempt has waited, in milliseconds; 0 if that is not known any more. */
  readonly waitedMs: number;
  /** Whether more than one attempt was sent, or the answer is a replay: then the request may have been undone between. */
  readonly isRepeated: boolean;
  readonly view: LockView;
}

export type LockAnswer =
  /** An acquire or a change has the hold. */
  | ({ readonly kind: "acquired"; readonly token: number; readonly mode: LockMode } & Acquisition)
  | ({ readonly kind: "not-acquired" } & Acquisition)
  /** A release, also by force, has ended holds at the revision. */
  | { readonly kind: "released"; readonly revision: number }
  /** A release by force found nothing to end. */
  | { readonly kind: "nothing-released"; readonly revision: number }
  /** The guarded write was executed at the revision. */
  | { readonly kind: "written"; readonly revision: number }
  | { readonly kind: "described"; readonly view: LockView }
  /** It was executed, and came to nothing for this reason. */
  | { readonly kind: "refused"; readonly reason: string };

export type LockRecord = RecordedOperation<LockOperation, LockAnswer>;

/** The answer; null if there was none. */
export function lockAnswerOf({ outcome }: LockRecord): LockAnswer | null {
  return outcome.kind === "ok" ? outcome.answer : null;
}

/** How the answer shows the lock; null if it does not. */
export function viewOf(record: LockRecord): LockView | null {
  const answer = lockAnswerOf(record);
  return answer !== null && "view" in answer ? answer.view : null;
}

/** The operation in a few words. */
export function describeLockRecord({ id, client, operation }: LockRecord): string {
  const token = "token" in operation ? ` ${operation.token}` : "";
  const mode = "mode" in operation ? ` for ${operation.mode}` : "";
  return `#${id} ${operation.kind}${token}${mode} of ${client}`;
}
