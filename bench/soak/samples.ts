/** What members and clients use, and how long calls take, sampled again and again. */

import { percentile } from "../measuring/index.ts";
import { MEMBERS, type MemberSample, type Members, sampleMember } from "../members/index.ts";
import { CallTotals } from "./call-totals.ts";
import type { CallTime } from "./pace/index.ts";

/** The calls of one kind since the sample before. */
export interface CallSample {
  readonly count: number;
  /** Attempts that failed. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface SoakSample {
  readonly atSeconds: number;
  /** By position; null while the member does not answer. */
  readonly members: readonly (MemberSample | null)[];
  /** The process of all clients. */
  readonly clients: { readonly residentBytes: number; readonly heapBytes: number };
  readonly calls: Readonly<Record<string, CallSample>>;
}

const MS_PER_SECOND = 1_000;

export class Samples {
  readonly taken: SoakSample[] = [];
  readonly totals: CallTotals;
  startMs = 0;
  readonly #members: Members;
  /** Since the last sample. */
  #times: CallTime[] = [];

  /** @param seconds how long the load takes. */
  constructor(members: Members, seconds: number) {
    this.#members = members;
    this.totals = new CallTotals(seconds);
  }

  /** The load begins now. */
  begin(): void {
    this.startMs = performance.now();
  }

  add(time: CallTime): void {
    this.#times.push(time);
    this.totals.add(time, this.startMs);
  }

  async take(): Promise<SoakSample> {
    const positions = Array.from({ length: MEMBERS }, (_, at) => at);
    const members = await Promise.all(positions.map((at) => sampleMember(this.#members, at)));
    const { rss: residentBytes, heapUsed: heapBytes } = process.memoryUsage();
    const times = this.#times;
    this.#times = [];
    const sample = {
      atSeconds: (performance.now() - this.startMs) / MS_PER_SECOND,
      members,
      clients: { residentBytes, heapBytes },
      calls: callsOf(times),
    };
    this.taken.push(sample);
    return sample;
  }
}

/** The figures of each kind of call. */
export function callsOf(times: readonly CallTime[]): Record<string, CallSample> {
  const byKind = Map.groupBy(times, ({ kind }) => kind);
  const entries = [...byKind].map(([kind, ofKind]): [string, CallSample] => {
    const ascending = Float64Array.from(ofKind, ({ tookMs }) => tookMs).sort();
    const failed = ofKind.reduce((sum, time) => sum + time.failed, 0);
    const [p50Ms, p99Ms] = [percentile(ascending, 50), percentile(ascending, 99)];
    return [kind, { count: ofKind.length, failed, p50Ms, p99Ms }];
  });
  return Object.fromEntries(entries);
}
