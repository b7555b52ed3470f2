/** Sending what a handler answers. */

import type { Response } from "express";
import type { CoordinationError } from "../../state/index.ts";
import type { ResponseStream } from "../methods/index.ts";
import { httpErrorOf } from "./http-error.ts";
import type { Answer } from "./route.ts";

/** @param status of an answer that does not bring its own. */
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
  } else {
    // Not by the framework, which would name a charset.
    response.setHeader("Content-Type", answer.type).setHeader("Cache-Control", "no-store");
    response.flushHeaders();
    answer.stream(new HttpStream(response, reportBug));
  }
}

class HttpStream implements ResponseStream {
  readonly #response: Response;
  readonly #reportBug: (error: unknown) => void;

  constructor(response: Response, reportBug: (error: unknown) => void) {
    this.#response = response;
    this.#reportBug = reportBug;
  }

  get isOver(): boolean {
    return this.#response.writableEnded || this.#response.closed;
  }

  onOver(callback: () => void): void {
    if (this.#response.closed) {
      callback();
    } else {
      this.#response.once("close", callback);
    }
  }

  send(message: Uint8Array, taken: () => void): void {
    if (this.isOver) {
      return;
    }
    this.#response.write(message, (error) => {
      if (!error) {
        taken();
      }
    });
  }

  /** A stream has no place for an error behind its first byte: the client asks again, and is told then. */
  fail(error: CoordinationError | Error): void {
    if (httpErrorOf(error).bug) {
      this.#reportBug(error);
    }
    if (!this.isOver) {
      this.#response.end();
    }
  }
}
