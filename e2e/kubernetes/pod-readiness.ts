/** Watches how many of a cluster's pods are ready, from moment to moment. */

import type { KubeObject } from "./kubernetes-api.ts";
import { isPodReady, type QuoinCluster } from "./quoin-cluster.ts";

export class PodReadiness {
  readonly #members: number;
  readonly #ready = new Set<string>();
  readonly #end = new AbortController();
  readonly #watching: Promise<void>;
  #hasBegun = false;
  #mostUnready = 0;

  /** @param members how many are ready now */
  constructor({ kubernetes, namespace, name }: QuoinCluster, members: number) {
    this.#members = members;
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=quoin.dev/cluster=${name}`;
    this.#watching = kubernetes.watch(path, this.#end.signal, (pod) => this.#see(pod));
    // Told when it is ended.
    this.#watching.catch(() => undefined);
  }

  /** Ends it, and returns how many were not ready at the same time at most. Rejects if the watch has broken. */
  async close(): Promise<number> {
    this.#end.abort();
    await this.#watching;
    if (!this.#hasBegun) {
      throw new Error("not all pods were ever ready");
    }
    return this.#mostUnready;
  }

  #see(pod: KubeObject): void {
    const { name } = pod.metadata;
    if (isPodReady(pod)) {
      this.#ready.add(name);
    } else {
      this.#ready.delete(name);
    }
    this.#hasBegun ||= this.#ready.size === this.#members;
    if (this.#hasBegun) {
      this.#mostUnready = Math.max(this.#mostUnready, this.#members - this.#ready.size);
    }
  }
}
