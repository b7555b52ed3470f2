/** Times of the wall clock in the form of the HTTP contract. */

/** Returns a wall clock time as ISO 8601 in UTC, with milliseconds. */
export function timestamp(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
