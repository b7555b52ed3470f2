/** Sends the answers of handlers. */

import type { Response } from "express";
import type { CoordinationError } from "../../../state/index.ts";
import { STREAM_HEADERS } from "../../calls/index.ts";
import type { ResponseStream } from "../../methods/index.ts";
import { ASKED_CACHING, httpErrorOf, sendFile } from "../answers/index.ts";
import { forgetHeaders } from "../requests/index.ts";
import type { Answer } from "./route.ts";

/** A stream must end within a second after its reason (S39); detecting the reason takes half a second. */
const LINGER_MS = 250;

/** @param status the status of an answer that has none itself. */
export function sendAnswer(
  response: Response,
  status: number,
  answer: Answer<unknown>,
  reportBug: (error: unknown) => void,
): void {
  response.status(status).set(answer.headers ?? {});
  if ("json" in answer) {
    response.json(answer.json);
  } else if ("text" in answer) {
    response.status(answer.status ?? status).type(answer.type);
    response.send(answer.text);
  } else if ("file" in answer) {
    sendFile(response.req, response, answer.file, answer.headers?.["Cache-Control"] ?? ASKED_CACHING);
  } else {
    sendStream(response, answer, reportBug);
  }
}

function sendStream(
  response: Response,
  { type, stream }: Extract<Answer<unknown>, { readonly stream: unknown }>,
  reportBug: (error: unknown) => void,
): void {
  // Set without the framework, which would add a charset.
  response.setHeader("Content-Type", type).setHeaders(new Map(Object.entries(STREAM_HEADERS)));
  if (response.req.method === "HEAD") {
    response.end();
  } else {
    forgetHeaders(response.req);
    stream(new HttpStream(response, reportBug));
    response.flushHeaders();
  }
}

/** A client of a stream that has not taken a message after this time is disconnected. */
const STALL_MS = 60_000;

class HttpStream implements ResponseStream {
  readonly #response: Response;
  readonly #reportBug: (error: unknown) => void;

  constructor(response: Response, reportBug: (error: unknown) => void) {
    this.#response = response;
    this.#reportBug = reportBug;
  }

  get hasEnded(): boolean {
    return this.#response.writableEnded || this.#response.closed;
  }

  onEnded(callback: () => void): void {
    if (this.#response.closed) {
      callback();
    } else {
      this.#response.once("close", callback);
    }
  }

  send(message: Uint8Array, taken: () => void): void {
    if (this.hasEnded) {
      return;
    }
    const stalled = setTimeout(() => this.#response.destroy(), STALL_MS);
    this.#response.write(message, (error) => {
      clearTimeout(stalled);
      if (!error) {
        taken();
      }
    });
  }

  /**
   * After its first byte a stream cannot contain an error: the client reconnects and gets the error then. The member
   * does not wait for a client that does not read the rest.
   */
  fail(error: CoordinationError | Error): void {
    if (httpErrorOf(error).bug) {
      this.#reportBug(error);
    }
    if (!this.hasEnded) {
      const cut = setTimeout(() => this.#response.destroy(), LINGER_MS);
      this.#response.once("close", () => clearTimeout(cut)).end();
    }
  }
}
