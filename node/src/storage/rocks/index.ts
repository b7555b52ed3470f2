export { decodeChanges, encodeChanges } from "./change-batch.ts";
export { takeLock } from "./lock.ts";
export { Rocks, type RocksOptions } from "./rocks.ts";
