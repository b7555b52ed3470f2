/**
 * What every answer carries. Paths without a version are of this one; and no browser is to take an answer for anything
 * else than it says, or to let a page that it might show load or do anything.
 */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "API-Version": "v1",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
};
