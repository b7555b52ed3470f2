/**
 * ClusterAdminService on a server. Methods of the admin port are also registered on the public port, so that a caller
 * gets the reason why they are not served there.
 */

import {
  AddMemberRequest,
  BootstrapRequest,
  CompactRequest,
  GetBackupStatusRequest,
  GetStatusRequest,
  ListBackupsRequest,
  ListMembersRequest,
  PromoteMembersRequest,
  PutSettingsRequest,
  RemoveMembersRequest,
  ResetOwnerRequest,
  RotateKeysRequest,
  type ServiceName,
  SnapshotRequest,
  StartBackupRequest,
  serviceDefinitions,
  TransferLeadershipRequest,
} from "@quoin/proto";
import type { Principal } from "../../state/index.ts";
import { type Implementation, notServed, type PortContext, serverStream, unary } from "../calls/index.ts";
import type { BackupMethods, BootstrapMethod, ClusterAdminMethods, OwnerResetMethod } from "../methods/index.ts";

const SERVICE = "ClusterAdminService" satisfies ServiceName;
const DEFINITION = serviceDefinitions[SERVICE];

/** Methods that only the admin port serves. */
export interface AdminPortMethods {
  readonly bootstrap: BootstrapMethod;
  readonly ownerReset: OwnerResetMethod;
  readonly backups: BackupMethods;
}

/** @param adminPort null = this is the public port. */
export function clusterAdminService<Caller extends { readonly principal: Principal }>(
  port: PortContext<Caller>,
  methods: ClusterAdminMethods,
  adminPort: AdminPortMethods | null,
): Implementation<typeof DEFINITION> {
  return {
    getStatus: unary(port, {
      path: DEFINITION.getStatus.path,
      codec: GetStatusRequest,
      handle: (call, request, reply) => methods.getStatus(call, request, reply),
    }),
    listMembers: unary(port, {
      path: DEFINITION.listMembers.path,
      codec: ListMembersRequest,
      handle: (call, request, reply) => methods.listMembers(call, request, reply),
    }),
    bootstrap:
      adminPort === null
        ? notServed("Bootstrap is served on the admin port only")
        : unary(port, {
            path: DEFINITION.bootstrap.path,
            codec: BootstrapRequest,
            handle: (call, request, reply) => adminPort.bootstrap.bootstrap(call, request, reply),
          }),
    addMember: unary(port, {
      path: DEFINITION.addMember.path,
      codec: AddMemberRequest,
      handle: (call, request, reply) => methods.addMember(call, request, reply),
    }),
    promoteMembers: unary(port, {
      path: DEFINITION.promoteMembers.path,
      codec: PromoteMembersRequest,
      handle: (call, request, reply) => methods.promoteMembers(call, request, reply),
    }),
    removeMembers: unary(port, {
      path: DEFINITION.removeMembers.path,
      codec: RemoveMembersRequest,
      handle: (call, request, reply) => methods.removeMembers(call, request, reply),
    }),
    transferLeadership: unary(port, {
      path: DEFINITION.transferLeadership.path,
      codec: TransferLeadershipRequest,
      handle: (call, request, reply) => methods.transferLeadership(call, request, reply),
    }),
    putSettings: unary(port, {
      path: DEFINITION.putSettings.path,
      codec: PutSettingsRequest,
      handle: (call, request, reply) => methods.putSettings(call, request, reply),
    }),
    rotateKeys: unary(port, {
      path: DEFINITION.rotateKeys.path,
      codec: RotateKeysRequest,
      handle: (call, request, reply) => methods.rotateKeys(call, request, reply),
    }),
    resetOwner:
      adminPort === null
        ? notServed("ResetOwner is served on the admin port only")
        : unary(port, {
            path: DEFINITION.resetOwner.path,
            codec: ResetOwnerRequest,
            handle: (call, request, reply) => adminPort.ownerReset.resetOwner(call, request, reply),
          }),
    ...backupMethods(port, adminPort?.backups ?? null),
    compact: unary(port, {
      path: DEFINITION.compact.path,
      codec: CompactRequest,
      handle: (call, request, reply) => methods.compact(call, request, reply),
    }),
  };
}

/** @param methods null = this is the public port. */
function backupMethods<Caller extends { readonly principal: Principal }>(
  port: PortContext<Caller>,
  methods: BackupMethods | null,
): Pick<Implementation<typeof DEFINITION>, "snapshot" | "startBackup" | "getBackupStatus" | "listBackups"> {
  if (methods === null) {
    const onAdminPort = (method: string) => notServed(`${method} is served on the admin port only`);
    return {
      snapshot: onAdminPort("Snapshot"),
      startBackup: onAdminPort("StartBackup"),
      getBackupStatus: onAdminPort("GetBackupStatus"),
      listBackups: onAdminPort("ListBackups"),
    };
  }
  return {
    snapshot: serverStream(port, {
      path: DEFINITION.snapshot.path,
      codec: SnapshotRequest,
      handle: (call, request, stream) => methods.snapshot(call, request, stream),
    }),
    startBackup: unary(port, {
      path: DEFINITION.startBackup.path,
      codec: StartBackupRequest,
      handle: (call, request, reply) => methods.startBackup(call, request, reply),
    }),
    getBackupStatus: unary(port, {
      path: DEFINITION.getBackupStatus.path,
      codec: GetBackupStatusRequest,
      handle: (call, request, reply) => methods.getBackupStatus(call, request, reply),
    }),
    listBackups: unary(port, {
      path: DEFINITION.listBackups.path,
      codec: ListBackupsRequest,
      handle: (call, request, reply) => methods.listBackups(call, request, reply),
    }),
  };
}
