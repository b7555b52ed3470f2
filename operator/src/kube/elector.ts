/**
 * Leader election among operators by a Lease. It only saves work. Writes of two operators at once are safe, because
 * each write names the version that it is based on.
 *
 * The elector uses a monotonic clock only: a record counts as expired when this process has seen it unchanged for its
 * duration.
 */
import type { V1Lease } from "@kubernetes/client-node";
import type { KubeClient } from "./client.ts";
import { isKubeError } from "./kube-error.ts";
import type { Reference } from "./resources.ts";
import type { Timing } from "./timing.ts";
import type { Wire } from "./wire.ts";

const DURATION_SECONDS = 15;
/** A holder that cannot renew for this long has lost the Lease, before any other operator may take it. */
const RENEW_WITHIN_MS = 10_000;
const RETRY_MS = 2_000;
/** Pause between renewals. After a failed renewal, there is time for two more tries before the Lease is lost. */
const RENEW_MS = 4_000;

type Lease = Wire<V1Lease>;

export interface ElectorOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Unique name of this process. */
  readonly identity: string;
  readonly onError: (error: unknown) => void;
  readonly timing: Timing;
}

export class Elector {
  readonly #options: ElectorOptions;
  readonly #reference: Reference;
  /** The last seen record, and when it was first seen. */
  #seen: { readonly resourceVersion: string; readonly atMs: number } | null = null;
  /** The record as this process last wrote it; as far as is known, no other process has changed it since. */
  #known: Lease | null = null;
  /** When the last successful renewal was sent; null if this process does not hold the Lease. */
  #renewedMs: number | null = null;

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.#reference = { kind: "Lease", namespace: options.namespace, name: options.name };
  }

  /** For how long no other operator can take the Lease, in milliseconds; 0 if this process does not hold it. */
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

  /** Renews until the signal aborts, and then releases the Lease. Resolves to whether the Lease was lost before. */
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
      } else if (this.#mayAcquire(lease)) {
        this.#known = await this.#write(lease, this.#record(lease));
        this.#renewedMs = startMs;
      } else {
        this.#renewedMs = null;
      }
    } catch (error) {
      // Another process has written the record since. The next read shows who holds the Lease.
      if (known !== null && isKubeError(error, "conflict", "missing")) {
        return await this.#try();
      }
      // Another process was faster; the next read shows which. Other errors go to the operator's log.
      if (!isKubeError(error, "conflict", "exists")) {
        onError(error);
      }
    }
  }

  #mayAcquire({ metadata, spec }: Lease): boolean {
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

  /** @param before null = there is no record yet */
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

/** Current time in the API server's format, with microseconds. */
function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
