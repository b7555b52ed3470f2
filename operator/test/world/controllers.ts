/** What Kubernetes does by itself to the objects of a cluster: sets make pods and claims, pods run, what nobody owns goes. */
import { type Any, type ApiServer, revisionOf, type Stored } from "../api-server/index.ts";

/** The part of a world that runs pods. */
export interface Kubelet {
  /** Begins the process of a pod on its volume. */
  start(pod: Stored, claim: Stored): string;
  /** The process is gone when this returns. */
  stop(pod: Stored): void;
  isRunning(pod: Stored): boolean;
  isReady(pod: Stored): boolean;
  /** The volume is gone. */
  wipe(claim: Stored): void;
  /** Whether the image is to be had. */
  canStart(pod: Stored): boolean;
}

export class Controllers {
  readonly #api: ApiServer;
  readonly #kubelet: Kubelet;

  constructor(api: ApiServer, kubelet: Kubelet) {
    this.#api = api;
    this.#kubelet = kubelet;
  }

  /** Until nothing is left to do. */
  settle(): void {
    const { store } = this.#api;
    for (let before = -1; before !== store.version; ) {
      before = store.version;
      this.#collect();
      for (const pod of store.list("pods")) {
        this.#run(pod);
      }
      for (const claim of store.list("persistentvolumeclaims")) {
        this.#bind(claim);
      }
      for (const set of store.list("statefulsets")) {
        this.#expand(set);
      }
    }
  }

  /** Objects whose owners are all gone. */
  #collect(): void {
    const { store } = this.#api;
    for (const [plural, object] of store.owned()) {
      const owners: Any[] = object.metadata.ownerReferences;
      if (object.metadata.deletionTimestamp === undefined && owners.every(({ uid }) => !store.has(uid))) {
        store.remove(plural, object);
      }
    }
  }

  #run(pod: Stored): void {
    const { store } = this.#api;
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.#kubelet.stop(pod);
      store.drop("pods", pod);
      return;
    }
    if (!this.#kubelet.isRunning(pod) && pod.status === undefined) {
      this.#begin(pod);
      return;
    }
    const isReady = this.#kubelet.isReady(pod);
    store.update("pods", pod, (copy) => {
      const ready = copy.status?.conditions?.find(({ type }: Any) => type === "Ready");
      if (ready !== undefined && ready.status !== (isReady ? "True" : "False")) {
        Object.assign(ready, { status: isReady ? "True" : "False", lastTransitionTime: store.time });
      }
    });
  }

  #begin(pod: Stored): void {
    const { store } = this.#api;
    const claim = store.find("persistentvolumeclaims", pod.metadata.namespace, `data-${pod.metadata.name}`);
    if (claim === undefined) {
      return;
    }
    const lastTransitionTime = store.time;
    const conditions = ["PodScheduled", "Initialized", "Ready"].map((type) => ({
      type,
      status: type === "Ready" ? "False" : "True",
      lastTransitionTime,
    }));
    const canStart = this.#kubelet.canStart(pod);
    const podIP = canStart ? this.#kubelet.start(pod, claim) : "";
    store.update("pods", pod, (copy) => {
      copy.spec.nodeName = `node-${pod.metadata.name}`;
      const state = canStart
        ? { running: { startedAt: lastTransitionTime } }
        : { waiting: { reason: "ImagePullBackOff" } };
      copy.status = { conditions, podIP, containerStatuses: [{ name: "quoin", started: canStart, state }] };
    });
  }

  /** A claim that is deleted goes when no pod uses it, and its volume with it. */
  #bind(claim: Stored): void {
    const { store } = this.#api;
    const { name, namespace, deletionTimestamp } = claim.metadata;
    if (deletionTimestamp !== undefined) {
      if (store.find("pods", namespace, name.replace(/^data-/, "")) === undefined) {
        this.#kubelet.wipe(claim);
        store.drop("persistentvolumeclaims", claim);
      }
      return;
    }
    store.update("persistentvolumeclaims", claim, (copy) => {
      copy.status = { ...copy.status, capacity: { storage: copy.spec.resources.requests.storage } };
    });
  }

  #expand(set: Stored): void {
    const { store } = this.#api;
    const { name, namespace } = set.metadata;
    const revision = `${name}-${revisionOf(set.spec.template)}`;
    store.update("statefulsets", set, (copy) => {
      copy.status = { ...copy.status, observedGeneration: copy.metadata.generation, updateRevision: revision };
    });
    for (let ordinal = 0; ordinal < set.spec.replicas; ordinal++) {
      if (store.find("pods", namespace, `${name}-${ordinal}`) === undefined) {
        this.#make(set, ordinal, revision);
      }
    }
    for (const pod of store.list("pods", namespace, set.spec.selector.matchLabels)) {
      if (Number(pod.metadata.name.slice(name.length + 1)) >= set.spec.replicas) {
        store.remove("pods", pod);
      }
    }
  }

  #make(set: Stored, ordinal: number, revision: string): void {
    const { store } = this.#api;
    const { name, namespace, uid } = set.metadata;
    const claimName = `data-${name}-${ordinal}`;
    const claim = store.find("persistentvolumeclaims", namespace, claimName);
    if (claim?.metadata.deletionTimestamp !== undefined) {
      return;
    }
    if (claim === undefined) {
      const [template] = set.spec.volumeClaimTemplates;
      const metadata = { ...template.metadata, name: claimName };
      store.create("persistentvolumeclaims", namespace, { ...template, metadata });
    }
    const { metadata, spec } = structuredClone(set.spec.template);
    const labels = { ...metadata.labels, "controller-revision-hash": revision };
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name, uid, controller: true };
    store.create("pods", namespace, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...metadata, name: `${name}-${ordinal}`, labels, ownerReferences: [owner] },
      spec,
    });
  }
}
