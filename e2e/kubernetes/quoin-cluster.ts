/** A CoordinationCluster under test: changes of its specification, its status, and its pods. */

import { until } from "../cluster/index.ts";
import type { KubeObject, Kubernetes } from "./kubernetes-api.ts";

/** Limit of any step before a test fails: many times the promised duration. */
export const LIMIT_MS = 240_000;
const CONTAINER_SCHEME = "containerd://";

export class QuoinCluster {
  readonly kubernetes: Kubernetes;
  readonly namespace: string;
  readonly name: string;

  constructor(kubernetes: Kubernetes, namespace: string, name: string) {
    this.kubernetes = kubernetes;
    this.namespace = namespace;
    this.name = name;
  }

  get path(): string {
    return `/apis/quoin.dev/v1alpha1/namespaces/${this.namespace}/coordinationclusters/${this.name}`;
  }

  /** Another cluster in the same namespace. */
  beside(name: string): QuoinCluster {
    return new QuoinCluster(this.kubernetes, this.namespace, name);
  }

  async create(spec: object): Promise<void> {
    const { namespace, name } = this;
    const object = { apiVersion: "quoin.dev/v1alpha1", kind: "CoordinationCluster", metadata: { name }, spec };
    await this.kubernetes.apply(namespace, object);
  }

  patch(patch: object): Promise<KubeObject> {
    return this.kubernetes.send("PATCH", this.path, patch);
  }

  async scale(replicas: number): Promise<void> {
    await this.kubernetes.send("PATCH", `${this.path}/scale`, { spec: { replicas } });
  }

  get(): Promise<KubeObject | null> {
    return this.kubernetes.get(this.path);
  }

  /**
   * Waits until it is Ready with the last specification. Returns its state, and how long that took, in milliseconds.
   */
  async untilReady(): Promise<{ readonly object: KubeObject; readonly tookMs: number }> {
    const startedMs = performance.now();
    const object = await this.#until(`${this.name} to be Ready`, (object) => {
      const isObserved = object?.status?.observedGeneration === object?.metadata.generation;
      return isObserved && conditionOf(object, "Ready")?.status === "True";
    });
    return { object, tookMs: performance.now() - startedMs };
  }

  /** Pods of its members, by ordinal. */
  async pods(): Promise<KubeObject[]> {
    return await this.#list("/api/v1", "pods");
  }

  async pod(name: string): Promise<KubeObject | null> {
    return this.kubernetes.get(`/api/v1/namespaces/${this.namespace}/pods/${name}`);
  }

  /** The pod that reports to lead; undefined while none does. */
  async leaderPod(): Promise<KubeObject | undefined> {
    return (await this.pods()).find((pod) => pod.metadata.labels["quoin.dev/role"] === "leader");
  }

  /** Waits until another pod than this one reports to lead. Returns its name. */
  untilAnotherLeads(than: string): Promise<string> {
    return until(
      `another leader than ${than}`,
      async () => {
        const leader: string | undefined = (await this.leaderPod())?.metadata.name;
        return leader === than ? null : leader;
      },
      LIMIT_MS,
    );
  }

  /** Waits until a condition has this status. Returns the cluster, and how long that took, in milliseconds. */
  async untilCondition(
    type: string,
    status: "True" | "False",
  ): Promise<{ readonly object: KubeObject; readonly tookMs: number }> {
    const startedMs = performance.now();
    const object = await this.#until(`${type} of ${this.name} to be ${status}`, (object) => {
      return conditionOf(object, type)?.status === status;
    });
    return { object, tookMs: performance.now() - startedMs };
  }

  /** Waits until its object is as wanted. The error of a failure has all that the API server knows of the cluster. */
  async #until(what: string, isWanted: (object: KubeObject | null) => boolean): Promise<KubeObject> {
    const read = async (): Promise<KubeObject | null> => {
      const object = await this.get();
      return isWanted(object) ? object : null;
    };
    try {
      return await until(what, read, LIMIT_MS);
    } catch (error) {
      const [set, claims, pods, events] = await Promise.all([
        this.set(),
        this.claims(),
        this.pods(),
        this.kubernetes.get(`/api/v1/namespaces/${this.namespace}/events`),
      ]);
      const all = { cluster: await this.get(), set, claims, pods, events };
      throw new Error(`${(error as Error).message}: ${JSON.stringify(all, withoutManagedFields)}`, { cause: error });
    }
  }

  async untilPodsReady(count: number): Promise<void> {
    const areReady = async (): Promise<boolean> => (await this.pods()).filter(isPodReady).length === count;
    await until(`${count} members to be ready`, areReady, LIMIT_MS);
  }

  async claims(): Promise<KubeObject[]> {
    return await this.#list("/api/v1", "persistentvolumeclaims");
  }

  async set(): Promise<KubeObject | null> {
    return this.kubernetes.get(`/apis/apps/v1/namespaces/${this.namespace}/statefulsets/${this.name}`);
  }

  async #list(group: string, kind: string): Promise<KubeObject[]> {
    const path = `${group}/namespaces/${this.namespace}/${kind}?labelSelector=quoin.dev/cluster=${this.name}`;
    const { items } = await this.kubernetes.get(path);
    return items.sort((a: KubeObject, b: KubeObject) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }
}

export function conditionOf(object: KubeObject, type: string): KubeObject | undefined {
  return object?.status?.conditions?.find((condition: KubeObject) => condition.type === type);
}

/** Id of the member's container in a running pod, from its runtime. */
export function containerIdOf(pod: KubeObject): string {
  return pod.status.containerStatuses[0].containerID.slice(CONTAINER_SCHEME.length);
}

export function isPodReady(pod: KubeObject | null): boolean {
  return conditionOf(pod, "Ready")?.status === "True" && pod.metadata.deletionTimestamp === undefined;
}

/** Left out of objects in messages, because it is long and says nothing about their state. */
function withoutManagedFields(key: string, value: unknown): unknown {
  return key === "managedFields" ? undefined : value;
}
