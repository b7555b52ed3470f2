/**
 * Transfers the leadership before this member stops, so that the others need not wait for an election timeout.
 *
 * Meanwhile this member keeps arriving calls and then sends them to the new leader. A sole voter has no other member to
 * hand over to, so it does not wait.
 */

import type { RaftCore } from "../../raft/index.ts";

export class Handover {
  readonly #core: RaftCore;
  readonly #untilMs: number;
  readonly #done: () => void;
  #hasEnded = false;

  /** Tries until `untilMs` on the monotonic clock; `done` is called once, by `proceed` or `end`. */
  constructor(core: RaftCore, untilMs: number, done: () => void) {
    this.#core = core;
    this.#untilMs = untilMs;
    this.#done = done;
  }

  /** Continues the handover. Returns true once, when it ends: this member must not lead again. */
  proceed(nowMs: number, isSoleVoter: boolean): boolean {
    if (this.#hasEnded) {
      return false;
    }
    if (this.#core.role === "leader" && !isSoleVoter && nowMs < this.#untilMs) {
      if (!this.#core.isTransferring) {
        this.#core.transfer(0);
      }
      return false;
    }
    this.end();
    return true;
  }

  end(): void {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      this.#done();
    }
  }
}
