/**
 * A connection to an API server in the same process, without sockets: a pass of the operator makes a dozen requests,
 * and most of their cost is HTTP. The specs of the client itself use sockets.
 */
import { Dispatcher, errors } from "undici";
import type { Connection } from "../../src/kube/index.ts";
import type { Reply, Request } from "./exchange.ts";

type Headers = Record<string, string>;

/** Each request takes effect in another turn of the event loop, as if it came through a socket. */
export function directConnection(serve: (request: Request, reply: Reply) => void): Connection {
  const open = new Set<DirectReply>();
  class Direct extends Dispatcher {
    override dispatch(
      { method, path, body }: Dispatcher.DispatchOptions,
      handler: Dispatcher.DispatchHandler,
    ): boolean {
      const reply = new DirectReply(handler, () => open.delete(reply));
      open.add(reply);
      handler.onRequestStart?.(reply, null);
      setImmediate(() => {
        if (!reply.aborted) {
          serve({ method, url: path, text: typeof body === "string" ? body : "" }, reply);
        }
      });
      return true;
    }
  }
  return {
    url: "http://localhost",
    dispatcher: new Direct(),
    headers: async () => ({}),
    close: async () => {
      for (const reply of open) {
        reply.abort(new errors.ClientDestroyedError());
      }
    },
  };
}

/** The answer to a request, as its server writes it, and as its client reads it. */
class DirectReply implements Reply, Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #onClose: (() => void)[];
  aborted = false;
  readonly paused = false;
  reason: Error | null = null;

  constructor(handler: Dispatcher.DispatchHandler, onClose: () => void) {
    this.#handler = handler;
    this.#onClose = [onClose];
  }

  writeHead(status: number, headers: Headers = {}): this {
    this.#handler.onResponseStart?.(this, status, headers);
    return this;
  }

  flushHeaders(): void {}

  write(text: string): void {
    if (!this.aborted) {
      this.#handler.onResponseData?.(this, Buffer.from(text));
    }
  }

  end(text = ""): void {
    if (!this.aborted) {
      this.write(text);
      this.#close();
      this.#handler.onResponseEnd?.(this, {});
    }
  }

  destroy(): void {
    this.abort(new errors.SocketError("other side closed"));
  }

  on(_event: "close", listener: () => void): void {
    this.#onClose.push(listener);
  }

  abort(reason: Error): void {
    if (!this.aborted) {
      this.#close();
      this.reason = reason;
      this.#handler.onResponseError?.(this, reason);
    }
  }

  pause(): void {}

  resume(): void {}

  #close(): void {
    this.aborted = true;
    for (const listener of this.#onClose.splice(0)) {
      listener();
    }
  }
}
