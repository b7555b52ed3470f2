export { toError } from "./attempt.ts";
export { BootstrapMethod } from "./bootstrap-method.ts";
export type { Call, Reply, ResponseStream } from "./call.ts";
export { ClusterAdminMethods } from "./cluster-admin-methods.ts";
export { ClusterMethods } from "./cluster-methods.ts";
export { Executor, noReplica } from "./executor.ts";
export type { HostMember, HostReplica } from "./host.ts";
export { KeyValueMethods } from "./key-value-methods.ts";
export { WatchMethods } from "./watch-methods.ts";
