/** A streaming call: the messages so far, and how it ended. */

import type { ClientReadableStream, StatusObject } from "@grpc/grpc-js";
import type { Answer } from "./connection.ts";
import { until } from "./until.ts";

export class Stream<Response> {
  readonly messages: Response[] = [];
  #end: Answer<never> | null = null;
  readonly #call: ClientReadableStream<Response>;

  /** @param endOf converts the final status of the stream to an answer */
  constructor(call: ClientReadableStream<Response>, endOf: (status: StatusObject) => Answer<never>) {
    this.#call = call;
    call.on("data", (message: Response) => {
      this.messages.push(message);
    });
    // Every failed stream has an error, with no more information than its status.
    call.on("error", () => undefined);
    call.on("status", (status) => {
      this.#end = endOf(status);
    });
  }

  /**
   * Waits until `enough` returns a result for the messages so far, and returns it. Rejects if the stream ends before.
   */
  until<Enough>(
    what: string,
    enough: (messages: readonly Response[]) => Enough | null | undefined | false,
  ): Promise<Enough> {
    return until(what, () => {
      const found = enough(this.messages);
      if (this.#end !== null && (found === null || found === undefined || found === false)) {
        throw new Error(`the stream ended before ${what}: ${this.#end.code} ${this.#end.message}`);
      }
      return found;
    });
  }

  /** Waits for the end of the stream. */
  ended(): Promise<Answer<never>> {
    return until("the end of the stream", () => this.#end);
  }

  cancel(): void {
    this.#call.cancel();
  }
}
