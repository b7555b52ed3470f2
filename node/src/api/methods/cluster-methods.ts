/** ClusterService: what clients may know about the cluster. Any valid token is enough. */

import { type GetClusterRequest, type GetClusterResponse, ReadConsistency } from "@quoin/proto";
import { invariant } from "../../primitives/index.ts";
import { readCluster } from "../../state/index.ts";
import type { Call, Reply } from "./call.ts";
import type { Executor } from "./executor.ts";
import type { HostReplica } from "./host.ts";

export class ClusterMethods {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  getCluster(call: Call, _request: GetClusterRequest, reply: Reply<GetClusterResponse>): void {
    this.#executor.read(call, null, () => ({ consistency: ReadConsistency.LINEARIZABLE }), clusterResponse, reply);
  }
}

function clusterResponse(replica: HostReplica): GetClusterResponse {
  const cluster = readCluster(replica.state);
  invariant(cluster !== undefined, "an authenticated caller belongs to a founded cluster");
  const { leaderId, term } = replica.status();
  return {
    clusterId: cluster.clusterId,
    members: cluster.members.map(({ id, name, address }) => ({
      id: String(id),
      name,
      grpcEndpoint: address.grpcEndpoint,
      httpEndpoint: address.httpEndpoint,
      learner: !cluster.configuration.voters.includes(id),
      leader: id === leaderId,
    })),
    leaderId: leaderId === 0 ? "" : String(leaderId),
    term: BigInt(term),
    revision: BigInt(replica.revision),
  };
}
