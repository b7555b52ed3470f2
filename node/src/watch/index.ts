export { DEFAULT_WATCH_LIMITS, type WatchLimits } from "./limits.ts";
export { SharedChange } from "./shared-change.ts";
export type { Subscriber, WatchMessage, WatchRequest } from "./subscriber.ts";
export { type WatchedReplica, WatchHub } from "./watch-hub.ts";
