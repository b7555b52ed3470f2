/**
 * An endpoint with its channel, and what is known of the connection behind it.
 *
 * A connection does not show that the other side has vanished: a machine without power, or a pod whose address is gone.
 * grpc-js waits for a connection, and for its handshake, as long as the system does, which may be for ever. So an
 * unanswered channel is abandoned, and the next attempt gets its own.
 */

import type { Client } from "@grpc/grpc-js";

/** A call that has been sent. */
export interface SentCall {
  cancel(): void;
}

export class Target {
  readonly endpoint: string;
  readonly channel: Client;
  /** The calls without an answer, of all targets of the client: its end cancels them. */
  readonly calls: Set<SentCall>;
  readonly #onAbandon: () => void;
  /** When the member last answered, on the clock of `performance.now()`. */
  #heardMs = Number.NEGATIVE_INFINITY;

  /** @param onAbandon called when the channel must no longer be used. */
  constructor(endpoint: string, channel: Client, calls: Set<SentCall>, onAbandon: () => void) {
    this.endpoint = endpoint;
    this.channel = channel;
    this.calls = calls;
    this.#onAbandon = onAbandon;
  }

  /** Records that the member has answered. */
  noteAnswer(): void {
    this.#heardMs = performance.now();
  }

  /**
   * A call that began at `startMs` was not answered in time: abandons the channel, unless another call was answered
   * since.
   */
  noteSilence(startMs: number): void {
    if (this.#heardMs < startMs) {
      this.abandon();
    }
  }

  /** The next call gets another channel; calls in flight still get their answers, if any come. */
  abandon(): void {
    this.#onAbandon();
  }
}
