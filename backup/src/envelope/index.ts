/** Encryption of whole objects as streams, and its keys. */

export { type EncryptionKey as SealingKey, type KeyFile, KeyRing, parseKeys, readKeyFile } from "./key-ring.ts";
export { encrypt as seal } from "./seal.ts";
export {
  type Decrypted as Unsealed,
  type DecryptOptions as UnsealOptions,
  decrypt as unseal,
  encryptionKeyId as sealedWith,
} from "./unseal.ts";
