/**
 * Who of several operators works: the holder of a Lease. It saves work and nothing more: what two operators write at once
 * is made safe by what each write names as its origin.
 *
 * Only a clock that grows is looked at: a record counts as old when this process has seen it unchanged for its duration.
 */
import type { V1Lease } from "@kubernetes/client-node";
import type { KubeClient } from "./client.ts";
import { isKubeError } from "./kube-error.ts";
import type { Reference } from "./resources.ts";
import type { Timing } from "./timing.ts";
import type { Wire } from "./wire.ts";

const DURATION_SECONDS = 15;
/** A holder that cannot renew for so long has lost it, before anybody else takes it. */
const RENEW_WITHIN_MS = 10_000;
const RETRY_MS = 2_000;
/** After a renewal. One that then fails is tried again twice before the Lease is lost. */
const RENEW_MS = 4_000;

type Lease = Wire<V1Lease>;

export interface ElectorOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** This process, unlike any other. */
  readonly identity: string;
  readonly onError: (error: unknown) => void;
  readonly timing: Timing;
}

export class Elector {
  readonly #options: ElectorOptions;
  readonly #reference: Reference;
  /** The record that was seen last, and when it was seen first. */
  #seen: { readonly resourceVersion: string; readonly atMs: number } | null = null;
  /** The record as this process has written it last, which nobody has changed since as far as is known. */
  #known: Lease | null = null;
  /** When the renewal was sent that was accepted last; null = this process does not hold it. */
  #renewedMs: number | null = null;

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.#reference = { kind: "Lease", namespace: options.namespace, name: options.name };
  }

  /** For how long nobody else can hold it, in milliseconds; 0 if this process does not. */
  get remainingMs(): number {
    const elapsedMs = this.#options.timing.monotonicMs() - (this.#renewedMs ?? Number.NEGATIVE_INFINITY);
    return Math.max(0, DURATION_SECONDS * 1000 - elapsedMs);
  }

  /** Resolves when this process holds the Lease, or when the signal aborts. */
  async acquire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#renewedMs === null) {
      await this.#try();
      if (this.#renewedMs === null) {
        await this.#options.timing.sleep(RETRY_MS, signal);
      }
    }
  }

  /** Renews until the signal aborts, and then gives the Lease up; resolves to whether it was lost before. */
  async hold(signal: AbortSignal): Promise<"released" | "lost"> {
    const { timing } = this.#options;
    while (!signal.aborted) {
      await timing.sleep(this.#known === null ? RETRY_MS : RENEW_MS, signal);
      if (signal.aborted) {
        break;
      }
      await this.#try();
      if (this.#renewedMs === null || timing.monotonicMs() - this.#renewedMs >= RENEW_WITHIN_MS) {
        this.#renewedMs = null;
        return "lost";
      }
    }
    await this.#release();
    return "released";
  }

  async #try(): Promise<void> {
    const { client, namespace, name, timing, onError } = this.#options;
    const startMs = timing.monotonicMs();
    const known = this.#known;
    this.#known = null;
    try {
      const lease = known ?? (await client.get<Lease>(this.#reference));
      if (lease === null) {
        const spec = this.#record(null);
        this.#known = await client.create<Lease>(
          { kind: "Lease", namespace },
          {
            apiVersion: "coordination.k8s.io/v1",
            kind: "Lease",
            metadata: { name },
            spec,
          },
        );
        this.#renewedMs = startMs;
      } else if (this.#mayTake(lease)) {
        this.#known = await this.#write(lease, this.#record(lease));
        this.#renewedMs = startMs;
      } else {
        this.#renewedMs = null;
      }
    } catch (error) {
      // Another one has written it since: what it says now tells who may.
      if (known !== null && isKubeError(error, "conflict", "missing")) {
        return await this.#try();
      }
      // Somebody else was faster: the next look tells who. Of anything else the operator's log tells.
      if (!isKubeError(error, "conflict", "exists")) {
        onError(error);
      }
    }
  }

  #mayTake({ metadata, spec }: Lease): boolean {
    const { identity, timing } = this.#options;
    const nowMs = timing.monotonicMs();
    const resourceVersion = metadata?.resourceVersion ?? "";
    if (this.#seen?.resourceVersion !== resourceVersion) {
      this.#seen = { resourceVersion, atMs: nowMs };
    }
    const holder = spec?.holderIdentity ?? "";
    const durationMs = (spec?.leaseDurationSeconds ?? DURATION_SECONDS) * 1000;
    return holder === identity || holder === "" || nowMs - this.#seen.atMs >= durationMs;
  }

  /** @param before null = there is none yet */
  #record(before: Lease | null): object {
    const { identity } = this.#options;
    const now = microTime();
    const isRenewal = before?.spec?.holderIdentity === identity;
    const leaseTransitions = before === null ? 0 : (before.spec?.leaseTransitions ?? 0) + 1;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: DURATION_SECONDS,
      renewTime: now,
      ...(isRenewal ? {} : { acquireTime: now, leaseTransitions }),
    };
  }

  #write({ metadata }: Lease, spec: object): Promise<Lease> {
    const precondition = { uid: metadata?.uid ?? "", resourceVersion: metadata?.resourceVersion ?? "" };
    return this.#options.client.patch<Lease>(this.#reference, precondition, { spec });
  }

  async #release(): Promise<void> {
    const { client, identity, onError } = this.#options;
    this.#renewedMs = null;
    try {
      const lease = await client.get<Lease>(this.#reference);
      if (lease?.spec?.holderIdentity === identity) {
        await this.#write(lease, { holderIdentity: "", leaseDurationSeconds: 1 });
      }
    } catch (error) {
      onError(error);
    }
  }
}

/** Now, as the API server writes times with microseconds. */
function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
