/**
 * Caches callers by their tokens, so that a signature is verified once and not for every call.
 *
 * It caches only facts that never change: the cluster has signed this token, with these claims. It does not know
 * whether the user, the API key or the grant is still valid. The cache stores only the SHA-256 of a token. So no token
 * can be read from memory, and a look-up takes the same time for a near miss as for any other miss (S42).
 */

import { hash } from "node:crypto";
import type { Caller } from "./caller.ts";
import { isExpired } from "./claims.ts";

/** About 10 MB when full. Above this number, the least recently used tokens are verified again. */
const COUNT_MAX = 10_000;

export class TokenCache {
  /** In the order of their last use, the least recent first. */
  readonly #callers = new Map<string, Caller>();
  readonly #countMax: number;

  constructor(countMax: number = COUNT_MAX) {
    this.#countMax = countMax;
  }

  /** Number of cached tokens. */
  get size(): number {
    return this.#callers.size;
  }

  /** Returns the caller of the token; undefined if it is not known, or has expired at `wallMs`. */
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

  /** Caches a verified token. */
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
