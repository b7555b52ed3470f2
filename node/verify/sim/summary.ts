/** The summary of many runs: sums, which do not depend on the order of the runs or on the process that made them. */

import { Coverage } from "./coverage.ts";
import type { RunResult } from "./run-result.ts";

/** What a run adds to the sums. */
export interface Tally {
  /** Milliseconds that have passed in the run, and that it took of a processor. */
  readonly virtualMs: number;
  readonly cpuMs: number;
  readonly events: number;
  /** How often the run did each counted thing. */
  readonly counts: Readonly<Record<string, number>>;
  /** Marks and pairs that it has reached, with the number of times. */
  readonly reached: ReadonlyMap<string, number>;
}

const MS_PER_SECOND = 1_000;
const MS_PER_HOUR = 3_600_000;

export function tallyOf({ nowMs, events, counts, reached }: RunResult, cpuMs: number): Tally {
  return { virtualMs: nowMs, cpuMs, events, counts, reached };
}

export class Summary {
  readonly #reach = new Coverage();
  readonly #counts = new Map<string, number>();
  #runs = 0;
  #virtualMs = 0;
  #cpuMs = 0;
  #events = 0;

  add({ virtualMs, cpuMs, events, counts, reached }: Tally): void {
    this.#runs++;
    this.#virtualMs += virtualMs;
    this.#cpuMs += cpuMs;
    this.#events += events;
    for (const [name, count] of Object.entries(counts)) {
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
    }
    this.#reach.add(reached);
  }

  /** Names with the number of times each was reached. */
  get reached(): ReadonlyMap<string, number> {
    return this.#reach.counts;
  }

  /** Several lines. */
  describe(): string {
    const cpuSeconds = this.#cpuMs / MS_PER_SECOND;
    const eventsPerSecond = cpuSeconds === 0 ? 0 : Math.round(this.#events / cpuSeconds);
    const counts = [...this.#counts].map(([name, count]) => `${name} ${count}`);
    return [
      `runs           ${this.#runs}`,
      `virtual time   ${seconds(this.#virtualMs)} (${(this.#virtualMs / MS_PER_HOUR).toFixed(1)} h)`,
      `CPU time       ${seconds(this.#cpuMs)}, ${(cpuSeconds / Math.max(this.#runs, 1)).toFixed(2)} s a run`,
      `events         ${this.#events}, ${eventsPerSecond} per second of CPU time`,
      `lived through  ${counts.join("  ")}`,
    ].join("\n");
  }
}

function seconds(durationMs: number): string {
  return `${(durationMs / MS_PER_SECOND).toFixed(0)} s`;
}
