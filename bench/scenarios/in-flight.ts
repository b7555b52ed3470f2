import type { Concurrency } from "./scenario.ts";

/** How scenarios of independent requests differ: one shows the latency, many the throughput. */
export const IN_FLIGHT: Concurrency = {
  name: "in flight",
  flag: "--in-flight",
  description: "operations in flight, one point each",
  counts: [1, 64],
};
