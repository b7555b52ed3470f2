/**
 * The log of connections to the peer port that were not let in. Any client that reaches the port can cause such lines,
 * so each kind of line is written at most so often. A line says how many of its kind were left out before it.
 */

import type { PeerClock } from "./peer-clock.ts";
import type { PeerLog } from "./peer-handler.ts";

/** Milliseconds from one line of a kind to the next. */
const INTERVAL_MS = 10_000;

export class StrangerLog {
  readonly #log: PeerLog;
  readonly #clock: Pick<PeerClock, "monotonicMs">;
  /** By message: when the last line was written, and how many were left out since. */
  readonly #lines = new Map<string, { writtenMs: number; leftOut: number }>();

  constructor(log: PeerLog, clock: Pick<PeerClock, "monotonicMs">) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Writes the line, or counts it. The message must be one of a few: each is kept. */
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
