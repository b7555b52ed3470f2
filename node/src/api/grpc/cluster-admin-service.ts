/**
 * ClusterAdminService on a server. Methods that a cluster of this version does not have yet, and Bootstrap on the public
 * port, are registered too, so that a caller is told why they do not answer.
 */

import {
  AddMemberRequest,
  BootstrapRequest,
  CompactRequest,
  GetStatusRequest,
  ListMembersRequest,
  PromoteMembersRequest,
  PutSettingsRequest,
  RemoveMembersRequest,
  ResetOwnerRequest,
  RotateKeysRequest,
  type ServiceName,
  serviceDefinitions,
  TransferLeadershipRequest,
} from "@quoin/proto";
import type { Principal } from "../../state/index.ts";
import { type Implementation, notServed, type PortContext, unary } from "../calls/index.ts";
import type { BootstrapMethod, ClusterAdminMethods, OwnerResetMethod } from "../methods/index.ts";

const SERVICE = "ClusterAdminService" satisfies ServiceName;
const DEFINITION = serviceDefinitions[SERVICE];

/** What is served on the admin port alone. */
export interface AdminPortMethods {
  readonly bootstrap: BootstrapMethod;
  readonly ownerReset: OwnerResetMethod;
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
    snapshot: notServed(later("Snapshot")),
    startBackup: notServed(later("StartBackup")),
    getBackupStatus: notServed(later("GetBackupStatus")),
    listBackups: notServed(later("ListBackups")),
    compact: unary(port, {
      path: DEFINITION.compact.path,
      codec: CompactRequest,
      handle: (call, request, reply) => methods.compact(call, request, reply),
    }),
  };
}

function later(method: string): string {
  return `${method} is not served by this version`;
}
