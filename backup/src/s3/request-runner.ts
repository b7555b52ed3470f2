/**
 * Runs single requests to an S3 server with retries: each attempt has a deadline, their number is bounded, and the
 * backoff grows. Errors that a retry cannot fix are not retried.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { failureOf, problemOf, type S3Problem } from "./s3-errors.ts";

export interface RetryPolicy {
  /** The total number of attempts. */
  readonly attempts: number;
  /** The maximum wait before the second attempt; doubled for each further one, up to delayMsMax. */
  readonly delayMs: number;
  readonly delayMsMax: number;
  /** How long an attempt may take, not counting the time for its bytes; and how long a download may stall. */
  readonly deadlineMs: number;
  /** The slowest supported connection: an attempt gets the extra time that its bytes need there. */
  readonly bytesPerMs: number;
}

/** Covers half a minute of trouble; for more, the caller decides. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  attempts: 7,
  delayMs: 500,
  delayMsMax: 8000,
  deadlineMs: 30_000,
  bytesPerMs: 64,
};

/** One attempt of a request; it ends when the signal does. */
export type Attempt<T> = (signal: AbortSignal) => Promise<T>;

export interface RequestOptions<T> {
  /** For errors, such as "put a/b". */
  readonly operation: string;
  /** Bytes of the body. */
  readonly bytes?: number;
  /**
   * Called with each problem. A result other than undefined becomes the result of the request. `isFirst` = no earlier
   * attempt can have had an effect.
   */
  readonly recover?: (problem: S3Problem, isFirst: boolean) => Promise<T | undefined> | T | undefined;
}

export class RequestRunner {
  readonly #store: string;
  readonly #policy: RetryPolicy;

  /** @param store its address, for errors */
  constructor(store: string, policy: RetryPolicy) {
    this.#store = store;
    this.#policy = policy;
  }

  get policy(): RetryPolicy {
    return this.#policy;
  }

  /** Raises a StoreFailure. */
  async run<T>(attempt: Attempt<T>, { operation, bytes = 0, recover }: RequestOptions<T>): Promise<T> {
    for (let number = 1; ; number++) {
      try {
        return await this.#once(attempt, bytes);
      } catch (error) {
        const problem = problemOf(error);
        const recovered = await recover?.(problem, number === 1);
        if (recovered !== undefined) {
          return recovered;
        }
        if (!problem.isRetriable || number >= this.#policy.attempts) {
          throw failureOf(this.#store, operation, problem);
        }
        await this.pause(number);
      }
    }
  }

  /**
   * Waits the backoff after this many failed attempts: at least half of it, and a random part of the rest, so that
   * members do not retry all at once.
   */
  async pause(failedAttempts: number): Promise<void> {
    const limitMs = Math.min(this.#policy.delayMs * 2 ** (failedAttempts - 1), this.#policy.delayMsMax);
    await sleep(limitMs / 2 + (Math.random() * limitMs) / 2);
  }

  /** The signal ends the request only until its answer, not the reading of a body afterwards. */
  async #once<T>(attempt: Attempt<T>, bytes: number): Promise<T> {
    const deadlineMs = this.#policy.deadlineMs + bytes / this.#policy.bytesPerMs;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), deadlineMs);
    try {
      return await attempt(controller.signal);
    } catch (error) {
      if (controller.signal.aborted) {
        throw Object.assign(new Error(`no answer within ${Math.round(deadlineMs / 1000)} s`), { name: "TimeoutError" });
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
