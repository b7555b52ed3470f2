/**
 * The streams that have bytes waiting and a window of their own for them, in the order in which they send: one frame each,
 * so that a large answer does not hold up others. A stream leaves it at once when it ends.
 */
import type { ServerStream } from "./server-stream.ts";

export class SendQueue {
  #first: ServerStream | null = null;
  #last: ServerStream | null = null;

  get first(): ServerStream | null {
    return this.#first;
  }

  /** Adds a stream as the last one, unless it is there. */
  add(stream: ServerStream): void {
    if (stream.isQueued) {
      return;
    }
    stream.isQueued = true;
    stream.previous = this.#last;
    if (this.#last === null) {
      this.#first = stream;
    } else {
      this.#last.next = stream;
    }
    this.#last = stream;
  }

  /** Removes a stream, if it is there. */
  remove(stream: ServerStream): void {
    if (!stream.isQueued) {
      return;
    }
    const { previous, next } = stream;
    if (previous === null) {
      this.#first = next;
    } else {
      previous.next = next;
    }
    if (next === null) {
      this.#last = previous;
    } else {
      next.previous = previous;
    }
    stream.isQueued = false;
    stream.previous = null;
    stream.next = null;
  }
}
