export type { OpenStream, OpenStreamPage, OpenStreamsOptions } from "./open-streams.ts";
export { Watch, type WatchBatch, type WatchOptions } from "./watch.ts";
export {
  type KeyEvent,
  type LockEvent,
  WatchClient,
  type WatchKeysOptions,
  type WatchLocksOptions,
} from "./watch-client.ts";
