/**
 * The streams of a connection: those that are open, and what is remembered of those that are not.
 *
 * Frames for a stream that the server has reset may be on their way: they are ignored, where those for a stream that ended
 * otherwise are mistakes of the client. So the last resets are remembered, and the last ends. One that is forgotten counts
 * as a stream that was never opened, and skipped by the client.
 */
import type { ServerStream } from "./server-stream.ts";

/** As many as could be reset before the client reads of the first one. */
const RESETS_MAX = 4_096;
const ENDS_MAX = 64;

/** What a number means for which no stream is open. */
export type ClosedState = "idle" | "reset" | "ended" | "skipped";

export class StreamTable {
  /** The highest number that a client has used. */
  lastId = 0;
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

  /** The open streams. One may be removed meanwhile. */
  values(): Iterable<ServerStream> {
    return this.#open.values();
  }

  add(stream: ServerStream): void {
    this.#open.set(stream.id, stream);
  }

  /** A stream has ended, but not because the server has reset it. */
  end(id: number): void {
    this.#open.delete(id);
    this.#ends[this.#nextEnd] = id;
    this.#nextEnd = (this.#nextEnd + 1) % ENDS_MAX;
  }

  /** The server has reset a stream, which may be one that it did not let begin. */
  reset(id: number): void {
    this.#open.delete(id);
    if (this.#resets.size >= RESETS_MAX) {
      const [oldest] = this.#resets;
      this.#resets.delete(oldest as number);
    }
    this.#resets.add(id);
  }

  closedStateOf(id: number): ClosedState {
    // A server that pushes nothing opens no stream, so those with even numbers never begin.
    if (id > this.lastId || (id & 1) === 0) {
      return "idle";
    }
    if (this.#resets.has(id)) {
      return "reset";
    }
    return this.#ends.includes(id) ? "ended" : "skipped";
  }
}
