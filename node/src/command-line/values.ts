/** Values of options that several programs read. For commander: wrong ones raise InvalidArgumentError. */

import { InvalidArgumentError } from "commander";

/** RFC 3339. */
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** A whole number that is not negative. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError("It must be a whole number.");
  }
  return count;
}

/** A time with its zone, in milliseconds since 1970. */
export function parseTime(text: string): number {
  try {
    if (TIME.test(text)) {
      return Temporal.Instant.from(text).epochMilliseconds;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) {
      throw error;
    }
    // A day or an hour that does not exist.
  }
  throw new InvalidArgumentError("It must be a time with its zone in the form of RFC 3339, as 2026-01-31T12:00:00Z.");
}
