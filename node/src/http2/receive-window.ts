/**
 * How many bytes the peer may still send (RFC 9113 §6.9), on a stream or on a connection. The peer gets bytes back when
 * the consumer has taken them, and many at once: a WINDOW_UPDATE for each would cost more than the bytes.
 */
export class ReceiveWindow {
  readonly #size: number;
  #available: number;
  /** Bytes that the consumer has taken, and that the peer does not know of yet. */
  #returnable = 0;

  constructor(size: number) {
    this.#size = size;
    this.#available = size;
  }

  /** Bytes that were received, or are on their way within a frame, and that the consumer has not taken. */
  get unreadBytes(): number {
    return this.#size - this.#available - this.#returnable;
  }

  /** Counts bytes that were received. Returns false if the peer was not allowed to send as many. */
  receive(count: number): boolean {
    if (count > this.#available) {
      return false;
    }
    this.#available -= count;
    return true;
  }

  /** The consumer has taken bytes. Returns by how much the peer's window grows now: often 0. */
  giveBack(count: number): number {
    this.#returnable += count;
    if (this.#returnable < this.#size / 2) {
      return 0;
    }
    const increment = this.#returnable;
    this.#returnable = 0;
    this.#available += increment;
    return increment;
  }
}
