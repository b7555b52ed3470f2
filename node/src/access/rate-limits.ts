/**
 * How much may be asked for, of one member: limits are kept by each member for itself, so that none of them waits for
 * another, and a client that uses three members has three times as much.
 */

export interface RateLimit {
  /** So many within `windowSecs`, in the long run; 0 = as many as anybody likes. */
  readonly requests: number;
  readonly windowSecs: number;
  /** So many at once, by whoever has asked for nothing for a while. At least 1. */
  readonly burst: number;
}

/** The limits in force; they are looked at with every request, and may change between two. */
export interface RateLimits {
  /** Requests of one user on the HTTP port, and calls on the gRPC port. */
  readonly http: RateLimit;
  readonly grpc: RateLimit;
  /** Requests of one address to POST /auth/token, and those with a key that gives no token. */
  readonly tokenRequests: RateLimit;
  readonly tokenFailures: RateLimit;
  /** Requests of one address to POST /auth/login, and those of one address for one account that did not succeed. */
  readonly loginRequests: RateLimit;
  readonly loginFailures: RateLimit;
}

const WINDOW_SECS = 60;
/** 20,000 a second, for a while twice as many: one busy service must never meet it. */
const BUSY_SERVICE: RateLimit = { requests: 1_200_000, windowSecs: WINDOW_SECS, burst: 40_000 };

export const DEFAULT_RATE_LIMITS: RateLimits = {
  http: BUSY_SERVICE,
  grpc: BUSY_SERVICE,
  tokenRequests: { requests: 1_200, windowSecs: WINDOW_SECS, burst: 1_200 },
  tokenFailures: { requests: 60, windowSecs: WINDOW_SECS, burst: 60 },
  loginRequests: { requests: 300, windowSecs: WINDOW_SECS, burst: 300 },
  loginFailures: { requests: 10, windowSecs: WINDOW_SECS, burst: 10 },
};
