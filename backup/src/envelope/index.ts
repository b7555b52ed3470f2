/** Encryption of whole objects as streams, and its keys. */

export { type KeyFile, KeyRing, parseKeys, readKeyFile, type EncryptionKey as SealingKey } from "./key-ring.ts";
export { encrypt as seal } from "./seal.ts";
export { encryptionKeyId as sealedWith, type Decrypted as Unsealed, type DecryptOptions as UnsealOptions, decrypt as unseal } from "./unseal.ts";
