/**
 * Callers by the token that they showed, so that a signature is verified once and not with every call.
 *
 * It remembers only what can never change: that this token was signed by the cluster, with these claims. Whether the
 * user, the API key or the grant still stands is never answered from here. Tokens are kept as SHA-256, so no token can
 * be read out of memory, and a look-up takes as long for a near miss as for any other (S42).
 */

import { hash } from "node:crypto";
import type { Caller } from "./caller.ts";
import { isExpired } from "./claims.ts";

/** About 10 MB when full; beyond it the callers that were quiet the longest are verified again. */
const COUNT_MAX = 10_000;

export class TokenCache {
  /** In the order of their last use, the oldest first. */
  readonly #callers = new Map<string, Caller>();
  readonly #countMax: number;

  constructor(countMax: number = COUNT_MAX) {
    this.#countMax = countMax;
  }

  /** The number of tokens kept. */
  get size(): number {
    return this.#callers.size;
  }

  /** Whom the token speaks for, or undefined if it is not known to be good at `wallMs`. */
  get(token: string, wallMs: number): Caller | undefined {
    const digest = digestOf(token);
    const caller = this.#callers.get(digest);
    if (caller === undefined) {
      return undefined;
    }
    this.#callers.delete(digest);
    if (isExpired(caller.claims, wallMs)) {
      return undefined;
    }
    this.#callers.set(digest, caller);
    return caller;
  }

  /** Remembers a verified token. */
  set(token: string, caller: Caller): void {
    this.#callers.set(digestOf(token), caller);
    if (this.#callers.size > this.#countMax) {
      const [oldest] = this.#callers.keys();
      this.#callers.delete(oldest as string);
    }
  }
}

function digestOf(token: string): string {
  return hash("sha256", token, "base64url");
}
