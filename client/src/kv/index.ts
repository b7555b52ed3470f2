export {
  type CompareAndSwapOptions,
  type CompareAndSwapResult,
  type CreateNamespaceResult,
  type DeleteOptions,
  type DeleteResult,
  type GetResult,
  type KeyEntry,
  type KeyPage,
  KeyValueClient,
  type ListNamespacesOptions,
  type ListOptions,
  type ListPageOptions,
  type NamespacePage,
  type PreviousEntry,
  type PutOptions,
  type PutResult,
} from "./key-value.ts";
export type { KeyVersion, KeyVersionPage, KeyVersionsOptions } from "./key-versions.ts";
