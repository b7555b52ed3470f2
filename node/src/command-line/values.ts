/** Values of options that several programs read. For commander: wrong ones raise InvalidArgumentError. */

import { InvalidArgumentError } from "commander";

/** A whole number that is not negative. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError("It must be a whole number.");
  }
  return count;
}
