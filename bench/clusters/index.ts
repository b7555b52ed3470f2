/** The clusters that can be measured, behind one interface: ours, and etcd. */

export { BuildError, buildEtcd } from "./etcd-build.ts";
export { EtcdCluster } from "./etcd-cluster.ts";
export type { Connection, MeasuredCluster, MeasuredMember } from "./measured-cluster.ts";
export { untilLeader } from "./measured-cluster.ts";
export { QuoinCluster } from "./quoin-cluster.ts";
