/** Number of the operators' requests to the API server, from their own metrics. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Kubernetes } from "./kubernetes-api.ts";
import { OPERATOR_PODS, operatorPods } from "./scene.ts";

const PORT = 8080;
const REQUESTS = /^quoin_operator_api_requests_total\{[^}]*\} ([0-9]+)$/gm;
/** Distinguishes the processes of one pod, because each counts from zero. */
const STARTED = /^process_start_time_seconds ([0-9.e+]+)$/m;

interface Count {
  readonly started: string;
  readonly requests: number;
}

/** Requests of all operators in this many milliseconds. Those of a process that ended meanwhile are unknown. */
export async function requestsWithin(kubernetes: Kubernetes, durationMs: number): Promise<number> {
  const before = await countsOf(kubernetes);
  await sleep(durationMs);
  const after = await countsOf(kubernetes);
  let sum = 0;
  for (const [pod, { started, requests }] of after) {
    const earlier = before.get(pod);
    sum += requests - (earlier?.started === started ? earlier.requests : 0);
  }
  return sum;
}

/** By pod; without operators that do not answer. */
async function countsOf(kubernetes: Kubernetes): Promise<Map<string, Count>> {
  const counts = new Map<string, Count>();
  for (const { metadata } of await operatorPods(kubernetes)) {
    const text = await kubernetes.text(`${OPERATOR_PODS}/${metadata.name}:${PORT}/proxy/metrics`);
    if (text !== null) {
      const requests = [...text.matchAll(REQUESTS)].reduce((sum, [, count]) => sum + Number(count), 0);
      counts.set(metadata.name, { started: STARTED.exec(text)?.[1] ?? "", requests });
    }
  }
  return counts;
}
