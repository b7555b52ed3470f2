/**
 * Which namespaces are near a limit: for metrics, which must have few labels however many namespaces there are.
 *
 * A look goes over some of the namespaces and shows the fullest ones of the last round that is complete. So it costs
 * little in one turn of the event loop, and with few namespaces each look is a whole round.
 */

import {
  DEFAULT_STATE_LIMITS,
  KEPT_QUOTAS,
  namespaceLimitsOf,
  type StateReader,
  scanNamespaceUsage,
  unsetLimits,
} from "../state/index.ts";

/** A limit of a namespace, and which share of it is used: 1 = all of it, or more where the limit was lowered. */
export type QuotaShare = readonly [labels: readonly [namespace: string, quota: string], share: number];

/** What is less than half used is not shown. */
const SHOWN_SHARE_MIN = 0.5;
const SHOWN_MAX = 20;
/** Namespaces that one look goes over (S44). */
const NAMESPACES_PER_LOOK = 1_000;
const UNSET = unsetLimits(DEFAULT_STATE_LIMITS);

export class NamespaceSurvey {
  /** The namespace after which the round goes on; null = it begins. */
  #after: string | null = null;
  #found: QuotaShare[] = [];
  #shown: readonly QuotaShare[] = [];

  /** Goes over some more namespaces; returns at most SHOWN_MAX limits, the fullest first. */
  look(state: StateReader): readonly QuotaShare[] {
    this.#after = scanNamespaceUsage(state, this.#after, NAMESPACES_PER_LOOK, (namespace, usage) => {
      const limits = namespaceLimitsOf(state, namespace, UNSET);
      for (const quota of KEPT_QUOTAS) {
        const share = usage[quota] === 0 ? 0 : usage[quota] / Math.max(limits[quota], 1);
        if (share >= SHOWN_SHARE_MIN) {
          this.#found.push([[namespace, quota], share]);
        }
      }
    });
    this.#found = this.#found.sort(([, one], [, other]) => other - one).slice(0, SHOWN_MAX);
    if (this.#after === null) {
      this.#shown = this.#found;
      this.#found = [];
    }
    return this.#shown;
  }
}
