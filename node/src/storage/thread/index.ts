export { fatalReply, StoreThread, type ThreadReply } from "./store-thread.ts";
