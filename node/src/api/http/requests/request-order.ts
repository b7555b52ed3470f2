/**
 * The order of the requests of each connection. A client may send a request before it has the answers to earlier ones
 * (pipelining). Each request begins when the one before is answered, because it may depend on it (RFC 9112, section
 * 9.3.2), and in a turn of its own. Requests behind an answer that ends the connection never begin, so a client can
 * safely send them again.
 */

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Far above the number that clients send ahead. A waiting request takes a few KiB of memory. */
const UNANSWERED_MAX = 256;

export class RequestOrder {
  /** The responses of each connection, in the order of their requests: the unanswered ones, and the latest one. */
  readonly #responses = new WeakMap<Socket, ServerResponse[]>();
  readonly #cut: (socket: Socket) => void;

  /** @param cut closes a connection with too many unanswered requests. */
  constructor(cut: (socket: Socket) => void) {
    this.#cut = cut;
  }

  /**
   * Calls `begin` when all earlier requests of the connection are answered; never if the connection ends before. Ends a
   * connection with too many unanswered requests.
   */
  add(socket: Socket, response: ServerResponse, begin: () => void): void {
    let responses = this.#responses.get(socket);
    if (responses === undefined) {
      responses = [];
      this.#responses.set(socket, responses);
    }
    while (responses[0]?.closed === true) {
      responses.shift();
    }
    const previous = responses.at(-1);
    responses.push(response);
    if (previous === undefined) {
      begin();
    } else if (responses.length > UNANSWERED_MAX) {
      this.#cut(socket);
    } else {
      // In another turn: an answer that is ready at once ends in this one, and so would hundreds of others.
      previous.once("close", () => setImmediate(beginUnlessEnded, socket, begin));
    }
  }

  /** Returns the response to the latest request of the connection. */
  latest(socket: Socket): ServerResponse | undefined {
    return this.#responses.get(socket)?.at(-1);
  }

  /** Returns the response to the latest request that is complete, if its answer has not begun. */
  unanswered(socket: Socket): ServerResponse | undefined {
    return this.#responses
      .get(socket)
      ?.findLast(({ closed, headersSent, req }) => !closed && !headersSent && req.complete);
  }
}

function beginUnlessEnded(socket: Socket, begin: () => void): void {
  if (!socket.destroyed && !socket.writableEnded) {
    begin();
  }
}
