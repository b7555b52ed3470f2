import fc from "fast-check";

const SURROGATES = { from: 0xd800, count: 0x800 };
const CODE_POINT_MAX = 0x10_ffff;
/** Names that every object of JavaScript inherits. */
const INHERITED = ["__proto__", "constructor", "hasOwnProperty", "toString", "valueOf"];

/** One character: any code point except the surrogates, which UTF-8 cannot carry. */
const character = fc
  .integer({ min: 0, max: CODE_POINT_MAX - SURROGATES.count })
  .map((at) => String.fromCodePoint(at < SURROGATES.from ? at : at + SURROGATES.count));

/**
 * Any text that UTF-8 can carry, as with `fc.string({ unit: "binary" })`: that one takes more than a second of processor
 * time for its first use in a process.
 */
export function anyText(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 19, arbitrary: fc.string({ unit: character }) },
    { weight: 1, arbitrary: fc.constantFrom(...INHERITED) },
  );
}
