/** Parsers for option values that several programs use. For commander: a wrong value raises InvalidArgumentError. */

import { InvalidArgumentError } from "commander";

/** The date-time format of RFC 3339. */
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** The words for both values, in any case. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "1", "yes", "on"].map((word) => [word, true] as const),
  ...["false", "0", "no", "off"].map((word) => [word, false] as const),
]);

/** For a parser: raises InvalidArgumentError with the rule unless the value keeps it. */
export function requireRule(isKept: boolean, rule: string): asserts isKept {
  if (!isKept) {
    throw new InvalidArgumentError(rule);
  }
}

/** The value of a flag that is on or off. Its variable in the environment has the same words. */
export function parseBoolean(text: string): boolean {
  const value = BOOLEANS.get(text.toLowerCase());
  requireRule(value !== undefined, "It must be true, 1, yes or on, or false, 0, no or off.");
  return value;
}

/** A whole number from 0 to 2^53 - 1. */
export function parseCount(text: string): number {
  const count = Number(text);
  requireRule(/^[0-9]+$/.test(text) && Number.isSafeInteger(count), "It must be a whole number.");
  return count;
}

/** A whole number of milliseconds, below a million seconds. */
export function parseMilliseconds(text: string): number {
  requireRule(/^[0-9]{1,9}$/.test(text), "It must be a whole number of milliseconds.");
  return Number(text);
}

/** A parser that takes these words alone. */
export function parseChoice<Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const chosen = choices.find((choice) => choice === text);
    requireRule(chosen !== undefined, `Allowed choices are ${choices.join(", ")}.`);
    return chosen;
  };
}

/** A time with its zone, as milliseconds since 1970. */
export function parseTime(text: string): number {
  try {
    if (TIME.test(text)) {
      return Temporal.Instant.from(text).epochMilliseconds;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) {
      throw error;
    }
    // The text names a day or an hour that does not exist.
  }
  throw new InvalidArgumentError("It must be a time with its zone in the form of RFC 3339, as 2026-01-31T12:00:00Z.");
}
