export { decodeLogMeta, emptyLogMeta, type LogMeta } from "./log-meta.ts";
export type { LogStore } from "./log-store.ts";
export { entryKey, LOG_META_KEY, RocksLogStore } from "./rocks-log-store.ts";
