/**
 * ClusterAdminService on a server. Methods of the admin port are also registered on the public port, so that a caller
 * gets the reason why they are not served there.
 */

import { serviceDefinitions } from "@quoin/proto";
import type { Principal } from "../../state/index.ts";
import { notServed, type PortContext, type ServedMethod, type ServiceHandlers, serve } from "../calls/index.ts";
import type {
  BackupListingMethods,
  BackupMethods,
  BootstrapMethod,
  ClusterAdminMethods,
  MemberCountersMethod,
  OwnerResetMethod,
} from "../methods/index.ts";

type Handlers = ServiceHandlers<typeof serviceDefinitions.ClusterAdminService>;
type BackupHandlers = Pick<Handlers, "snapshot" | "startBackup">;

const ON_ADMIN_PORT = notServed("is served on the admin port only");

/** Methods that only the admin port serves. */
export interface AdminPortMethods {
  readonly bootstrap: BootstrapMethod;
  readonly ownerReset: OwnerResetMethod;
  readonly backups: BackupMethods;
}

/** Methods that every port serves. */
export interface SharedAdminMethods {
  readonly cluster: ClusterAdminMethods;
  readonly counters: MemberCountersMethod;
  readonly backupListing: BackupListingMethods;
}

/** @param adminPort null = this is the public port. */
export function clusterAdminService<Caller extends { readonly principal: Principal }>(
  port: PortContext<Caller>,
  { cluster: methods, counters, backupListing }: SharedAdminMethods,
  adminPort: AdminPortMethods | null,
): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.ClusterAdminService, {
    getStatus: (call, request, reply) => methods.getStatus(call, request, reply),
    listMembers: (call, request, reply) => methods.listMembers(call, request, reply),
    getMemberCounters: (call, request, reply) => counters.getMemberCounters(call, request, reply),
    getSettings: (call, request, reply) => methods.getSettings(call, request, reply),
    bootstrap:
      adminPort === null
        ? ON_ADMIN_PORT
        : (call, request, reply) => adminPort.bootstrap.bootstrap(call, request, reply),
    addMember: (call, request, reply) => methods.addMember(call, request, reply),
    promoteMembers: (call, request, reply) => methods.promoteMembers(call, request, reply),
    removeMembers: (call, request, reply) => methods.removeMembers(call, request, reply),
    transferLeadership: (call, request, reply) => methods.transferLeadership(call, request, reply),
    putSettings: (call, request, reply) => methods.putSettings(call, request, reply),
    rotateKeys: (call, request, reply) => methods.rotateKeys(call, request, reply),
    resetOwner:
      adminPort === null
        ? ON_ADMIN_PORT
        : (call, request, reply) => adminPort.ownerReset.resetOwner(call, request, reply),
    ...backupHandlers(adminPort?.backups ?? null),
    getBackupStatus: (call, request, reply) => backupListing.getBackupStatus(call, request, reply),
    listBackups: (call, request, reply) => backupListing.listBackups(call, request, reply),
    compact: (call, request, reply) => methods.compact(call, request, reply),
  });
}

/** @param methods null = this is the public port. */
function backupHandlers(methods: BackupMethods | null): BackupHandlers {
  if (methods === null) {
    return { snapshot: ON_ADMIN_PORT, startBackup: ON_ADMIN_PORT };
  }
  return {
    snapshot: (call, request, stream) => methods.snapshot(call, request, stream),
    startBackup: (call, request, reply) => methods.startBackup(call, request, reply),
  };
}
