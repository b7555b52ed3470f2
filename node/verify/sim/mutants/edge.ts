/** Bugs between clients and methods: secrets, limits of rates and sizes, the order of checks. */

import type { Mutant } from "./mutant.ts";

export const EDGE_MUTANTS: readonly Mutant[] = [
  {
    name: "admin-token-known-by-its-beginning",
    pitfall: "S42",
    file: "api/grpc/admin-access.ts",
    find: "known = timingSafeEqual(digest, shown) || known;",
    replace: "known = timingSafeEqual(digest.subarray(0, 0), shown.subarray(0, 0)) || known;",
  },
  {
    name: "tokens-known-by-their-beginning",
    pitfall: "S42",
    file: "access/token-cache.ts",
    find: '  return hash("sha256", token, "base64url");',
    replace: "  return token.slice(0, 6);",
  },
  {
    name: "chunks-counted-one-by-one",
    pitfall: "S45",
    file: "api/http/body.ts",
    find: "    const length = this.#length + chunk.length;\n    if (length > this.#bytesMax) {",
    replace: "    const length = this.#length + chunk.length;\n    if (chunk.length > this.#bytesMax) {",
  },
  {
    name: "announced-size-not-looked-at",
    pitfall: "S45",
    file: "api/http/body.ts",
    find: 'if (Number(request.headers["content-length"] ?? 0) > bytesMax) {',
    replace: 'if (Number(request.headers["content-length"] ?? 0) < 0) {',
  },
  {
    name: "retry-after-rounded-down",
    pitfall: "S46",
    file: "api/http/http-error.ts",
    find: "String(Math.ceil(afterMs / MS_PER_SECOND))",
    replace: "String(Math.floor(afterMs / MS_PER_SECOND))",
  },
  {
    name: "refusals-take-from-the-bucket",
    pitfall: "rate limits",
    file: "access/rate-limiter.ts",
    find: "    if (missingMs > eachMs * ROUNDING) {",
    replace: "    if (missingMs > eachMs * ROUNDING) {\n      this.#fullAtMs.set(bucket, fullAtMs + eachMs);",
  },
  {
    name: "any-bucket-is-dropped",
    pitfall: "rate limits",
    file: "access/rate-limiter.ts",
    find: "      if (fullAtMs <= nowMs) {",
    replace: "      if (fullAtMs <= nowMs || this.#fullAtMs.size >= this.#bucketsMax) {",
  },
  {
    name: "burst-grows-while-nobody-asks",
    pitfall: "rate limits",
    file: "access/rate-limiter.ts",
    find: "    if (fullAtMs === undefined || fullAtMs < nowMs) {",
    replace: "    if (fullAtMs === undefined) {",
  },
  {
    name: "limits-that-are-gone-keep-out",
    pitfall: "rate limits",
    file: "access/rate-limiter.ts",
    find: "    if (fullAtMs <= emptyMs || this.#owes(bucket, limit)) {",
    replace: "    if (fullAtMs >= emptyMs || this.#owes(bucket, limit)) {",
  },
  {
    name: "renewals-are-limited",
    pitfall: "rate limits",
    file: "api/grpc/lock-service.ts",
    find: "  return fencingToken !== 0n;",
    replace: "  return fencingToken === 0n;",
  },
  {
    name: "limit-after-the-rights",
    pitfall: "rate limits",
    file: "api/http/route-server.ts",
    find: `      takeOne(response, "default", limiter, call.principal.subject);
      await call.authorize(requiredAccessOf(route, request, call));`,
    replace: `      await call.authorize(requiredAccessOf(route, request, call));
      takeOne(response, "default", limiter, call.principal.subject);`,
  },
  {
    name: "path-before-the-token",
    pitfall: "S43",
    file: "api/http/route-server.ts",
    find: "    const call = new HttpCall(this.#options, response, this.#nowMs() + DEADLINE_MS);",
    replace: `    const call = new HttpCall(this.#options, response, this.#nowMs() + DEADLINE_MS);
    readInput(route, request);`,
  },
  {
    name: "late-before-the-handler-is-unknown",
    pitfall: "S12",
    file: "api/http/route-server.ts",
    find: "      throw isOutcomeUnknown(error) ? notAnswered() : error;",
    replace: "      throw isOutcomeUnknown(error) ? deadlineError(route) : error;",
  },
  {
    name: "serializable-however-far-behind",
    pitfall: "S39",
    file: "api/methods/executor.ts",
    find: "  if (lagMs > STALE_MS_MAX) {",
    replace: "  if (lagMs > 10 * STALE_MS_MAX) {",
  },
];
