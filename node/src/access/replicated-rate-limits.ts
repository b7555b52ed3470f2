/**
 * The rate limits in force. The cluster's settings can change the limits of users at runtime. Limits that are not set
 * have the values with which the member was started.
 *
 * The settings are read at most once a second, because every request needs the limits.
 */

import { rateLimitOf, type StateReader } from "../state/index.ts";
import type { RateLimit, RateLimits } from "./rate-limits.ts";

/** The member; it has a replica while it serves the state. */
interface StateSource {
  readonly replica: { readonly state: StateReader } | null;
}

/** A changed setting takes effect after at most this time, in milliseconds. */
const REFRESH_INTERVAL_MS = 1_000;

export class ReplicatedRateLimits implements RateLimits {
  readonly openRequests: RateLimit;
  readonly tokenRequests: RateLimit;
  readonly tokenFailures: RateLimit;
  readonly loginRequests: RateLimit;
  readonly loginFailures: RateLimit;
  readonly #unset: RateLimits;
  readonly #source: StateSource;
  readonly #nowMs: () => number;
  #http: RateLimit;
  #grpc: RateLimit;
  #nextRefreshMs = -Infinity;

  /**
   * @param unset the limits with which the member was started
   * @param nowMs monotonic clock in milliseconds
   */
  constructor(unset: RateLimits, source: StateSource, nowMs: () => number) {
    this.openRequests = unset.openRequests;
    this.tokenRequests = unset.tokenRequests;
    this.tokenFailures = unset.tokenFailures;
    this.loginRequests = unset.loginRequests;
    this.loginFailures = unset.loginFailures;
    this.#unset = unset;
    this.#source = source;
    this.#nowMs = nowMs;
    this.#http = unset.http;
    this.#grpc = unset.grpc;
  }

  get http(): RateLimit {
    this.#refresh();
    return this.#http;
  }

  get grpc(): RateLimit {
    this.#refresh();
    return this.#grpc;
  }

  #refresh(): void {
    const nowMs = this.#nowMs();
    const { replica } = this.#source;
    if (nowMs < this.#nextRefreshMs || replica === null) {
      return;
    }
    this.#nextRefreshMs = nowMs + REFRESH_INTERVAL_MS;
    this.#http = rateLimitOf(replica.state, "http", this.#unset.http);
    this.#grpc = rateLimitOf(replica.state, "grpc", this.#unset.grpc);
  }
}
