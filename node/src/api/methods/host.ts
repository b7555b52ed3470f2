/** The parts of the member and of its replica that the methods use. */

import type { Member, MemberCalls, RefusedGuards, Replica } from "../../replica/index.ts";

export type HostReplica = Pick<
  Replica,
  | "state"
  | "revision"
  | "tickMs"
  | "status"
  | "observe"
  | "propose"
  | "readBarrier"
  | "proposeMembership"
  | "proposeClusterOperation"
  | "membershipView"
  | "transferLeadership"
> & { readonly memberCalls: Pick<MemberCalls, "ask"> } & {
  readonly statistics: { readonly refusedGuards: Pick<RefusedGuards, "of"> };
};

export interface HostMember
  extends Pick<
    Member,
    | "state"
    | "reason"
    | "foundedFrom"
    | "alarms"
    | "stateForMs"
    | "uptimeMs"
    | "clockMs"
    | "name"
    | "clusterName"
    | "incarnation"
    | "clusterId"
    | "memberId"
    | "version"
    | "certificate"
    | "dbSizeBytes"
    | "diskFreeBytes"
    | "bootstrap"
  > {
  /** Null unless the member serves. */
  readonly replica: HostReplica | null;
}
