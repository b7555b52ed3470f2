/**
 * A worker thread that works for one store, seen from the main thread.
 *
 * Requests are answered in order. A reply `fatal`, an error or an unexpected end of the thread is reported once, as a
 * StoreError of the kind that the thread met; nothing is reported after it, because nothing that the thread says can be
 * trusted any more.
 */

import { Worker } from "node:worker_threads";
import { StoreError, type StoreErrorKind } from "./store-error.ts";

/** What every such thread may answer besides its own replies. */
export interface ThreadReply {
  readonly kind: "fatal";
  /** The kind of the error that ended the thread. A message between threads keeps no class, so it is told apart. */
  readonly errorKind: StoreErrorKind;
  readonly message: string;
}

/** The last reply of a thread that this error ended. */
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

  /** Asks the thread to finish what it has and end, by a request that it ends by itself on. Returns when it is gone. */
  async close(request: Request): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      this.post(request);
    }
    if (this.#failed) {
      // A failed thread does nothing any more, also not end.
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

/** Under `node --watch`, Node tells itself by the same way which files a thread has read. */
function isOfNode(message: object): boolean {
  return "watch:import" in message || "watch:require" in message;
}
