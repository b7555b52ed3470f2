export type { CompareAndSwap, DeleteKey, ExpireKeys, PutKey } from "./key-commands.ts";
export { type KeyVersion, type KeyVersionPage, listKeyVersions } from "./key-versions.ts";
export {
  applyCompareAndSwap,
  applyDeleteKey,
  applyExpireKeys,
  applyPutKey,
  expiredKeys,
  getKey,
  type KeyPage,
  listKeys,
  type PageBounds,
  readKey,
} from "./keys.ts";
