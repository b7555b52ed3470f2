/**
 * The headers of every answer. Paths without a version have this API version. A browser must not guess another type for
 * an answer, nor let an answer that it shows as a page load or do anything.
 */
export const COMMON_HEADERS: readonly (readonly [string, string])[] = [
  ["API-Version", "v1"],
  ["X-Content-Type-Options", "nosniff"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["Referrer-Policy", "no-referrer"],
];
