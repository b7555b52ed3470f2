/**
 * Kills the active operator by SIGKILL after a write: after each of its visible writes, or after every n-th. Visible
 * are writes of sets, claims, budgets and the cluster's status.
 */

import { type KubeObject, Refusal } from "./kubernetes-api.ts";
import type { QuoinCluster } from "./quoin-cluster.ts";
import { OPERATOR_NAMESPACE } from "./scene.ts";

const LEASE = "quoin-operator";
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases`;
const PODS = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/pods`;
const CONTAINER_SCHEME = /^[a-z]+:\/\//;

type Kind = "StatefulSet" | "PersistentVolumeClaim" | "PodDisruptionBudget" | "CoordinationCluster";

export class OperatorKiller {
  /** The last write before each kill, in order. */
  readonly kills: string[] = [];
  readonly #cluster: QuoinCluster;
  readonly #every: number;
  readonly #end = new AbortController();
  readonly #watching: Promise<unknown>;
  readonly #seen = new Map<string, string>();
  /** Since the last kill. */
  #writes = 0;
  #isArmed = false;
  /** The active operator. */
  #holder = "";
  /** Of operators, by name. */
  readonly #pods = new Map<string, KubeObject>();
  readonly #killed = new Set<string>();
  #cleaning: Promise<unknown> = Promise.resolve();

  /** @param every kills after this many writes */
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
    const { signal } = this.#end;
    this.#watching = Promise.all([
      kubernetes.watch(`${PODS}?`, signal, (pod) => this.#pods.set(pod.metadata.name, pod)),
      kubernetes.watch(`${LEASES}?fieldSelector=metadata.name=${LEASE}`, signal, ({ spec }) => {
        this.#holder = spec.holderIdentity;
      }),
      ...collections.map(([kind, path]) => kubernetes.watch(path, signal, (object) => this.#see(kind, object))),
    ]);
    // `close` reports the error.
    this.#watching.catch(() => undefined);
  }

  arm(): void {
    this.#writes = 0;
    this.#isArmed = true;
  }

  disarm(): void {
    this.#isArmed = false;
  }

  /** Rejects if a watch has broken: then the record is incomplete. */
  async close(): Promise<void> {
    this.#isArmed = false;
    this.#end.abort();
    await this.#watching;
    await this.#cleaning;
  }

  #see(kind: Kind, object: KubeObject): void {
    const { uid, name } = object.metadata;
    const written = JSON.stringify(writtenOf(kind, object));
    if (this.#seen.get(uid) === written) {
      return;
    }
    this.#seen.set(uid, written);
    this.#writes++;
    if (this.#isArmed && this.#writes >= this.#every) {
      this.#kill(`${kind} ${name}`);
    }
  }

  /** Kills at once, because the next write comes soon. Does nothing while no operator is active. */
  #kill(written: string): void {
    const { kubernetes } = this.#cluster;
    const pod = [...this.#pods.values()].find(({ metadata }) => this.#holder.startsWith(metadata.name));
    const [status] = pod?.status.containerStatuses ?? [];
    if (status?.state.running === undefined || this.#killed.has(status.containerID)) {
      return;
    }
    this.#killed.add(status.containerID);
    try {
      kubernetes.cluster.faults?.killContainer(pod.spec.nodeName, status.containerID.replace(CONTAINER_SCHEME, ""));
    } catch {
      // It has ended by itself after the loss of its Lease, and its pod does not show that yet. The next operator
      // starts.
      return;
    }
    this.kills.push(written);
    this.#writes = 0;
    this.#cleaning = Promise.all([this.#cleaning, this.#deleteLeaseAndPod(pod.metadata.name)]);
    // `close` reports the error.
    this.#cleaning.catch(() => undefined);
  }

  /** So that the next operator need not wait for the expiry of an abandoned Lease, or for a kubelet's backoff. */
  async #deleteLeaseAndPod(pod: string): Promise<void> {
    for (const path of [`${LEASES}/${LEASE}`, `${PODS}/${pod}`]) {
      try {
        await this.#cluster.kubernetes.send("DELETE", path);
      } catch (error) {
        // An operator that its kubelet restarts quickly is killed twice.
        if (!(error instanceof Refusal && error.answer.reason === "NotFound")) {
          throw error;
        }
      }
    }
  }
}

/** The part of an object that only the operator writes. */
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
