/** A call with a streamed answer, as a client sees it: the messages so far, and how it ended. */

import type { ClientReadableStream, StatusObject } from "@grpc/grpc-js";
import { until } from "./until.ts";

export class GrpcStream<Response, End extends object> {
  readonly messages: Response[] = [];
  /** How the stream ended; null while it goes on. */
  end: End | null = null;
  readonly #call: ClientReadableStream<Response>;
  readonly #begun: Promise<void>;

  /** @param endOf returns how the stream ended, from the status with its trailers. */
  constructor(call: ClientReadableStream<Response>, endOf: (status: StatusObject) => End) {
    this.#call = call;
    const begun = Promise.withResolvers<void>();
    this.#begun = begun.promise;
    call.on("data", (message: Response) => {
      this.messages.push(message);
      begun.resolve();
    });
    // Every failed stream emits one, with no more information than its status.
    call.on("error", () => undefined);
    call.on("status", (status) => {
      this.end = endOf(status);
      begun.resolve();
    });
  }

  /** Waits for the first message, or for the end of an empty stream. */
  begun(): Promise<void> {
    return this.#begun;
  }

  /** Waits until `enough` accepts the messages so far, and returns its result. */
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

  /** Stops reading, so that sent data stops on its way. */
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
