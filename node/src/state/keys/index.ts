export type { CompareAndSwap, DeleteKey, ExpireKeys, PutKey } from "./key-commands.ts";
export { type KeyVersion, type KeyVersionPage, listKeyVersions } from "./key-versions.ts";
export {
  compareAndSwapOperation,
  deleteKeyOperation,
  expiredKeys,
  expireKeysOperation,
  getKey,
  type KeyPage,
  listKeys,
  type PageBounds,
  putKeyOperation,
  readKey,
} from "./keys.ts";
