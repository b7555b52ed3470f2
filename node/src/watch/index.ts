export {
  DEFAULT_EVENT_HUB_LIMITS,
  EventHub,
  type EventHubLimits,
  type EventMessage,
  type Follower,
  type FollowRequest,
} from "./event-hub.ts";
export { DEFAULT_WATCH_LIMITS, type WatchLimits } from "./limits.ts";
export { NamespaceStreams } from "./namespace-streams.ts";
export type { OpenStream, StreamSelection } from "./open-stream.ts";
export { SharedChange } from "./shared-change.ts";
export type { Subscriber, WatchMessage, WatchRequest } from "./subscriber.ts";
export { type WatchedReplica, WatchHub, type WatchStatistics } from "./watch-hub.ts";
export { WATCH_METRICS } from "./watch-metrics.ts";
