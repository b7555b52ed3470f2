/**
 * The counters of a member over the last minutes, without any other program: a timer takes a sample of counts that the
 * member keeps anyway, and a ring keeps the last ones. Nothing is done on the path of a request.
 */

import { type CounterSample, MemberRole } from "@quoin/proto";
import type { EventLoopDelay } from "../../telemetry/index.ts";
import { type CounterSource, roleOf } from "../methods/index.ts";
import { type ObservedRequests, type RequestTotals, requestsBetween, requestTotals } from "./request-totals.ts";

/** Interval of the samples in milliseconds. */
export const SAMPLE_INTERVAL_MS = 5_000;
/** Samples that are kept: 15 minutes, and one that is complete at their beginning. */
const SAMPLES_KEPT = 181;
const US_PER_MS = 1_000;

type Consensus = Parameters<typeof roleOf>[0] & { readonly lagMs: number };

/** What the sampler reads. */
export interface SampledParts extends ObservedRequests {
  readonly member: {
    readonly replica: { status(): Consensus } | null;
    readonly fileSystemSpace: { readonly freeBytes: number } | null;
    stateProperty(name: string): number | null;
    readonly logBytes: number | null;
  };
  /** Its largest delay is read by this sampler alone. */
  readonly eventLoopDelay: Pick<EventLoopDelay, "takeLargestMs">;
  readonly process: {
    cpuUsage(): { readonly user: number; readonly system: number };
    readonly memoryUsage: { rss(): number };
  };
  /** Numbers of open streams and of open connections. */
  readonly streams: () => number;
  readonly connections: () => number;
  readonly clock: { monotonicMs(): number; wallMs(): number };
}

interface Kept {
  readonly takenMs: number;
  readonly sample: CounterSample;
}

export class CounterSampler implements CounterSource {
  readonly #parts: SampledParts;
  readonly #ring: Kept[] = [];
  /** Where the next sample goes once the ring is full. */
  #next = 0;
  #lastMs: number;
  #processorUs: number;
  #totals: RequestTotals;

  constructor(parts: SampledParts) {
    this.#parts = parts;
    this.#lastMs = parts.clock.monotonicMs();
    this.#processorUs = this.#readProcessor();
    this.#totals = requestTotals(parts);
  }

  /** Takes a sample; the owner calls it at the interval. */
  sample(): void {
    const { member, eventLoopDelay, process, streams, connections, clock } = this.#parts;
    const takenMs = clock.monotonicMs();
    const processorUs = this.#readProcessor();
    const totals = requestTotals(this.#parts);
    const consensus = member.replica?.status();
    const sample: CounterSample = {
      atMs: BigInt(clock.wallMs()),
      intervalMs: Math.round(takenMs - this.#lastMs),
      requests: requestsBetween(this.#totals, totals),
      lagMs: BigInt(Math.round(consensus?.lagMs ?? 0)),
      role: consensus === undefined ? MemberRole.MEMBER_ROLE_UNSPECIFIED : roleOf(consensus),
      loopDelayUs: BigInt(Math.round(eventLoopDelay.takeLargestMs() * US_PER_MS)),
      processorUs: BigInt(processorUs - this.#processorUs),
      memoryBytes: BigInt(process.memoryUsage.rss()),
      dbSizeBytes: BigInt(this.#storeBytes()),
      diskFreeBytes: BigInt(member.fileSystemSpace?.freeBytes ?? 0),
      streams: streams(),
      connections: connections(),
    };
    this.#lastMs = takenMs;
    this.#processorUs = processorUs;
    this.#totals = totals;
    this.#keep({ takenMs, sample });
  }

  samplesOf(windowMs: number): readonly CounterSample[] {
    const fromMs = this.#parts.clock.monotonicMs() - windowMs;
    const ordered = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    return ordered.filter(({ takenMs }) => takenMs > fromMs).map(({ sample }) => sample);
  }

  #keep(kept: Kept): void {
    if (this.#ring.length < SAMPLES_KEPT) {
      this.#ring.push(kept);
    } else {
      this.#ring[this.#next] = kept;
      this.#next = (this.#next + 1) % SAMPLES_KEPT;
    }
  }

  #readProcessor(): number {
    const { user, system } = this.#parts.process.cpuUsage();
    return user + system;
  }

  /** Bytes of the log, and of the table files of the state. */
  #storeBytes(): number {
    const { member } = this.#parts;
    return (member.logBytes ?? 0) + (member.stateProperty("rocksdb.total-sst-files-size") ?? 0);
  }
}
