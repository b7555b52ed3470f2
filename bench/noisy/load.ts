/** How busy the members and their machine are during a noise: what stands in the way of the quiet tenant. */

import { availableParallelism } from "node:os";
import type { AdminClient, CounterSample } from "@quoin/client";
import { machineCpuMs, usageOf } from "../measuring/index.ts";

export interface Load {
  /** Cores that the members use, all together. */
  readonly memberCores: number;
  /** Share of the machine's processor time that everything on it uses, 0 to 1. */
  readonly machineShare: number;
  /** The longest time for which the event loop of a member did not turn, in milliseconds. */
  readonly turnMsMax: number;
}

const MS_PER_SECOND = 1_000;
const US_PER_MS = 1_000;

/** Measures from its creation until `stop`. */
export class LoadMeter {
  readonly #pids: readonly number[];
  readonly #startedAtMs = Date.now();
  readonly #memberMs: number;
  readonly #machineMs = machineCpuMs();

  constructor(pids: readonly number[]) {
    this.#pids = pids;
    this.#memberMs = this.#usedMs();
  }

  /** Ends the measurement. The result reads the counters of the members, which are complete five seconds later. */
  stop(): (admin: AdminClient) => Promise<Load> {
    const endedAtMs = Date.now();
    const tookMs = endedAtMs - this.#startedAtMs;
    const memberCores = (this.#usedMs() - this.#memberMs) / tookMs;
    const machineShare = (machineCpuMs() - this.#machineMs) / tookMs / availableParallelism();
    return async (admin) => {
      const windowSeconds = Math.ceil((Date.now() - this.#startedAtMs) / MS_PER_SECOND) + 1;
      const { members } = await admin.memberCounters({ windowSeconds });
      const samples = members.flatMap((member) => member.samples);
      return { memberCores, machineShare, turnMsMax: longestTurnMs(samples, this.#startedAtMs, endedAtMs) };
    };
  }

  #usedMs(): number {
    return this.#pids.reduce((sum, pid) => sum + (usageOf(pid)?.cpuMs ?? 0), 0);
  }
}

/** The longest delay in the intervals that overlap this time. */
export function longestTurnMs(samples: readonly CounterSample[], fromMs: number, toMs: number): number {
  const during = samples.filter(({ atMs, intervalMs }) => atMs > fromMs && atMs - intervalMs < toMs);
  return Math.max(0, ...during.map(({ loopDelayUs }) => loopDelayUs / US_PER_MS));
}
