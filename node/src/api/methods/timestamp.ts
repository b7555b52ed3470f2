/** Times of the wall clock as HTTP has them. */

/** The wall clock as ISO 8601 in UTC, with milliseconds. */
export function timestamp(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
