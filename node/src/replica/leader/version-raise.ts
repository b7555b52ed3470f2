/**
 * Decides when the leader raises the cluster version, one step at a time.
 *
 * Each member announces in its handshakes which cluster versions its release can run. When all members have been
 * connected to the leader for a while, and all could run the next version, the leader logs it. From then on older
 * releases are refused. Before that, each member may be downgraded to its earlier release. Unclaimed slots do not
 * count: a process that claims a slot has to announce its versions.
 */

import { mark } from "../../primitives/index.ts";
import { type Cluster, readCluster, type SetClusterVersion, type StateReader } from "../../state/index.ts";
import type { ConnectedStart, MaintenanceLimits, ReplicaContext, Transport } from "../context/index.ts";

/** What this part shares with others; it only reads the state. */
export type VersionRaiseContext = Pick<ReplicaContext, "memberId" | "clusterVersionMax"> & {
  readonly state: StateReader;
  readonly transport: Pick<Transport, "isConnected">;
  readonly limits: { readonly maintenance: Pick<MaintenanceLimits, "versionRaiseMs"> };
};

/** Number of checks within the time for which all members must be able to run the next version. */
const CHECKS = 60;

export class VersionRaise {
  readonly #context: VersionRaiseContext;
  /** The newest cluster version that the current process of each peer can run. */
  readonly #announced = new Map<number, number>();
  #checkedMs = Number.NEGATIVE_INFINITY;
  /** Since when all members can run the next version; null while they cannot. */
  #sinceMs: number | null = null;

  constructor(context: VersionRaiseContext) {
    this.#context = context;
  }

  /** A connection with this start of the peer is verified. */
  onConnected(peer: number, { restarted, versions }: Pick<ConnectedStart, "restarted" | "versions">): void {
    if (versions !== null) {
      this.#announced.set(peer, versions.max);
    } else if (restarted) {
      // Its release may have changed; it announces its versions when it dials this member.
      this.#announced.delete(peer);
    }
  }

  /** This member does not lead: resets the waiting time. */
  reset(): void {
    this.#sinceMs = null;
  }

  /** The command that this leader must log now; null if there is none. */
  next(nowMs: number): SetClusterVersion | null {
    const { state, limits, clusterVersionMax } = this.#context;
    const { versionRaiseMs } = limits.maintenance;
    if (nowMs - this.#checkedMs < versionRaiseMs / CHECKS) {
      return null;
    }
    this.#checkedMs = nowMs;
    const cluster = readCluster(state);
    if (cluster === undefined || cluster.version >= clusterVersionMax || !this.#canAllRun(cluster)) {
      this.#sinceMs = null;
      return null;
    }
    this.#sinceMs ??= nowMs;
    if (nowMs - this.#sinceMs < versionRaiseMs) {
      return null;
    }
    this.#sinceMs = null;
    mark("replica.version-raised");
    return { kind: "set-cluster-version", version: cluster.version + 1 };
  }

  #canAllRun({ version, members }: Cluster): boolean {
    const { memberId, transport } = this.#context;
    return members.every(({ id, incarnation }) => {
      const isOwn = id === memberId;
      const isUnclaimed = incarnation.length === 0;
      return isOwn || isUnclaimed || (transport.isConnected(id, "control") && (this.#announced.get(id) ?? 0) > version);
    });
  }
}
