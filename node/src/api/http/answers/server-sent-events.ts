/**
 * Server-sent events (HTML Living Standard, section 9.2) on a stream. Each event has an id, with which a client resumes
 * after a reconnect.
 *
 * Something is sent at least every ten seconds, so that both ends and the proxies between them see that the connection
 * is alive. A client that takes nothing for half a minute is disconnected.
 */

import type { Scheduler } from "../../../replica/index.ts";
import { CoordinationError } from "../../../state/index.ts";
import type { ResponseStream } from "../../methods/index.ts";

export const EVENT_STREAM_TYPE = "text/event-stream";

export interface ServerSentEvent {
  /** One line. */
  readonly id: string;
  /** The name of the event, one line; absent = a message, which readers get without naming it. */
  readonly event?: string;
  /** One line. */
  readonly data: string;
}

/** Shorter than the silence after which proxies and clients treat a connection as dead. */
export const HEARTBEAT_MS = 10_000;
/** A silence that has lasted for one whole check is broken at the next one. */
const CHECK_MS = HEARTBEAT_MS / 2;
/** Half a minute. */
const CHECKS_UNTAKEN_MAX = 6;
/** A comment, which clients ignore. */
const HEARTBEAT = Buffer.from(": \n\n");
/** How long a client waits before it reconnects, in milliseconds. It also shows that the stream is open. */
const OPENING = Buffer.from("retry: 1000\n\n");

export class ServerSentEvents {
  readonly #stream: ResponseStream;
  /** Number of messages that were sent but not taken yet. */
  #untaken = 0;
  #checksUntaken = 0;
  /** Whether nothing was sent since the last check. */
  #isQuiet = false;

  constructor(stream: ResponseStream) {
    this.#stream = stream;
  }

  /** Sends the opening, and then heartbeats. */
  begin(scheduler: Pick<Scheduler, "every">): void {
    this.#send(OPENING);
    this.#stream.onEnded(scheduler.every(CHECK_MS, () => this.#check()));
  }

  /** Sends events. Calls `taken` once they have left memory; never if the stream ends before that. */
  send(events: readonly ServerSentEvent[], taken: () => void): void {
    this.#send(Buffer.from(events.map(eventText).join("")), taken);
  }

  #check(): void {
    if (this.#untaken === 0) {
      this.#checksUntaken = 0;
      if (this.#isQuiet) {
        this.#send(HEARTBEAT);
      } else {
        this.#isQuiet = true;
      }
    } else if (++this.#checksUntaken >= CHECKS_UNTAKEN_MAX) {
      this.#stream.fail(new CoordinationError("OVERLOADED", "the client does not read the stream"));
    }
  }

  #send(bytes: Uint8Array, taken = (): void => undefined): void {
    this.#isQuiet = false;
    this.#untaken++;
    this.#stream.send(bytes, () => {
      this.#untaken--;
      this.#checksUntaken = 0;
      taken();
    });
  }
}

function eventText({ id, event, data }: ServerSentEvent): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return `id: ${id}\n${name}data: ${data}\n\n`;
}
