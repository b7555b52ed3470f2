/**
 * Finds the namespaces that are near a limit, for metrics. Metrics must have few labels, however many namespaces there
 * are.
 *
 * Each look scans some of the namespaces and returns the fullest ones of the last complete round. So it costs little in
 * one turn of the event loop. With few namespaces each look is a complete round.
 */

import {
  COUNTED_QUOTAS,
  DEFAULT_STATE_LIMITS,
  namespaceLimitsOf,
  type StateReader,
  scanNamespaceUsage,
  unsetLimits,
} from "../state/index.ts";

/** A limit of a namespace, and its used share: 1 = all of it; more than 1 after the limit was lowered. */
export type QuotaShare = readonly [labels: readonly [namespace: string, quota: string], share: number];

/** Limits with a smaller used share are not shown. */
const SHOWN_SHARE_MIN = 0.5;
const SHOWN_MAX = 20;
/** Namespaces that one look scans (S44). */
const NAMESPACES_PER_SCAN = 1_000;
const UNSET = unsetLimits(DEFAULT_STATE_LIMITS);

export class NamespaceSurvey {
  /** The round continues after this namespace; null = it begins. */
  #after: string | null = null;
  #found: QuotaShare[] = [];
  #shown: readonly QuotaShare[] = [];

  /** Scans some more namespaces; returns at most SHOWN_MAX limits, the fullest first. */
  scan(state: StateReader): readonly QuotaShare[] {
    this.#after = scanNamespaceUsage(state, this.#after, NAMESPACES_PER_SCAN, (namespace, usage) => {
      const limits = namespaceLimitsOf(state, namespace, UNSET);
      for (const quota of COUNTED_QUOTAS) {
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
