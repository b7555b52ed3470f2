/** Information about the cluster: the ClusterService of the contract. */

import { type GetClusterResponse, serviceDefinitions } from "@quoin/proto";
import {
  type CallOptions,
  execute,
  type OperationContext,
  type Persistence,
  type Plain,
  toPlain,
  unaryMethod,
} from "../calls/index.ts";
import { callRules, optionsCheck } from "../options/index.ts";

const getClusterMethod = unaryMethod(serviceDefinitions.ClusterService.getCluster);

/** The members of the cluster, and its leader. */
export type Cluster = Plain<GetClusterResponse>;

/** Requests the members of the cluster, with this many attempts. */
export async function fetchCluster(
  context: OperationContext,
  options: CallOptions,
  persistence?: Persistence,
): Promise<Cluster> {
  return toPlain((await execute(context, getClusterMethod, {}, options, persistence)).message);
}

const checkCall = optionsCheck<CallOptions>(callRules);

/** Reads information about the cluster. */
export class ClusterClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Lists the members and names the leader, with linearizable freshness. Needs any valid token.
   *
   * @throws QuoinError UNAVAILABLE when no leader can answer.
   */
  async getCluster(options: CallOptions = {}): Promise<Cluster> {
    checkCall(options, "cluster.getCluster");
    return fetchCluster(this.#context, options);
  }
}
