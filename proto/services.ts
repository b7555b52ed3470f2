/** The services of the contract by their names. The generated constants are called `<Service>Service`. */

import { ClusterServiceService } from "./generated/coordination/v1/cluster.ts";
import { ClusterAdminServiceService } from "./generated/coordination/v1/cluster_admin.ts";
import { KeyValueServiceService } from "./generated/coordination/v1/key_value.ts";
import { LockServiceService } from "./generated/coordination/v1/lock.ts";
import { MemoryServiceService } from "./generated/coordination/v1/memory.ts";
import { WatchServiceService } from "./generated/coordination/v1/watch.ts";

/** All service definitions, by the name of the service without its package. */
export const serviceDefinitions = {
  KeyValueService: KeyValueServiceService,
  LockService: LockServiceService,
  MemoryService: MemoryServiceService,
  WatchService: WatchServiceService,
  ClusterService: ClusterServiceService,
  ClusterAdminService: ClusterAdminServiceService,
} as const;

/** Name of a service without its package. */
export type ServiceName = keyof typeof serviceDefinitions;

/** Full name of a service, as in gRPC paths, reflection and health checks: `coordination.v1.KeyValueService`. */
export function qualifiedServiceName(service: ServiceName): string {
  return `coordination.v1.${service}`;
}
