export type {
  CompareAndSwap,
  CompareAndSwapResult,
  DeleteKey,
  DeleteKeyResult,
  DeleteKeys,
  DeleteKeysResult,
  ExpireKeys,
  IncrementKey,
  IncrementKeyResult,
  ListKeys,
  ListKeysResult,
  PutKey,
  PutKeyResult,
  ReadKey,
  ReadKeyResult,
  RemoveKey,
  RemoveKeyResult,
  TouchKey,
  TouchKeyResult,
} from "./key-commands.ts";
export { countKeys, type KeyCount } from "./key-count.ts";
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
  removeKey,
  touchKeyOperation,
} from "./keys.ts";
export {
  deleteKeysOperation,
  incrementKeyOperation,
  listKeysOperation,
  readKeyOperation,
  removeKeyOperation,
} from "./transacted-keys.ts";
