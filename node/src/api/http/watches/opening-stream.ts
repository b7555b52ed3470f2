/**
 * The stream of a method before the answer has begun. A refusal of the method is then still an answer with a status of
 * its own. When the method has opened the stream, the answer begins, and gets what was sent meanwhile.
 */

import type { CoordinationError } from "../../../state/index.ts";
import type { CancellableCall, ResponseStream } from "../../methods/index.ts";

/** A stream without a reader: a method that opens it closes it at once. */
const ENDED_STREAM: ResponseStream = {
  hasEnded: true,
  onEnded: (callback) => callback(),
  send: () => undefined,
  fail: () => undefined,
};

export class OpeningStream implements ResponseStream {
  readonly #opened = Promise.withResolvers<void>();
  #answer: ResponseStream | null = null;
  /** What the method did before the answer began, in its order. */
  #early: ((answer: ResponseStream) => void)[] = [];
  #hasFailed = false;

  /** @param call if its client leaves before the answer has begun, the stream ends. */
  constructor(call: Pick<CancellableCall, "onGone">) {
    call.onGone(() => {
      if (this.#answer === null) {
        this.abandon();
      }
    });
  }

  /** Resolves when the method has opened the stream. Rejects with its refusal. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  get hasEnded(): boolean {
    return this.#hasFailed || (this.#answer?.hasEnded ?? false);
  }

  /** A method calls this when its stream is open. */
  onEnded(callback: () => void): void {
    this.#pass((answer) => answer.onEnded(callback));
    this.#opened.resolve();
  }

  send(message: Uint8Array, taken: () => void): void {
    this.#pass((answer) => answer.send(message, taken));
  }

  fail(error: CoordinationError | Error): void {
    this.#pass((answer) => answer.fail(error));
    this.#hasFailed = true;
    // Without effect on a stream that is open.
    this.#opened.reject(error);
  }

  /** Ends the stream, because its answer has no body. */
  abandon(): void {
    this.attach(ENDED_STREAM);
  }

  /** Begins the answer. */
  attach(answer: ResponseStream): void {
    this.#answer = answer;
    for (const pass of this.#early.splice(0)) {
      pass(answer);
    }
  }

  #pass(act: (answer: ResponseStream) => void): void {
    if (this.#answer === null) {
      this.#early.push(act);
    } else {
      act(this.#answer);
    }
  }
}
