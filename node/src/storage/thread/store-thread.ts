/**
 * The main thread's side of a worker thread for one store.
 *
 * Replies come in the order of the requests. A `fatal` reply, an error or an unexpected end of the thread is reported
 * once, as a StoreError of the thread's error kind. Later replies are ignored, because a failed thread cannot be
 * trusted any more.
 */

import { Worker } from "node:worker_threads";
import { StoreError, type StoreErrorKind } from "../files/index.ts";

/** The reply that every such thread may send besides its own. */
export interface ThreadReply {
  readonly kind: "fatal";
  /**
   * The kind of the error that ended the thread. It is a separate field, because messages between threads lose classes.
   */
  readonly errorKind: StoreErrorKind;
  readonly message: string;
}

/** The last reply of a thread after this error. */
export function fatalReply(error: unknown): ThreadReply {
  return {
    kind: "fatal",
    errorKind: error instanceof StoreError ? error.kind : "io",
    message: error instanceof Error ? error.message : String(error),
  };
}

export class StoreThread<Request, Reply extends { readonly kind: string }> {
  readonly #worker: Worker;
  readonly #name: string;
  readonly #onFatal: (error: StoreError) => void;
  readonly #exited: Promise<void>;
  #failed = false;
  #closing = false;

  constructor(
    entry: URL,
    name: string,
    data: object,
    onReply: (reply: Reply) => void,
    onFatal: (error: StoreError) => void,
  ) {
    this.#name = name;
    this.#onFatal = onFatal;
    this.#worker = new Worker(entry, { workerData: data, name });
    this.#worker.on("message", (reply: Reply | ThreadReply) => {
      if (this.#failed || isOfNode(reply)) {
        return;
      }
      if (isThreadReply(reply)) {
        this.#fail(reply.errorKind, reply.message);
      } else {
        onReply(reply);
      }
    });
    this.#worker.on("error", (error) => this.#fail("io", error instanceof Error ? error.message : String(error)));
    this.#exited = new Promise((resolve) => {
      this.#worker.on("exit", () => {
        if (!this.#closing) {
          this.#fail("io", "it ended");
        }
        resolve();
      });
    });
  }

  /** Whether `close` was called. */
  get isClosing(): boolean {
    return this.#closing;
  }

  post(request: Request, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, transfer);
  }

  /** Posts the request to close, on which the thread finishes its work and ends. Resolves when the thread has ended. */
  async close(request: Request): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      this.post(request);
    }
    if (this.#failed) {
      // A failed thread ignores all requests, including this one.
      await this.#worker.terminate();
    }
    await this.#exited;
  }

  #fail(kind: StoreErrorKind, message: string): void {
    if (this.#failed) {
      return;
    }
    this.#failed = true;
    if (this.#closing) {
      void this.#worker.terminate();
    }
    this.#onFatal(new StoreError(kind, `the ${this.#name} thread failed: ${message}`));
  }
}

function isThreadReply(reply: { readonly kind: string }): reply is ThreadReply {
  return reply.kind === "fatal";
}

/** Under `node --watch`, Node sends its own messages on this channel, about the files that the thread has read. */
function isOfNode(message: object): boolean {
  return "watch:import" in message || "watch:require" in message;
}
