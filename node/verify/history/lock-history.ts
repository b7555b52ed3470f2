/**
 * What clients did with locks, and which answers they got. A lock is an exclusive one, a read-write lock or a semaphore; a
 * name in a history belongs to only one of them. Each acquisition has an owner name of its own.
 */

import type { RecordedOperation } from "./history.ts";

/** `exclusive` on exclusive locks only, `permits` on semaphores only, the others on read-write locks only. */
export type LockMode = "exclusive" | "read" | "write" | "permits";

/** A client's request. All requests of a history come from one subject, and name a hold by its token. */
export type LockOperation = { readonly lock: string } & (
  | {
      readonly kind: "acquire";
      readonly mode: LockMode;
      readonly owner: string;
      /** 0 for a hold that ends with a session. */
      readonly ttlMs: number;
      /** How long to wait for the lock; 0 = not at all. */
      readonly waitMs: number;
      /** Permits of a semaphore. */
      readonly permits?: number;
      /** Id of the session that the hold ends with. */
      readonly session?: number;
    }
  /** Renews the hold, or changes its mode. A downgrade keeps the token; an upgrade brings another one. */
  | { readonly kind: "change"; readonly token: number; readonly mode: LockMode; readonly ttlMs: number }
  | { readonly kind: "release"; readonly token: number }
  /** Ends the hold with this token; token 0 ends all holds. */
  | { readonly kind: "force-release"; readonly token: number }
  /** Writes a key or memory under the guard of the hold. */
  | { readonly kind: "guarded-write"; readonly token: number; readonly what: string }
  | { readonly kind: "describe" }
);

export interface SeenHold {
  readonly token: number;
  readonly owner: string;
  readonly mode: LockMode;
  readonly permits?: number;
}

/** An answer that shows so many holds may leave others out. */
export const SHOWN_HOLDS_MAX = 10;

/** The lock in an answer: its holds at a revision. */
export interface LockView {
  readonly state: "free" | "held" | "read-held" | "write-held" | "cooldown";
  readonly holds: readonly SeenHold[];
  readonly waiters: number;
  readonly revision: number;
  /** Permits of a semaphore, and those of its holds. */
  readonly permits?: number;
  readonly heldPermits?: number;
}

/** What every answer to an acquire or a change says. */
interface Acquisition {
  /** How long the last attempt waited in cluster ticks, in milliseconds; 0 if that is not known any more. */
  readonly waitedMs: number;
  /** Whether there were several attempts, or the answer is a replay: the request may have been undone in between. */
  readonly isRepeated: boolean;
  readonly view: LockView;
}

export type LockAnswer =
  /** The acquire or the change got the hold. */
  | ({ readonly kind: "acquired"; readonly token: number; readonly mode: LockMode } & Acquisition)
  | ({ readonly kind: "not-acquired" } & Acquisition)
  /** The release (also by force) ended holds at the revision. */
  | { readonly kind: "released"; readonly revision: number }
  /** The release by force found no hold to end. */
  | { readonly kind: "nothing-released"; readonly revision: number }
  /** The guarded write was executed at the revision. */
  | { readonly kind: "written"; readonly revision: number }
  | { readonly kind: "described"; readonly view: LockView }
  /** It was executed, and refused for this reason. */
  | { readonly kind: "refused"; readonly reason: string };

export type LockRecord = RecordedOperation<LockOperation, LockAnswer>;

/** The answer; null if there is none. */
export function lockAnswerOf({ outcome }: LockRecord): LockAnswer | null {
  return outcome.kind === "ok" ? outcome.answer : null;
}

/** The lock as the answer shows it; null if it does not. */
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
