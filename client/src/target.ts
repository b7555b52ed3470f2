/**
 * An endpoint with its channel, and what is known of the connection behind it.
 *
 * Nothing on a connection tells that the other side is gone without a word: a machine that has lost its power, a pod of
 * which the address went with it. grpc-js waits for a connection, and for the handshake on it, as long as the system does,
 * which may be for ever. So what does not answer is abandoned, and the next attempt gets a channel of its own.
 */

import type { Client } from "@grpc/grpc-js";

export class Target {
  readonly endpoint: string;
  readonly channel: Client;
  readonly #onAbandon: () => void;
  /** When the member was heard of last, on the clock of `performance.now()`. */
  #heardMs = Number.NEGATIVE_INFINITY;

  /** @param onAbandon called when the channel is to be used no more. */
  constructor(endpoint: string, channel: Client, onAbandon: () => void) {
    this.endpoint = endpoint;
    this.channel = channel;
    this.#onAbandon = onAbandon;
  }

  /** The member has answered something. */
  noteAnswer(): void {
    this.#heardMs = performance.now();
  }

  /** A call that began at `startMs` was not answered in time: gives the channel up unless another call was. */
  noteSilence(startMs: number): void {
    if (this.#heardMs < startMs) this.abandon();
  }

  /** The next call gets another channel; calls in flight still get their answers, should there be any. */
  abandon(): void {
    this.#onAbandon();
  }
}
