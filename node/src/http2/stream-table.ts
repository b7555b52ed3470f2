/**
 * The streams of a connection: the open ones, and the last ones that were reset or ended.
 *
 * The client may send frames for a stream before it knows that the server has reset it; these are ignored. Frames for a
 * stream that ended in another way are errors of the client. So the table stores the last resets and the last ends. An
 * older stream counts as one that the client skipped and never opened.
 */
import type { ServerStream } from "./server-stream.ts";

/** As many as the server could reset before the client learns of the first reset. */
const RESETS_MAX = 4_096;
const ENDS_MAX = 64;

/** The state of a stream that is not open. */
export type ClosedState = "idle" | "reset" | "ended" | "skipped";

export class StreamTable {
  /** The highest number that a client has used. */
  lastId = 0;
  /** Number of streams that have begun. */
  begun = 0;
  readonly #open = new Map<number, ServerStream>();
  /** In the order in which they were reset. */
  readonly #resets = new Set<number>();
  readonly #ends: number[] = [];
  #nextEnd = 0;

  get size(): number {
    return this.#open.size;
  }

  get(id: number): ServerStream | undefined {
    return this.#open.get(id);
  }

  /** The open streams. A stream may be removed during the iteration. */
  values(): Iterable<ServerStream> {
    return this.#open.values();
  }

  add(stream: ServerStream): void {
    this.begun++;
    this.#open.set(stream.id, stream);
  }

  /** Ends a stream in another way than by a reset of the server. */
  end(id: number): void {
    this.#open.delete(id);
    this.#ends[this.#nextEnd] = id;
    this.#nextEnd = (this.#nextEnd + 1) % ENDS_MAX;
  }

  /** Notes that the server has reset a stream, possibly before it began. */
  reset(id: number): void {
    this.#open.delete(id);
    if (this.#resets.size >= RESETS_MAX) {
      const [oldest] = this.#resets;
      this.#resets.delete(oldest as number);
    }
    this.#resets.add(id);
  }

  closedStateOf(id: number): ClosedState {
    // A server without push opens no streams, so streams with even numbers never begin.
    if (id > this.lastId || (id & 1) === 0) {
      return "idle";
    }
    if (this.#resets.has(id)) {
      return "reset";
    }
    return this.#ends.includes(id) ? "ended" : "skipped";
  }
}
