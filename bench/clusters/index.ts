/** The clusters that can be measured, behind one interface: ours, and etcd. */

export type {
  Connection,
  EventLogs,
  Found,
  Hold,
  Keys,
  Locks,
  RegionPart,
  Regions,
  Swapped,
  WatchConnection,
  WatchedPut,
  WatchListener,
} from "./connection.ts";
export { BuildError, buildEtcd } from "./etcd-build.ts";
export { EtcdCluster } from "./etcd-cluster.ts";
export type { Leadership, MeasuredCluster, MeasuredMember } from "./measured-cluster.ts";
export { untilLeader } from "./measured-cluster.ts";
export { QuoinCluster } from "./quoin-cluster.ts";
