/** Byte arrays: memory pools for them, and native operations on them. Nothing here knows what the bytes mean. */

export { beginsWith, compareBytes, equalBytes, isWithin, withNul } from "./compare.ts";
export { copyOf } from "./copy.ts";
export { KnownTexts } from "./known-texts.ts";
export { asciiOf, latin1Of } from "./latin1.ts";
export { type Slab, SlabPool } from "./slab.ts";
