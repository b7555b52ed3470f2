/**
 * Kills the operator that works, by SIGKILL, when it has written something: after each of its writes that is seen, or after
 * every so many. What is seen is what it writes of sets, claims, budgets and the cluster's status.
 */

import type { KubeObject } from "./kubernetes-api.ts";
import type { QuoinCluster } from "./quoin-cluster.ts";
import { OPERATOR_NAMESPACE } from "./scene.ts";

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases/quoin-operator`;
const PODS = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/pods`;
const CONTAINER_SCHEME = /^[a-z]+:\/\//;

type Kind = "StatefulSet" | "PersistentVolumeClaim" | "PodDisruptionBudget" | "CoordinationCluster";

export class OperatorKiller {
  /** What it had written last when it was killed, in the order of the kills. */
  readonly kills: string[] = [];
  readonly #cluster: QuoinCluster;
  readonly #every: number;
  readonly #end = new AbortController();
  readonly #watching: Promise<unknown>;
  readonly #seen = new Map<string, string>();
  /** Since the last kill. */
  #writes = 0;
  #isArmed = false;
  #killing: Promise<void> | null = null;
  #failure: unknown = null;

  /** @param every kills after so many writes */
  constructor(cluster: QuoinCluster, every: number) {
    this.#cluster = cluster;
    this.#every = every;
    const { kubernetes, namespace, name } = cluster;
    const ours = `labelSelector=quoin.dev/cluster=${name}`;
    const itself = `fieldSelector=metadata.name=${name}`;
    const collections: readonly (readonly [Kind, string])[] = [
      ["StatefulSet", `/apis/apps/v1/namespaces/${namespace}/statefulsets?${ours}`],
      ["PersistentVolumeClaim", `/api/v1/namespaces/${namespace}/persistentvolumeclaims?${ours}`],
      ["PodDisruptionBudget", `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets?${ours}`],
      ["CoordinationCluster", `/apis/quoin.dev/v1alpha1/namespaces/${namespace}/coordinationclusters?${itself}`],
    ];
    this.#watching = Promise.all(
      collections.map(([kind, path]) => kubernetes.watch(path, this.#end.signal, (object) => this.#see(kind, object))),
    );
    // Told when it is ended.
    this.#watching.catch(() => undefined);
  }

  arm(): void {
    this.#writes = 0;
    this.#isArmed = true;
  }

  disarm(): void {
    this.#isArmed = false;
  }

  /** Rejects with what went wrong with a kill, and if a watch has broken: then nothing is known. */
  async close(): Promise<void> {
    this.#isArmed = false;
    this.#end.abort();
    await this.#watching;
    await this.#killing;
    if (this.#failure !== null) {
      throw this.#failure;
    }
  }

  #see(kind: Kind, object: KubeObject): void {
    const { uid, name } = object.metadata;
    const written = JSON.stringify(writtenOf(kind, object));
    if (this.#seen.get(uid) === written) {
      return;
    }
    this.#seen.set(uid, written);
    this.#writes++;
    if (this.#isArmed && this.#killing === null && this.#writes >= this.#every) {
      this.#writes = 0;
      this.#killing = this.#kill(`${kind} ${name}`)
        .catch((error: unknown) => {
          this.#failure ??= error;
        })
        .finally(() => {
          this.#killing = null;
        });
    }
  }

  /** Nobody renews its Lease afterwards; it is taken away, so that the next operator does not wait for its end. */
  async #kill(written: string): Promise<void> {
    const { kubernetes } = this.#cluster;
    const holder: string = (await kubernetes.get(LEASE))?.spec.holderIdentity ?? "";
    const { items } = await kubernetes.get(PODS);
    const pod: KubeObject = items.find(({ metadata }: KubeObject) => holder.startsWith(metadata.name));
    const [status] = pod?.status.containerStatuses ?? [];
    if (status?.state.running === undefined) {
      return;
    }
    kubernetes.cluster.faults?.killContainer(pod.spec.nodeName, status.containerID.replace(CONTAINER_SCHEME, ""));
    this.kills.push(written);
    // A kubelet would wait longer and longer before it starts the same one again.
    await kubernetes.send("DELETE", `${PODS}/${pod.metadata.name}`);
    await kubernetes.send("DELETE", LEASE);
  }
}

/** The part of an object that nobody but the operator writes. */
function writtenOf(kind: Kind, { metadata, spec, status }: KubeObject): unknown {
  const { annotations, generation, deletionTimestamp } = metadata;
  switch (kind) {
    case "CoordinationCluster":
      return status;
    case "PodDisruptionBudget":
      return spec;
    case "PersistentVolumeClaim":
      return [annotations?.["quoin.dev/member-id"], annotations?.["quoin.dev/cluster-id"], deletionTimestamp];
    case "StatefulSet":
      return [annotations, generation, deletionTimestamp];
  }
}
