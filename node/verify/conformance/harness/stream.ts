/** A streaming call: the messages so far, and how it ended. */

import type { Answer } from "./answer.ts";
import { until } from "./until.ts";

export class Stream<Response> {
  readonly messages: Response[] = [];
  readonly cancel: () => void;
  /** Called for each message. */
  onMessage: ((message: Response) => void) | null = null;
  /** Called once, at the end. */
  onEnd: ((answer: Answer<never>) => void) | null = null;
  #end: Answer<never> | null = null;

  /** @param cancel ends the stream from this side. */
  constructor(cancel: () => void) {
    this.cancel = cancel;
  }

  /** Called by the connection for each message. */
  receive(message: Response): void {
    this.messages.push(message);
    this.onMessage?.(message);
  }

  /** Called by the connection at the end. */
  end(answer: Answer<never>): void {
    if (this.#end === null) {
      this.#end = answer;
      this.onEnd?.(answer);
    }
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
}
