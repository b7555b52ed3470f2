/**
 * The queue of streams that have queued bytes and an open window. Each sends one frame in its turn, so that a large
 * answer does not delay others. A stream leaves the queue at once when it ends.
 */
import type { ServerStream } from "./server-stream.ts";

export class SendQueue {
  #first: ServerStream | null = null;
  #last: ServerStream | null = null;

  get first(): ServerStream | null {
    return this.#first;
  }

  /** Adds a stream at the end, unless it is in the queue. */
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

  /** Removes a stream if it is in the queue. */
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
