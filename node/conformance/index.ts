/** What other tests use of the suite: the cluster that it starts. */

export { LocalConformanceCluster } from "./local-cluster.ts";
