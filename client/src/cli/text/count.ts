/** Parses counts, revisions and summands, and writes counts for people. */

import { InvalidArgumentError } from "commander";

/**
 * Reads a count or a revision: a whole number in decimal, at least 0.
 *
 * @throws InvalidArgumentError of commander, which names the option.
 */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError("Give a whole number from 0 to 2^53 - 1.");
  }
  return count;
}

/**
 * Reads a count that must not be 0.
 *
 * @throws InvalidArgumentError of commander, which names the option.
 */
export function parsePositiveCount(text: string): number {
  const count = parseCount(text);
  if (count === 0) {
    throw new InvalidArgumentError("Give a whole number of at least 1.");
  }
  return count;
}

/**
 * Reads what is added to a number: a whole number in decimal, which may be negative.
 *
 * @throws InvalidArgumentError of commander, which names the argument.
 */
export function parseSummand(text: string): number {
  const summand = Number(text);
  if (!/^[+-]?[0-9]+$/.test(text) || !Number.isSafeInteger(summand)) {
    throw new InvalidArgumentError("Give a whole number within ±(2^53 - 1).");
  }
  return summand;
}

/** Such as `1 key` or `3 keys`. */
export function amountOf(count: number, unit: string): string {
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}

/** Such as `no key is`, `1 key is` or `3 keys are`. */
export function amountThatIs(count: number, unit: string): string {
  return count === 0 ? `no ${unit} is` : `${amountOf(count, unit)} ${count === 1 ? "is" : "are"}`;
}
