/**
 * A worker thread that works for one store, seen from the main thread.
 *
 * Requests are answered in order. A reply `fatal`, an error or an unexpected end of the thread is reported once, as a
 * StoreError; nothing is reported after it, because nothing that the thread says can be trusted any more.
 */

import { Worker } from "node:worker_threads";
import { StoreError } from "./store-error.ts";

/** What every such thread may answer besides its own replies. */
export type ThreadReply = { readonly kind: "closed" } | { readonly kind: "fatal"; readonly message: string };

export class StoreThread<Request, Reply extends { readonly kind: string }> {
  readonly #worker: Worker;
  readonly #name: string;
  readonly #onFatal: (error: StoreError) => void;
  #failed = false;
  #closed: (() => void) | null = null;

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
      if (this.#failed) {
        return;
      }
      if (isThreadReply(reply)) {
        this.#onThreadReply(reply);
      } else {
        onReply(reply);
      }
    });
    this.#worker.on("error", (error) => this.#fail(error instanceof Error ? error.message : String(error)));
    this.#worker.on("exit", () => {
      if (this.#closed === null) {
        this.#fail("it ended");
      }
    });
  }

  post(request: Request, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, transfer);
  }

  /** Asks the thread to finish what it has and end; the request must be one that it answers with `closed`. */
  close(request: Request): Promise<void> {
    return new Promise((resolve) => {
      this.#closed = resolve;
      if (this.#failed) {
        void this.#worker.terminate().then(() => resolve());
      } else {
        this.post(request);
      }
    });
  }

  #onThreadReply(reply: ThreadReply): void {
    if (reply.kind === "fatal") {
      this.#fail(reply.message);
    } else {
      this.#closed?.();
    }
  }

  #fail(message: string): void {
    if (!this.#failed) {
      this.#failed = true;
      this.#onFatal(new StoreError("io", `the ${this.#name} thread failed: ${message}`));
      this.#closed?.();
    }
  }
}

function isThreadReply(reply: { readonly kind: string }): reply is ThreadReply {
  return reply.kind === "closed" || reply.kind === "fatal";
}
