/** A real Kubernetes for tests: the cluster, access for specs, and faults. */

export type { ApiProxy } from "./api-proxy.ts";
export type { Faults } from "./faults.ts";
export { REPOSITORY } from "./site.ts";
export { NoClusterHere } from "./start.ts";
export { TestCluster } from "./test-cluster.ts";
export { until } from "./until.ts";
export { withCluster } from "./with-cluster.ts";
