/**
 * Decides when a request begins whether its trace is kept: by the decision of its caller, by chance, or always the same.
 * The names and their meaning are those of the environment variable OTEL_TRACES_SAMPLER.
 */

import type { TraceContext } from "./trace-context.ts";

export const SAMPLER_NAMES = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLER_NAMES)[number];

export interface SamplerOptions {
  readonly name: SamplerName;
  /** Share of the traces to keep, 0 to 1; only for the samplers by ratio. */
  readonly ratio: number;
}

/** The last hexadecimal digits of a trace id that decide, and the number of their values: 56 bits are random. */
const DECIDING_DIGITS = 13;
const DECIDING_VALUES = 16 ** DECIDING_DIGITS;

export class Sampler {
  /** Whether the caller's decision counts. */
  readonly #followsParent: boolean;
  readonly #ratio: number;
  readonly #random: () => number;

  /** @param random uniform in [0, 1). */
  constructor({ name, ratio }: SamplerOptions, random: () => number = Math.random) {
    this.#followsParent = name.startsWith("parentbased_");
    this.#ratio = name.endsWith("always_on") ? 1 : name.endsWith("always_off") ? 0 : ratio;
    this.#random = random;
  }

  /** Whether to keep the trace of a request whose caller sent this context; null = it sent none. */
  isSampled(parent: TraceContext | null): boolean {
    if (parent === null) {
      return this.#random() < this.#ratio;
    }
    // By the trace id, every participant with the same ratio decides the same.
    return this.#followsParent ? parent.isSampled : shareOf(parent.traceId) < this.#ratio;
  }
}

/** Where the trace id lies between the smallest and the greatest, in [0, 1). */
function shareOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-DECIDING_DIGITS), 16) / DECIDING_VALUES;
}
