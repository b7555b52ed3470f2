/** Kubernetes' own controllers: sets create pods and claims, pods run, and objects without an owner are deleted. */
import { type Any, type ApiServer, copyOf, revisionOf, type Stored } from "../api-server/index.ts";
import type { PodEnd } from "./stopped-members.ts";

/** The part of a world that runs pods. */
export interface Kubelet {
  /** Starts the process of a pod on its volume. */
  start(pod: Stored, claim: Stored): string;
  /** Runs a pod that works on the volume of a stopped member until it ends. Null while it works. */
  work(pod: Stored, claim: Stored): PodEnd | null;
  /** The process has ended when this returns. */
  stop(pod: Stored): void;
  isRunning(pod: Stored): boolean;
  isReady(pod: Stored): boolean;
  /** Deletes the data of the volume. */
  wipe(claim: Stored): void;
  /** Whether the image exists. */
  canStart(pod: Stored): boolean;
  /** Whether there is a volume for the claim. */
  canBind(claim: Stored): boolean;
  /**
   * Why an object is not created, in the words of an API server or a provisioner. The object is the missing pod or
   * claim itself, the claim of a missing volume, or the pod of a missing node. Null if there is no obstacle.
   */
  refusalOf(kind: "pod" | "claim" | "volume" | "node", object: Any): string | null;
}

/** The API server adds this class to claims without a class. */
const DEFAULT_CLASS = "standard";

export class Controllers {
  readonly #api: ApiServer;
  readonly #kubelet: Kubelet;

  constructor(api: ApiServer, kubelet: Kubelet) {
    this.#api = api;
    this.#kubelet = kubelet;
  }

  /** Runs until nothing is left to do. */
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
    if (pod.spec.restartPolicy === "Never") {
      this.#work(pod);
      return;
    }
    if (!this.#kubelet.isRunning(pod) && pod.spec.nodeName === undefined) {
      this.#begin(pod);
      return;
    }
    const readyOf = ({ status: of }: Any): Any => of?.conditions?.find(({ type }: Any) => type === "Ready");
    const status = this.#kubelet.isReady(pod) ? "True" : "False";
    if ((readyOf(pod)?.status ?? status) !== status) {
      store.update("pods", pod, (copy) => {
        Object.assign(readyOf(copy), { status, lastTransitionTime: store.time });
      });
    }
  }

  /** A pod that runs once. */
  #work(pod: Stored): void {
    const { store } = this.#api;
    const claim = this.#placed(pod);
    const end = claim === null || pod.status?.phase !== undefined ? null : this.#kubelet.work(pod, claim);
    if (end !== null) {
      const terminated = { ...end, reason: end.exitCode === 0 ? "Completed" : "Error", finishedAt: store.time };
      store.update("pods", pod, (copy) => {
        copy.spec.nodeName = "node";
        const phase = end.exitCode === 0 ? "Succeeded" : "Failed";
        copy.status = { phase, containerStatuses: [{ name: "recovery", state: { terminated } }] };
      });
    }
  }

  /** @returns the claim of a pod that has a node; null for a pod that waits */
  #placed(pod: Stored): Stored | null {
    const { store } = this.#api;
    const claimName = pod.spec.volumes.find(({ persistentVolumeClaim }: Any) => persistentVolumeClaim !== undefined)
      ?.persistentVolumeClaim.claimName;
    const { namespace, name } = pod.metadata;
    const claim = store.find("persistentvolumeclaims", namespace, claimName ?? `data-${name}`);
    if (claim?.spec.volumeName === undefined || claim.metadata.deletionTimestamp !== undefined) {
      return null;
    }
    const refusal = this.#kubelet.refusalOf("node", pod);
    if (refusal !== null) {
      const before = pod.status?.conditions[0].lastTransitionTime;
      const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: refusal };
      store.update("pods", pod, (copy) => {
        copy.status = { conditions: [{ ...condition, lastTransitionTime: before ?? store.time }] };
      });
      return null;
    }
    return claim;
  }

  #begin(pod: Stored): void {
    const { store } = this.#api;
    const claim = this.#placed(pod);
    if (claim === null) {
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

  /** A deleted claim goes with its volume once no pod uses it. */
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
    if (claim.spec.volumeName === undefined && !this.#kubelet.canBind(claim)) {
      return;
    }
    const refusal = claim.spec.volumeName === undefined ? this.#kubelet.refusalOf("volume", claim) : null;
    if (refusal !== null) {
      this.#tell("PersistentVolumeClaim", claim, "ProvisioningFailed", refusal);
      return;
    }
    const { storage } = claim.spec.resources.requests;
    if (claim.spec.volumeName === undefined || claim.status?.capacity?.storage !== storage) {
      store.update("persistentvolumeclaims", claim, (copy) => {
        copy.spec.volumeName ??= `pv-${copy.metadata.uid}`;
        copy.status = { phase: "Bound", ...copy.status, capacity: { storage } };
      });
    }
  }

  #expand(set: Stored): void {
    const { store } = this.#api;
    const { name, namespace } = set.metadata;
    const revision = `${name}-${revisionOf(set.spec.template)}`;
    const { observedGeneration, updateRevision } = set.status ?? {};
    if (observedGeneration !== set.metadata.generation || updateRevision !== revision) {
      store.update("statefulsets", set, (copy) => {
        copy.status = { ...copy.status, observedGeneration: copy.metadata.generation, updateRevision: revision };
      });
    }
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
      const refusal = this.#kubelet.refusalOf("claim", { ...template, metadata });
      if (refusal !== null) {
        const note = `create Claim ${claimName} for Pod ${name}-${ordinal} in StatefulSet ${name} failed error: ${refusal}`;
        this.#tell("StatefulSet", set, "FailedCreate", note);
        return;
      }
      const spec = { storageClassName: DEFAULT_CLASS, ...template.spec };
      store.create("persistentvolumeclaims", namespace, { ...template, metadata, spec, status: { phase: "Pending" } });
    }
    const { metadata, spec } = copyOf(set.spec.template);
    const labels = { ...metadata.labels, "controller-revision-hash": revision };
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name, uid, controller: true };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...metadata, name: `${name}-${ordinal}`, labels, ownerReferences: [owner] },
      spec,
    };
    const attempt = `create Pod ${name}-${ordinal} in StatefulSet ${name}`;
    const refusal = this.#kubelet.refusalOf("pod", pod);
    if (refusal !== null) {
      this.#tell("StatefulSet", set, "FailedCreate", `${attempt} failed error: ${refusal}`);
      return;
    }
    store.create("pods", namespace, pod);
    this.#tell("StatefulSet", set, "SuccessfulCreate", `${attempt} successful`);
  }

  /** An event as the older API writes it and the newer API shows it: a repetition only moves its time. */
  #tell(kind: string, { metadata }: Stored, reason: string, note: string): void {
    const { store } = this.#api;
    const { namespace, name, uid } = metadata;
    const isSame = (event: Any): boolean =>
      event.regarding.uid === uid && event.reason === reason && event.note === note;
    const before = store.list("events", namespace).find(isSame);
    if (before !== undefined) {
      store.update("events", before, (copy) => {
        copy.deprecatedLastTimestamp = store.time;
      });
      return;
    }
    store.create("events", namespace, {
      metadata: { name: `${name}.${reason.toLowerCase()}-${store.version}` },
      regarding: { kind, namespace, name, uid },
      reason,
      note,
      type: reason === "SuccessfulCreate" ? "Normal" : "Warning",
      eventTime: null,
      deprecatedLastTimestamp: store.time,
    });
  }
}
