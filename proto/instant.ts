/** Instants as people and other programs write them. */

/** RFC 3339, a date alone, or a date and a time in UTC. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Its Unix time in milliseconds; NaN for any other text. */
export function parseInstant(text: string): number {
  return INSTANT.test(text) && isDay(text) ? Date.parse(text) : Number.NaN;
}

/** Whether the month has such a day: the parser reads the 30th of February as the 2nd of March. */
function isDay(text: string): boolean {
  const [year = 0, month = 0, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number);
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}
