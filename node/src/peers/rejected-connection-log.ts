/**
 * The log of connections that the peer port rejected. Any client that reaches the port can cause such lines, so this
 * class limits the rate of each kind of line. A line reports how many of its kind were left out before it.
 */

import type { PeerClock } from "./peer-clock.ts";
import type { PeerLog } from "./peer-handler.ts";

/** Minimum milliseconds between two lines of a kind. */
const INTERVAL_MS = 10_000;

export class RejectedConnectionLog {
  readonly #log: PeerLog;
  readonly #clock: Pick<PeerClock, "monotonicMs">;
  /** By message: when the last line was written, and how many were left out since. */
  readonly #lines = new Map<string, { writtenMs: number; leftOut: number }>();

  constructor(log: PeerLog, clock: Pick<PeerClock, "monotonicMs">) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Writes the line, or counts it. The caller must use a few fixed messages, because each one is kept. */
  add(level: "info" | "warn", message: string, reason: string): void {
    const nowMs = this.#clock.monotonicMs();
    const last = this.#lines.get(message);
    if (last !== undefined && nowMs - last.writtenMs < INTERVAL_MS) {
      last.leftOut++;
      return;
    }
    this.#log[level]({ reason, notLogged: last?.leftOut ?? 0 }, message);
    this.#lines.set(message, { writtenMs: nowMs, leftOut: 0 });
  }
}
