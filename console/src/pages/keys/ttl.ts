/** The time to live of a key, as a person enters it. */

import { ValueProblem } from "../../text/index.ts";

export const TTL_HINT = "Up to 31,536,000 (a year). Empty: the key does not expire.";
const TTL_SECONDS_MAX = 31_536_000;

/** Seconds; 0 = the key does not expire. Throws a ValueProblem. */
export function ttlOf(text: string): number {
  const seconds = text.trim() === "" ? 0 : Number(text);
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > TTL_SECONDS_MAX) {
    throw new ValueProblem("The time to live must be a whole number of seconds from 1 to 31,536,000, or empty.");
  }
  return seconds;
}
