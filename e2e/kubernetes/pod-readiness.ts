/** Watches the number of ready pods of a cluster. */

import type { KubeObject } from "./kubernetes-api.ts";
import { isPodReady, type QuoinCluster } from "./quoin-cluster.ts";

export class PodReadiness {
  readonly #members: number;
  readonly #ready = new Set<string>();
  readonly #end = new AbortController();
  readonly #watching: Promise<void>;
  #hasBegun = false;
  #mostUnready = 0;

  /** @param members number of pods that are ready now */
  constructor({ kubernetes, namespace, name }: QuoinCluster, members: number) {
    this.#members = members;
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=quoin.dev/cluster=${name}`;
    this.#watching = kubernetes.watch(path, this.#end.signal, (pod) => this.#see(pod));
    // `close` reports the error.
    this.#watching.catch(() => undefined);
  }

  /** Ends the watch, and returns the greatest number of unready pods at any time. Rejects if the watch has broken. */
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
