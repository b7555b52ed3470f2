/** The leader's addresses for clients, for the refusals of this member. */

import { readCluster } from "../../state/index.ts";
import type { HostMember } from "../methods/index.ts";

/**
 * Returns host:port of the leader's port of this kind; null if this member knows none.
 *
 * @param kind the port whose calls get the refusals.
 */
export function leaderEndpoint(
  member: Pick<HostMember, "replica">,
  kind: "grpcEndpoint" | "httpEndpoint" = "grpcEndpoint",
): string | null {
  const { replica } = member;
  if (replica === null) {
    return null;
  }
  const { leaderId } = replica.status();
  const leader = readCluster(replica.state)?.members.find(({ id }) => id === leaderId);
  const endpoint = leader?.address[kind] ?? "";
  return endpoint === "" ? null : endpoint;
}
