/**
 * The receive window (RFC 9113 §6.9) of a stream or a connection: the number of bytes that the peer may still send.
 * Consumed bytes are given back to the peer many at once: a WINDOW_UPDATE for each piece would cost more than the
 * bytes.
 */
export class ReceiveWindow {
  readonly #size: number;
  #available: number;
  /** Consumed bytes that are not given back to the peer yet. */
  #returnable = 0;

  constructor(size: number) {
    this.#size = size;
    this.#available = size;
  }

  /** Bytes that were received, or are announced by the present frame, and that are not consumed. */
  get unreadBytes(): number {
    return this.#size - this.#available - this.#returnable;
  }

  /** Counts received bytes. Returns false if the peer was not allowed to send so many. */
  receive(count: number): boolean {
    if (count > this.#available) {
      return false;
    }
    this.#available -= count;
    return true;
  }

  /** Counts consumed bytes. Returns by how much the peer's window grows now; often 0. */
  release(count: number): number {
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
