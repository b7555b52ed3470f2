/** Encryption of whole objects as streams, and its keys. */

export { type EncryptionKey, type KeyFile, KeyRing, parseKeys, readKeyFile } from "./key-ring.ts";
export { encrypt } from "./seal.ts";
export {
  type Decrypted,
  type DecryptOptions,
  decrypt,
  encryptionKeyId,
} from "./unseal.ts";
