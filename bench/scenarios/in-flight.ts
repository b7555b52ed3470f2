/**
 * The points of scenarios with independent operations: one at a time shows the latency, many at once show the
 * throughput.
 */

import type { Concurrency } from "./scenario.ts";

export const IN_FLIGHT: Concurrency = {
  name: "in flight",
  flag: "--in-flight",
  description: "operations in flight, one point each",
  counts: [1, 64],
};
