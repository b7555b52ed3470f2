/** Histories of locks written by hand: one line for each operation with its times and its answer. */

import type { LockAnswer, LockMode, LockOperation, LockRecord, LockView, SeenHold } from "./lock-history.ts";

/** A line: the request, its start and end in milliseconds, and its outcome. */
export type LockLine = readonly [LockOperation, number, number, LockAnswer | "unknown" | "not-executed"];

export function locksOf(...lines: readonly LockLine[]): LockRecord[] {
  return lines.map(([operation, startMs, endMs, result], id) => {
    const shared = { id, client: `client-${id}`, operation, startMs };
    return typeof result === "string"
      ? { ...shared, endMs: result === "unknown" ? Number.POSITIVE_INFINITY : endMs, outcome: { kind: result } }
      : { ...shared, endMs, outcome: { kind: "ok", answer: result } };
  });
}

const LOCK = "l";
/** TTL of all holds. */
export const TTL_MS = 1_000;

export function acquire(owner: string, mode: LockMode = "exclusive", waitMs = 0): LockOperation {
  return { kind: "acquire", lock: LOCK, owner, mode, ttlMs: TTL_MS, waitMs };
}

/** Asks for a hold that ends with the session. */
export function acquireIn(session: number, owner: string): LockOperation {
  return { kind: "acquire", lock: LOCK, owner, mode: "exclusive", ttlMs: 0, waitMs: 0, session };
}

export function change(token: number, mode: LockMode = "exclusive", ttlMs = TTL_MS): LockOperation {
  return { kind: "change", lock: LOCK, token, mode, ttlMs };
}

export const release = (token: number): LockOperation => ({ kind: "release", lock: LOCK, token });
export const force = (token: number): LockOperation => ({ kind: "force-release", lock: LOCK, token });
export const guarded = (token: number): LockOperation => ({ kind: "guarded-write", lock: LOCK, token, what: "a key" });
export const describeIt: LockOperation = { kind: "describe", lock: LOCK };

/** The owner and the token of a hold, with its mode if it is not exclusive. */
export type HoldLine = readonly [owner: string, token: number, mode?: LockMode];

export function viewAt(revision: number, holds: readonly HoldLine[], more: Partial<LockView> = {}): LockView {
  const seen = holds.map(([owner, token, mode = "exclusive"]): SeenHold => ({ owner, token, mode }));
  const states = { exclusive: "held", read: "read-held", write: "write-held", permits: "held" } as const;
  const [first] = seen;
  const state = first === undefined ? "free" : states[first.mode];
  return { state, holds: seen, waiters: 0, revision, ...more };
}

/** The hold, shown with the other holds; granted after a wait of `waitedMs`. */
export function acquired(
  hold: HoldLine,
  others: readonly HoldLine[] = [],
  waitedMs = 0,
  revision = hold[1],
): LockAnswer {
  const [, token, mode = "exclusive"] = hold;
  const view = viewAt(revision, [...others, hold]);
  return { kind: "acquired", token, mode, waitedMs, isRepeated: false, view };
}

export function notAcquired(view: LockView, waitedMs = 0): LockAnswer {
  return { kind: "not-acquired", waitedMs, isRepeated: false, view };
}

export const released = (revision: number): LockAnswer => ({ kind: "released", revision });
export const written = (revision: number): LockAnswer => ({ kind: "written", revision });
export const described = (view: LockView): LockAnswer => ({ kind: "described", view });
export const refused = (reason: string): LockAnswer => ({ kind: "refused", reason });
