/** A call that is answered with a stream: what has come so far, and how it ended. */

import type { ClientReadableStream, StatusObject } from "@grpc/grpc-js";
import type { Answer } from "./connection.ts";
import { until } from "./until.ts";

export class Stream<Response> {
  readonly messages: Response[] = [];
  #end: Answer<never> | null = null;
  readonly #call: ClientReadableStream<Response>;

  /** @param endOf makes an answer of the status with which the stream ended. */
  constructor(call: ClientReadableStream<Response>, endOf: (status: StatusObject) => Answer<never>) {
    this.#call = call;
    call.on("data", (message: Response) => {
      this.messages.push(message);
    });
    // Every failed stream has one, and says no more than its status.
    call.on("error", () => undefined);
    call.on("status", (status) => {
      this.#end = endOf(status);
    });
  }

  /** What `enough` makes of the messages so far, once that is something. Rejects if the stream ends before. */
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

  /** How it ended, once it has. */
  ended(): Promise<Answer<never>> {
    return until("the end of the stream", () => this.#end);
  }

  cancel(): void {
    this.#call.cancel();
  }
}
