/**
 * The rate limits of one member. Each member counts for itself, so that no member waits for another. A client that uses
 * three members therefore has three times the limit.
 */

export interface RateLimit {
  /** Requests within `windowSecs`, in the long run; 0 = no limit. */
  readonly requests: number;
  readonly windowSecs: number;
  /** Requests at once after a pause. At least 1. */
  readonly burst: number;
}

/** The limits that are in force. Every request reads them, and they may change between two requests. */
export interface RateLimits {
  /** Requests of one user on the HTTP port, and calls on the gRPC port. */
  readonly http: RateLimit;
  readonly grpc: RateLimit;
  /** Requests of one address on the HTTP port for what needs no token and has no limit of its own. */
  readonly openRequests: RateLimit;
  /** Requests of one address to POST /auth/token, and requests of one address with a key that gives no token. */
  readonly tokenRequests: RateLimit;
  readonly tokenFailures: RateLimit;
  /** Requests of one address to POST /auth/login, and failed logins of one address for one account. */
  readonly loginRequests: RateLimit;
  readonly loginFailures: RateLimit;
}

const WINDOW_SECS = 60;
/** 20,000 per second, and a burst of twice as many: a busy service must never reach it. */
const BUSY_SERVICE: RateLimit = { requests: 1_200_000, windowSecs: WINDOW_SECS, burst: 40_000 };

export const DEFAULT_RATE_LIMITS: RateLimits = {
  http: BUSY_SERVICE,
  grpc: BUSY_SERVICE,
  openRequests: { requests: 6_000, windowSecs: WINDOW_SECS, burst: 1_000 },
  tokenRequests: { requests: 1_200, windowSecs: WINDOW_SECS, burst: 1_200 },
  tokenFailures: { requests: 60, windowSecs: WINDOW_SECS, burst: 60 },
  loginRequests: { requests: 300, windowSecs: WINDOW_SECS, burst: 300 },
  loginFailures: { requests: 10, windowSecs: WINDOW_SECS, burst: 10 },
};
