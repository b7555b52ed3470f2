/**
 * Detects whether the other side of a connection is alive.
 *
 * Each side sends a ping every second, and gives up after three seconds without any received byte. A pause of this
 * process does not count against the other side: before it gives up, this process polls the sockets once more for bytes
 * that arrived in the meantime.
 *
 * All connections of a process ping at the same moments, the multiples of the interval. Separate moments would wake up
 * an idle process more often, here and at the other side.
 */

import type { PeerClock } from "./peer-clock.ts";

export interface LivenessUser {
  ping(): void;
  /** Nothing has arrived for too long. Called once; then the liveness is stopped. */
  dead(): void;
}

export class Liveness {
  readonly #clock: PeerClock;
  readonly #pingMs: number;
  readonly #deadMs: number;
  readonly #user: LivenessUser;
  #heardMs: number;
  #pingDueMs: number;
  #suspended = false;
  #stopped = false;
  #cancel: () => void = () => {};

  constructor(clock: PeerClock, limits: { readonly pingMs: number; readonly deadMs: number }, user: LivenessUser) {
    this.#clock = clock;
    this.#pingMs = limits.pingMs;
    this.#deadMs = limits.deadMs;
    this.#user = user;
    this.#heardMs = clock.monotonicMs();
    this.#pingDueMs = this.#nextPingMs(this.#heardMs);
    this.#arm();
  }

  /** Bytes arrived from the other side. */
  heard(): void {
    this.#heardMs = this.#clock.monotonicMs();
  }

  /** This side does not read for now, so silence proves nothing. */
  suspend(): void {
    this.#suspended = true;
  }

  /** This side reads again. */
  resume(): void {
    this.#suspended = false;
    this.heard();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #arm(): void {
    const nowMs = this.#clock.monotonicMs();
    const deadDueMs = this.#suspended ? Number.POSITIVE_INFINITY : this.#heardMs + this.#deadMs;
    // Timers drop fractions, and a timer that fires too early would wake the process up twice.
    const delayMs = Math.max(0, Math.ceil(Math.min(this.#pingDueMs, deadDueMs) - nowMs));
    this.#cancel = this.#clock.after(delayMs, () => this.#onDue());
  }

  #onDue(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#pingDueMs) {
      this.#pingDueMs = this.#nextPingMs(nowMs);
      this.#user.ping();
    }
    if (!this.#isSilent()) {
      this.#arm();
      return;
    }
    this.#clock.afterPoll(() => {
      if (this.#stopped) {
        return;
      }
      if (this.#isSilent()) {
        this.stop();
        this.#user.dead();
      } else {
        this.#arm();
      }
    });
  }

  #nextPingMs(nowMs: number): number {
    return (Math.floor(nowMs / this.#pingMs) + 1) * this.#pingMs;
  }

  #isSilent(): boolean {
    return !this.#suspended && this.#clock.monotonicMs() - this.#heardMs >= this.#deadMs;
  }
}
