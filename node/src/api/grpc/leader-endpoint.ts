/** The leader's address for clients, for the refusals of this member. */

import { readCluster } from "../../state/index.ts";
import type { HostMember } from "../methods/index.ts";

/** Returns host:port of the leader's gRPC port; null if this member knows none. */
export function leaderEndpoint(member: Pick<HostMember, "replica">): string | null {
  const { replica } = member;
  if (replica === null) {
    return null;
  }
  const { leaderId } = replica.status();
  const leader = readCluster(replica.state)?.members.find(({ id }) => id === leaderId);
  return leader === undefined || leader.address.grpcEndpoint === "" ? null : leader.address.grpcEndpoint;
}
