/** Encryption of whole objects as streams, and its keys. */

export { type KeyFile, KeyRing, parseKeys, readKeyFile, type SealingKey } from "./key-ring.ts";
export { seal } from "./seal.ts";
export { sealedWith, type Unsealed, type UnsealOptions, unseal } from "./unseal.ts";
