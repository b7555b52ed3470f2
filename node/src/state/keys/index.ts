export type {
  CompareAndSwap,
  CompareAndSwapResult,
  DeleteKey,
  DeleteKeyResult,
  ExpireKeys,
  PutKey,
  PutKeyResult,
  TouchKey,
} from "./key-commands.ts";
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
  touchKeyOperation,
} from "./keys.ts";
