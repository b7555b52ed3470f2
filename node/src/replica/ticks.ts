/**
 * The ticks of a driver: a timer counts them, and a turn takes them, after another poll of the sockets (P55).
 *
 * A stall makes many ticks due at once. Only fewer than an election timeout of them are made up for.
 */

import type { Role } from "../raft/index.ts";

/** Milliseconds between two ticks of the core. */
export const TICK_MS = 50;
/** After a stall no more than this many ticks are made up for: fewer than an election timeout. */
const CATCH_UP_TICKS_MAX = 19;
/**
 * While nothing is under way, a turn takes so many ticks at once, and a member wakes up less often. A leader has a
 * heartbeat to send by then; a follower takes its ticks with the heartbeat that has arrived before.
 */
const TICKS_AT_REST: Readonly<Record<Role, number>> = { leader: 2, follower: 3, candidate: 1 };

export class Ticks {
  #lastMs: number;
  #due = 0;
  #lagMs = 0;

  /** @param nowMs of the monotonic clock. */
  constructor(nowMs: number) {
    this.#lastMs = nowMs;
  }

  /** How many are due. */
  get due(): number {
    return this.#due;
  }

  /** How late the timer was the last time, in milliseconds. */
  get lagMs(): number {
    return this.#lagMs;
  }

  /** The timer, which is to come every TICK_MS milliseconds, has come. */
  count(nowMs: number): void {
    const elapsedMs = nowMs - this.#lastMs;
    const ticks = Math.floor(elapsedMs / TICK_MS);
    this.#lagMs = Math.max(0, elapsedMs - TICK_MS);
    this.#lastMs += ticks * TICK_MS;
    this.#due = Math.min(this.#due + ticks, CATCH_UP_TICKS_MAX);
  }

  /** Whether those that are due may wait for more, at a member in this role that has nothing under way. */
  mayWait(role: Role): boolean {
    return this.#due < TICKS_AT_REST[role];
  }

  /** Takes one of those that are due; false if none is. */
  take(): boolean {
    if (this.#due === 0) {
      return false;
    }
    this.#due--;
    return true;
  }
}
