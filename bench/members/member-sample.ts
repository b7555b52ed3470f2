/** What one member uses at a moment. */

import { readMetric } from "../clusters/index.ts";
import { bytesBelow, usageOf } from "../measuring/index.ts";
import type { Members } from "./members.ts";

export interface MemberSample {
  /** Resident memory, and the used part of the JavaScript heap. */
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly descriptors: number;
  readonly threads: number;
  /** Processor time since the start of its process, in milliseconds. */
  readonly cpuMs: number;
  /** Space on the disk of the Raft log, and of everything else. */
  readonly logBytes: number;
  readonly stateBytes: number;
  /** Largest delay of the event loop since the last sample, in milliseconds. */
  readonly loopDelayMs: number;
}

const MS_PER_SECOND = 1_000;
const LOG = "log";

/** Null while the member does not answer, and on a system without /proc. */
export async function sampleMember(members: Members, at: number): Promise<MemberSample | null> {
  const pid = members.pids[at] ?? null;
  const metrics = pid === null ? null : await members.metrics(at);
  const usage = pid === null || pid !== members.pids[at] ? null : usageOf(pid);
  if (metrics === null || usage === null) {
    return null;
  }
  const { residentBytes, descriptors, threads, cpuMs } = usage;
  const logBytes = bytesBelow(`${members.dataOf(at)}/${LOG}`);
  return {
    residentBytes,
    descriptors,
    threads,
    cpuMs,
    logBytes,
    heapBytes: readMetric(metrics, "nodejs_heap_size_used_bytes"),
    stateBytes: bytesBelow(members.dataOf(at)) - logBytes,
    loopDelayMs: readMetric(metrics, "quoin_event_loop_delay_max_seconds") * MS_PER_SECOND,
  };
}
