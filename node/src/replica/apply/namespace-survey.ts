/**
 * Finds for each quota the namespace that has used the largest share of its limit, for metrics. Metrics need no token,
 * so they name no namespace, and they are few, however many namespaces there are.
 *
 * Each look scans some of the namespaces and returns the shares of the last complete round. So it costs little in one
 * turn of the event loop. With few namespaces each look is a complete round.
 */

import {
  COUNTED_QUOTAS,
  DEFAULT_STATE_LIMITS,
  namespaceLimitsOf,
  type StateReader,
  scanNamespaceUsage,
  unsetLimits,
} from "../../state/index.ts";

type CountedQuota = (typeof COUNTED_QUOTAS)[number];

/** A quota, and the largest used share: 1 = all of it; more than 1 after the limit was lowered. */
export type QuotaShare = readonly [labels: readonly [quota: string], share: number];

/** Namespaces that one look scans (S44). */
const NAMESPACES_PER_SCAN = 1_000;
const UNSET = unsetLimits(DEFAULT_STATE_LIMITS);

export class NamespaceSurvey {
  /** The round continues after this namespace; null = it begins. */
  #after: string | null = null;
  #found = new Map<CountedQuota, number>();
  #shown: readonly QuotaShare[] = [];

  /** Scans some more namespaces; returns all quotas once the first round is complete. */
  scan(state: StateReader): readonly QuotaShare[] {
    this.#after = scanNamespaceUsage(state, this.#after, NAMESPACES_PER_SCAN, (namespace, usage) => {
      const limits = namespaceLimitsOf(state, namespace, UNSET);
      for (const quota of COUNTED_QUOTAS) {
        const share = usage[quota] === 0 ? 0 : usage[quota] / Math.max(limits[quota], 1);
        this.#found.set(quota, Math.max(share, this.#found.get(quota) ?? 0));
      }
    });
    if (this.#after === null) {
      this.#shown = COUNTED_QUOTAS.map((quota) => [[quota], this.#found.get(quota) ?? 0]);
      this.#found = new Map();
    }
    return this.#shown;
  }
}
