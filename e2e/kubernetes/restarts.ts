/** Watches the pods of a cluster: which restart, in what order, and how many are unavailable at a time. */

import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import { isPodReady, type QuoinCluster } from "./quoin-cluster.ts";

/** Values that change with any restart of a pod or of a process in it. */
export function restartIdentityOf({ metadata, status }: KubeObject): object {
  const { name, uid } = metadata;
  const processes = status.containerStatuses.map(({ containerID, restartCount, state }: KubeObject) => ({
    containerID,
    restartCount,
    startedAt: state.running?.startedAt,
  }));
  return { name, uid, startTime: status.startTime, processes };
}

/** A pod whose deletion was requested, and its successor of the same name. */
export interface Restart {
  readonly name: string;
  /** When its deletion was requested, and its state then. */
  readonly endedMs: number;
  readonly role: string;
  /** When its successor was ready; null if it is not yet. */
  readonly readyMs: number | null;
}

export class Restarts {
  readonly #restarts = new Map<string, { name: string; endedMs: number; role: string; readyMs: number | null }>();
  readonly #ready = new Map<string, boolean>();
  readonly #end = new AbortController();
  readonly #watching: Promise<void>;
  #awayMax = 0;

  constructor({ kubernetes, namespace, name }: QuoinCluster) {
    const pods = `/api/v1/namespaces/${namespace}/pods?labelSelector=quoin.dev/cluster=${name}`;
    this.#watching = kubernetes.watch(pods, this.#end.signal, (pod) => this.#see(pod));
    // `close` reports the error.
    this.#watching.catch(() => undefined);
  }

  /** Rejects if the watch has broken: then the record is incomplete. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#watching;
  }

  /** In the order of the deletion requests. */
  get all(): readonly Restart[] {
    return [...this.#restarts.values()];
  }

  /** The greatest number of existing pods that were not ready at the same time. */
  get awayMax(): number {
    return this.#awayMax;
  }

  #see(pod: KubeObject): void {
    const { name, uid, deletionTimestamp, labels } = pod.metadata;
    const isReady = isPodReady(pod);
    if (deletionTimestamp !== undefined && !this.#restarts.has(uid)) {
      this.#restarts.set(uid, { name, endedMs: nowMs(), role: labels["quoin.dev/role"] ?? "", readyMs: null });
    }
    const last = [...this.#restarts.values()].findLast((restart) => restart.name === name);
    if (isReady && last !== undefined) {
      last.readyMs ??= nowMs();
    }
    this.#ready.set(name, isReady);
    this.#awayMax = Math.max(this.#awayMax, [...this.#ready.values()].filter((each) => !each).length);
  }
}
