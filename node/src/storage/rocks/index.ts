export { decodeChanges, encodeChanges } from "./change-batch.ts";
export { Rocks, type RocksOptions } from "./rocks.ts";
export { fatalReply, StoreThread, type ThreadReply } from "./store-thread.ts";
