/** The leader's addresses for clients, for the refusals of this member. */

import { readCluster } from "../../state/index.ts";
import type { HostMember, HostReplica } from "../methods/index.ts";

/** An endpoint, and what it was read for. */
interface Known {
  readonly replica: HostReplica;
  readonly leaderId: number;
  readonly appliedIndex: number;
  readonly endpoint: string | null;
}

/**
 * Returns a function that returns host:port of the leader's port of this kind; null if this member knows none. Thousands
 * of calls may be refused at once, so it reads the record of the cluster only after something was applied.
 *
 * @param kind the port whose calls get the refusals.
 */
export function leaderEndpointOf(
  member: Pick<HostMember, "replica">,
  kind: "grpcEndpoint" | "httpEndpoint" = "grpcEndpoint",
): () => string | null {
  let known: Known | null = null;
  return () => {
    const { replica } = member;
    if (replica === null) {
      return null;
    }
    const { leaderId, appliedIndex } = replica.status();
    if (known?.replica !== replica || known.leaderId !== leaderId || known.appliedIndex !== appliedIndex) {
      const leader = readCluster(replica.state)?.members.find(({ id }) => id === leaderId);
      const endpoint = leader?.address[kind] ?? "";
      known = { replica, leaderId, appliedIndex, endpoint: endpoint === "" ? null : endpoint };
    }
    return known.endpoint;
  };
}
