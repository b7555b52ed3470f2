/** Watches the pods behind a cluster's leader Service, and when they changed. */

import { nowMs } from "./load/index.ts";
import type { QuoinCluster } from "./quoin-cluster.ts";

interface EndpointSample {
  readonly atMs: number;
  /** Names of the pods that are ready in the Service's EndpointSlice. */
  readonly pods: readonly string[];
}

export class LeaderEndpoints {
  readonly #samples: EndpointSample[] = [];
  readonly #end = new AbortController();
  readonly #watching: Promise<void>;

  constructor({ kubernetes, namespace, name }: QuoinCluster) {
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    const query = `labelSelector=kubernetes.io/service-name=${name}-leader`;
    this.#watching = kubernetes.watch(`${slices}?${query}`, this.#end.signal, ({ endpoints }) => {
      const ready = (endpoints ?? []).filter(
        ({ conditions }: { conditions?: { ready?: boolean } }) => conditions?.ready !== false,
      );
      const pods = ready.map(({ targetRef }: { targetRef?: { name: string } }) => targetRef?.name ?? "");
      this.#samples.push({ atMs: nowMs(), pods });
    });
    // `close` reports the error.
    this.#watching.catch(() => undefined);
  }

  /** Rejects if the watch has broken: then the record is incomplete. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#watching;
  }

  /** When the Service first routed to this pod alone since then; null if it has not yet. */
  aloneSince(pod: string, sinceMs: number): number | null {
    const sample = this.#samples.find(({ atMs, pods }) => atMs >= sinceMs && pods.length === 1 && pods[0] === pod);
    return sample?.atMs ?? null;
  }

  /** The pods to which it routed at that time. */
  podsAt(atMs: number): readonly string[] {
    return this.#samples.findLast((sample) => sample.atMs <= atMs)?.pods ?? [];
  }

  /** How long it routed to several pods at a time, in milliseconds, in a time span. */
  severalMs(fromMs: number, toMs: number): number {
    return this.#timeOf(({ pods }) => pods.length > 1, fromMs, toMs);
  }

  /** How long it routed to no pod. */
  withoutPodsMs(fromMs: number, toMs: number): number {
    return this.#timeOf(({ pods }) => pods.length === 0, fromMs, toMs);
  }

  #timeOf(isMeant: (sample: EndpointSample) => boolean, fromMs: number, toMs: number): number {
    let sum = 0;
    for (const [at, sample] of this.#samples.entries()) {
      const endMs = Math.min(toMs, this.#samples[at + 1]?.atMs ?? toMs);
      if (isMeant(sample)) {
        sum += Math.max(0, endMs - Math.max(fromMs, sample.atMs));
      }
    }
    return sum;
  }
}
