/** The clusters to measure, behind one interface: Quoin, etcd, and NATS. */

export type {
  Connection,
  CreatedSession,
  EventLogs,
  Found,
  Hold,
  Keys,
  Locks,
  RegionPart,
  Regions,
  Sessions,
  Swapped,
  WatchConnection,
  WatchedPut,
  WatchListener,
} from "./connection.ts";
export { EtcdCluster } from "./etcd-cluster.ts";
export type {
  Leadership,
  MeasuredCluster,
  MeasuredMember,
  MemberReport,
  StreamReport,
} from "./measured-cluster.ts";
export { untilLeader } from "./measured-cluster.ts";
export { buildMemberPrograms, type Launcher } from "./member-programs.ts";
export { withPrefix } from "./message-splitter.ts";
export { NatsCluster } from "./nats-cluster.ts";
export { BuildError, buildLoad, buildPeer, type Peer } from "./peer-build.ts";
export { readMetric, sumOfMetric } from "./prometheus-text.ts";
export { QuoinCluster } from "./quoin-cluster.ts";
export { quoinHeaders } from "./quoin-headers.ts";
export { QuoinWatches } from "./quoin-watches.ts";
export type { RawCall, RawCalls } from "./raw-calls.ts";
