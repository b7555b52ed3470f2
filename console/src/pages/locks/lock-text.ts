/** Words for the state of a lock. */

import type { Lock, LockHold } from "../../api/index.ts";
import type { Tone } from "../../ui/index.ts";

/** Milliseconds that are left of a time that was reported at `atMs`; never below 0. */
export function remainingMs(reportedMs: string, atMs: number, nowMs: number): number {
  return Math.max(0, Number(reportedMs) - Math.max(0, nowMs - atMs));
}

/** The key of a lock among those of its namespace: exclusive and read-write locks have separate names. */
export function lockKey({ name, rw }: Pick<Lock, "name" | "rw">): string {
  return `${rw ? "rw" : "x"} ${name}`;
}

export function kindText({ rw, permits = 0 }: Pick<Lock, "rw" | "permits">): string {
  if (permits > 0) {
    return "semaphore";
  }
  return rw ? "read-write" : "exclusive";
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

/** Whether the console can add a hold, as far as the last state of the lock shows. It acquires no permits. */
export function isAcquirable({ rw, permits = 0, state, waitingReaders, waitingWriters }: Lock): boolean {
  if (permits > 0) {
    return false;
  }
  return state === "FREE" || (rw && state === "READ_HELD" && waitingReaders + waitingWriters === 0);
}

/** The hold that ends first. */
export function nextToEnd(holders: readonly LockHold[]): LockHold | undefined {
  return holders.toSorted((a, b) => Number(a.expiresInMs) - Number(b.expiresInMs))[0];
}

export function waiting({ waitingReaders, waitingWriters }: Lock): number {
  return waitingReaders + waitingWriters;
}
