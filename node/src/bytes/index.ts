/** Byte arrays: memory for them, and what is done with them by native code. Nothing here knows what bytes mean. */

export { compareBytes, equalBytes, isWithin } from "./compare.ts";
export { copyOf } from "./copy.ts";
export { KnownTexts } from "./known-texts.ts";
export { asciiOf, latin1Of } from "./latin1.ts";
export { type Slab, SlabPool } from "./slab.ts";
