/** Words for the state of a lock. */

import type { Lock, LockHold } from "../../api/index.ts";
import { countText } from "../../text/index.ts";
import type { Tone } from "../../ui/index.ts";

export function kindText({ rw, permits = 0 }: Pick<Lock, "rw" | "permits">): string {
  if (permits > 0) {
    return "semaphore";
  }
  return rw ? "read-write" : "exclusive";
}

export function permitsText({ permits, heldPermits }: Pick<Lock, "permits" | "heldPermits">): string {
  return `${countText(heldPermits)} of ${countText(permits)}`;
}

/** The permits of a hold of a semaphore, or of a wait for one. */
export function permitCount({ permits }: { readonly permits: number }): string {
  return `${countText(permits)} ${permits === 1 ? "permit" : "permits"}`;
}

export function stateText({ state }: Lock): string {
  switch (state) {
    case "FREE":
      return "free";
    case "HELD":
      return "held";
    case "READ_HELD":
      return "read-held";
    case "WRITE_HELD":
      return "write-held";
    case "COOLDOWN":
      return "delay";
    default:
      return state.toLowerCase();
  }
}

export function stateTone({ state }: Lock): Tone {
  switch (state) {
    case "FREE":
      return "neutral";
    case "COOLDOWN":
      return "warning";
    default:
      return "accent";
  }
}

/** Whether the console can add a hold, as far as the last state of the lock shows. */
export function isAcquirable(lock: Lock): boolean {
  const { rw, permits = 0, heldPermits, state } = lock;
  if (permits > 0) {
    return heldPermits < permits && waiting(lock) === 0;
  }
  return state === "FREE" || (rw && state === "READ_HELD" && waiting(lock) === 0);
}

/** Whether it ends with a session, and has no time of its own. */
export function endsWithSession({ sessionId }: LockHold): boolean {
  return sessionId !== "0";
}

/** The hold that ends first of those with a time of their own. */
export function nextToEnd(holders: readonly LockHold[]): LockHold | undefined {
  return holders
    .filter((hold) => !endsWithSession(hold))
    .toSorted((a, b) => Number(a.expiresInMs) - Number(b.expiresInMs))[0];
}

export function waiting({ waitingReaders, waitingWriters }: Lock): number {
  return waitingReaders + waitingWriters;
}
