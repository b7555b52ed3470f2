/** Watches the pods of a cluster: which are restarted, in what order, and how many are away at a time. */

import type { KubeObject } from "./kubernetes-api.ts";
import { nowMs } from "./load/index.ts";
import { isPodReady, type QuoinCluster } from "./quoin-cluster.ts";

/** What changes with any restart of a pod or of a process in it. */
export function lifeOf({ metadata, status }: KubeObject): object {
  const { name, uid } = metadata;
  const processes = status.containerStatuses.map(({ containerID, restartCount, state }: KubeObject) => ({
    ...{ containerID, restartCount, startedAt: state.running?.startedAt },
  }));
  return { name, uid, startTime: status.startTime, processes };
}

/** A pod that was told to end, and the one of its name that came after it. */
export interface Restart {
  readonly name: string;
  /** When it was told to end, and what it was then. */
  readonly endedMs: number;
  readonly role: string;
  /** When the next one was ready; null if it is not yet. */
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
    // Told when it is ended.
    this.#watching.catch(() => undefined);
  }

  /** Rejects if the watch has broken: then nothing is known. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#watching;
  }

  /** In the order in which the pods were told to end. */
  get all(): readonly Restart[] {
    return [...this.#restarts.values()];
  }

  /** How many pods that had been there were not ready at the same time, at most. */
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
