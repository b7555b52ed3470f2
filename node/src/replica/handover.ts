/**
 * Giving the leadership away before this member stops, so that nobody has to notice its end first.
 *
 * While it lasts, what this member is asked is held and then goes to the new leader. Alone there is nobody to hand over
 * to, and nothing to wait for.
 */

import type { RaftCore } from "../raft/index.ts";

export class Handover {
  readonly #core: RaftCore;
  readonly #untilMs: number;
  readonly #done: () => void;
  #isOver = false;

  /** Tries until the time of the monotonic clock; `done` is called once, by `proceed` or `end`. */
  constructor(core: RaftCore, untilMs: number, done: () => void) {
    this.#core = core;
    this.#untilMs = untilMs;
    this.#done = done;
  }

  /** Goes on; returns true when it ended just now, and this member should not lead again. */
  proceed(nowMs: number, isSole: boolean): boolean {
    if (this.#isOver) {
      return false;
    }
    if (this.#core.role === "leader" && !isSole && nowMs < this.#untilMs) {
      if (!this.#core.isTransferring) {
        this.#core.transfer(0);
      }
      return false;
    }
    this.end();
    return true;
  }

  end(): void {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#done();
    }
  }
}
