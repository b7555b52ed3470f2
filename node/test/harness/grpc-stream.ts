/** A call that is answered with a stream, as a client sees it: what has come so far, and how it ended. */

import type { ClientReadableStream, StatusObject } from "@grpc/grpc-js";
import { until } from "./until.ts";

export class GrpcStream<Response, End extends object> {
  readonly messages: Response[] = [];
  /** How the stream ended; null while it goes on. */
  end: End | null = null;
  readonly #call: ClientReadableStream<Response>;
  readonly #begun: Promise<void>;

  /** @param endOf makes of the status, with its trailers, how the stream ended. */
  constructor(call: ClientReadableStream<Response>, endOf: (status: StatusObject) => End) {
    this.#call = call;
    const begun = Promise.withResolvers<void>();
    this.#begun = begun.promise;
    call.on("data", (message: Response) => {
      this.messages.push(message);
      begun.resolve();
    });
    // Every failed stream has one, and says no more than its status.
    call.on("error", () => undefined);
    call.on("status", (status) => {
      this.end = endOf(status);
      begun.resolve();
    });
  }

  /** Waits for the first message, or for the end of a stream that has none. */
  begun(): Promise<void> {
    return this.#begun;
  }

  /** Waits until the messages so far are enough, and returns what `enough` makes of them. */
  until<Enough>(what: string, enough: (messages: readonly Response[]) => Enough | null | undefined | false) {
    return until(what, () => {
      const found = enough(this.messages);
      if (this.end !== null && (found === null || found === undefined || found === false)) {
        throw new Error(`the stream ended before ${what}: ${JSON.stringify(this.end)}`);
      }
      return found;
    });
  }

  ended(): Promise<End> {
    return until("the end of the stream", () => this.end);
  }

  /** Reads no more, so that what is sent comes to a stop on its way. */
  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    this.#call.resume();
  }

  cancel(): void {
    this.#call.cancel();
  }
}
