/**
 * Runs single requests at an S3 server: each attempt with a deadline, a bounded number of them, longer and longer apart. What
 * cannot be repaired by another attempt is not tried again.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { failureOf, problemOf, type S3Problem } from "./s3-errors.ts";

export interface RetryPolicy {
  /** How often a request is tried in all. */
  readonly attempts: number;
  /** Wait before the second attempt, at most; doubled for each further one, up to delayMsMax. */
  readonly delayMs: number;
  readonly delayMsMax: number;
  /** How long an attempt may take, beside the time for its bytes; and how long a download may stand still. */
  readonly deadlineMs: number;
  /** The slowest line that is waited for: an attempt may take so much longer as its bytes need there. */
  readonly bytesPerMs: number;
}

/** Half a minute of trouble is outlasted; more is for the caller to decide. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  attempts: 7,
  delayMs: 500,
  delayMsMax: 8000,
  deadlineMs: 30_000,
  bytesPerMs: 64,
};

/** What one request does; it ends when the signal does. */
export type Attempt<T> = (signal: AbortSignal) => Promise<T>;

export interface RequestOptions<T> {
  /** As in "put a/b", for errors. */
  readonly operation: string;
  /** Bytes of the body. */
  readonly bytes?: number;
  /**
   * Called with each problem: what it returns, unless it is undefined, is the result. `isFirst` says that no earlier attempt
   * can have had an effect.
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

  /** Waits as long as is due after so many failed attempts: a random part of it, so that members do not come all at once. */
  async pause(failedAttempts: number): Promise<void> {
    const limitMs = Math.min(this.#policy.delayMs * 2 ** (failedAttempts - 1), this.#policy.delayMsMax);
    await sleep(limitMs / 2 + (Math.random() * limitMs) / 2);
  }

  /** The signal ends the request only until it is answered, not the reading of a body after it. */
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
