/**
 * The one seed of everything that tests draw: operations, faults, damaged bytes, requests. Without the environment
 * variable QUOIN_SEED it is always the same, so two runs of a test draw the same. `npm run explore` sets it to new
 * values, and a failed test prints the value that repeats its draws.
 */

import { createHash } from "node:crypto";

/** The environment variable with another seed: a whole number in [0, 2³²). */
export const SEED_VARIABLE = "QUOIN_SEED";
/** Number of seeds, from 0 on. */
const SEEDS = 2 ** 32;
const USUAL_SEED = 1;

/** @returns the seed of this process; throws a RangeError if QUOIN_SEED is not a whole number in [0, 2³²) */
export function testSeed(): number {
  const text = process.env[SEED_VARIABLE];
  const seed = text === undefined ? USUAL_SEED : Number(text);
  if (!Number.isInteger(seed) || seed < 0 || seed >= SEEDS || text?.trim() === "") {
    throw new RangeError(`${SEED_VARIABLE} is ${text}, but must be a whole number from 0 to ${SEEDS - 1}`);
  }
  return seed;
}

/**
 * @param purpose separates the draws of tests from each other
 * @param count how many consecutive seeds the caller needs, at least 1
 * @returns the first of them, in [0, 2³² - count]: a function of the purpose, the count, and the seed of this process
 */
export function drawnSeed(purpose: string, count = 1): number {
  return seedFor(purpose, testSeed(), count);
}

/** The same with a given seed, for draws within a test that has drawn its seed. */
export function seedFor(purpose: string, seed: number, count = 1): number {
  const word = createHash("sha256").update(`${purpose} ${seed}`).digest().readUInt32BE(0);
  return word % (SEEDS - count + 1);
}
