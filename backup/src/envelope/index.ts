/** Encryption of whole objects as streams, and its keys. */

export {
  type Decrypted,
  type DecryptOptions,
  decrypt,
  encryptionKeyId,
} from "./decrypt.ts";
export { encrypt } from "./encrypt.ts";
export { type EncryptionKey, type KeyFile, KeyRing, parseKeys, readKeyFile } from "./key-ring.ts";
