/** The static table of RFC 7541, Appendix A. HPACK indexes begin at 1; index 0 is unused here. */

/** The table's last index. The dynamic table's first entry has the next index (§2.3.3). */
export const STATIC_INDEX_MAX = 61;

/** Names and values by their index. */
export const STATIC_NAMES: readonly string[] = [
  "",
  ":authority",
  ":method",
  ":method",
  ":path",
  ":path",
  ":scheme",
  ":scheme",
  ":status",
  ":status",
  ":status",
  ":status",
  ":status",
  ":status",
  ":status",
  "accept-charset",
  "accept-encoding",
  "accept-language",
  "accept-ranges",
  "accept",
  "access-control-allow-origin",
  "age",
  "allow",
  "authorization",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-range",
  "content-type",
  "cookie",
  "date",
  "etag",
  "expect",
  "expires",
  "from",
  "host",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "last-modified",
  "link",
  "location",
  "max-forwards",
  "proxy-authenticate",
  "proxy-authorization",
  "range",
  "referer",
  "refresh",
  "retry-after",
  "server",
  "set-cookie",
  "strict-transport-security",
  "transfer-encoding",
  "user-agent",
  "vary",
  "via",
  "www-authenticate",
];

const VALUES_OF_FIRST: readonly string[] = [
  "",
  "",
  "GET",
  "POST",
  "/",
  "/index.html",
  "http",
  "https",
  "200",
  "204",
  "206",
  "304",
  "400",
  "404",
  "500",
  "",
  "gzip, deflate",
];
export const STATIC_VALUES: readonly string[] = STATIC_NAMES.map((_, index) => VALUES_OF_FIRST[index] ?? "");

const firstIndexes = new Map<string, number>();
for (let index = STATIC_INDEX_MAX; index >= 1; index--) {
  firstIndexes.set(STATIC_NAMES[index] as string, index);
}

/** Returns the first index with the name; 0 if the table does not have it. Other entries with this name follow it. */
export function staticIndexOf(name: string): number {
  return firstIndexes.get(name) ?? 0;
}
