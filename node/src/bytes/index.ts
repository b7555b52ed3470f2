/** Byte arrays: memory pools for them, and native operations on them. Nothing here knows what the bytes mean. */

export { ByteTable, type Keyed } from "./byte-table.ts";
export { beginsWith, compareBytes, equalBytes, isWithin, withNul } from "./compare.ts";
export { copyOf } from "./copy.ts";
export { type HashSeed, hashOf, KeyHash } from "./key-hash.ts";
export { KnownTexts } from "./known-texts.ts";
export { asciiOf, latin1Of } from "./latin1.ts";
export { type Slab, SlabPool } from "./slab.ts";
