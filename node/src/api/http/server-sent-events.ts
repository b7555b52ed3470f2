/**
 * Server-sent events (HTML Living Standard, section 9.2) on a stream: each with an id, by which a client says where it
 * was when it comes back.
 *
 * Something is sent at least every ten seconds, so that both ends and all between them see that the connection lives. A
 * client that takes nothing for half a minute is cut off.
 */

import type { Scheduler } from "../../replica/index.ts";
import { CoordinationError } from "../../state/index.ts";
import type { ResponseStream } from "../methods/index.ts";

export const EVENT_STREAM_TYPE = "text/event-stream";

export interface ServerSentEvent {
  /** In one line. */
  readonly id: string;
  /** In one line. */
  readonly data: string;
}

/** Less than what proxies and clients take for the silence of a dead connection. */
export const HEARTBEAT_MS = 10_000;
const BEATS_UNTAKEN_MAX = 3;
/** A comment, which clients ignore. */
const HEARTBEAT = Buffer.from(": \n\n");
/** How long a client waits before it comes back, in milliseconds; also the sign that the stream is open. */
const OPENING = Buffer.from("retry: 1000\n\n");

export class ServerSentEvents {
  readonly #stream: ResponseStream;
  /** What was sent and is not taken yet. */
  #untaken = 0;
  #beatsUntaken = 0;
  #isQuiet = true;

  constructor(stream: ResponseStream) {
    this.#stream = stream;
  }

  /** Says that the stream is open, and keeps it so. */
  begin(scheduler: Pick<Scheduler, "every">): void {
    this.#send(OPENING);
    this.#stream.onOver(scheduler.every(HEARTBEAT_MS, () => this.#beat()));
  }

  /** Calls `taken` once they are not in memory any more, never if the stream ends before. */
  send(events: readonly ServerSentEvent[], taken: () => void): void {
    this.#send(Buffer.from(events.map(({ id, data }) => `id: ${id}\ndata: ${data}\n\n`).join("")), taken);
  }

  #beat(): void {
    if (this.#untaken === 0) {
      this.#beatsUntaken = 0;
      if (this.#isQuiet) {
        this.#send(HEARTBEAT);
      }
      this.#isQuiet = true;
    } else if (++this.#beatsUntaken >= BEATS_UNTAKEN_MAX) {
      this.#stream.fail(new CoordinationError("OVERLOADED", "the client does not take what is sent to it"));
    }
  }

  #send(bytes: Uint8Array, taken = (): void => undefined): void {
    this.#isQuiet = false;
    this.#untaken++;
    this.#stream.send(bytes, () => {
      this.#untaken--;
      this.#beatsUntaken = 0;
      taken();
    });
  }
}
