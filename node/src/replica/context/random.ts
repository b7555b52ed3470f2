/** Pseudo-random numbers for election timeouts and for spreading work: seeded, and never for secrets. */

const GOLDEN = 0x9e3779b9;

/** A generator of whole numbers in [0, bound), from a seed (splitmix32, Steele et al. 2014). */
export function seededRandom(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + GOLDEN) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    mixed ^= mixed >>> 15;
    return Math.floor(((mixed >>> 0) / 0x1_0000_0000) * bound);
  };
}
