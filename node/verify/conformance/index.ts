/** The part of the suite that other tests use: the cluster that it starts. */

export { LocalConformanceCluster } from "./local-cluster.ts";
