/**
 * Cross-origin requests of browsers (CORS, the Fetch standard): pages of named origins may call the interface, and read
 * its answers with all of their headers. Without such origins nothing is sent, and browsers refuse.
 *
 * Tokens come in a header that pages set themselves, never in cookies. So credentials are not allowed.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { COMMON_HEADERS } from "../answers/index.ts";

/** How long a browser may keep the answer to its question, in seconds: the maximum of Chromium. */
const MAX_AGE_SECS = 7_200;
const NO_CONTENT = 204;
const METHODS = "GET, HEAD, POST, PATCH, DELETE";

export class CrossOrigin {
  readonly #origins: ReadonlySet<string>;

  /** @param origins such as https://console.example.com; none = pages of no other origin may call. */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /**
   * Adds the headers that let a page read the answer. Returns true if the request was only the browser's question
   * whether the page may send another one, which is then answered.
   */
  serve(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#origins.size === 0) {
      return false;
    }
    // Also without an origin: a cache must not give that answer to a page.
    response.setHeader("Vary", "Origin");
    const { origin } = request.headers;
    if (origin === undefined || !this.#origins.has(origin)) {
      return false;
    }
    response.setHeader("Access-Control-Allow-Origin", origin);
    const asked = request.headers["access-control-request-headers"];
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) {
      response.setHeader("Access-Control-Expose-Headers", "*");
      return false;
    }
    for (const [name, value] of COMMON_HEADERS) {
      response.setHeader(name, value);
    }
    response.setHeader("Access-Control-Allow-Methods", METHODS);
    response.setHeader("Access-Control-Max-Age", MAX_AGE_SECS);
    if (asked !== undefined) {
      // The member ignores headers that it does not know, so a page may send any.
      response.setHeader("Access-Control-Allow-Headers", asked);
    }
    response.writeHead(NO_CONTENT).end();
    return true;
  }
}

/** Returns what is wrong with an origin; null if nothing is. */
export function problemOfOrigin(text: string): string | null {
  const form = "must be an origin such as https://console.example.com or http://localhost:3000";
  try {
    const { origin, protocol } = new URL(text);
    return origin === text && (protocol === "https:" || protocol === "http:") ? null : `"${text}" ${form}`;
  } catch {
    return `"${text}" ${form}`;
  }
}
