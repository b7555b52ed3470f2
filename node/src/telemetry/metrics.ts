/**
 * What a member tells Prometheus about itself, in its conventions: names begin with `quoin_` and end with the unit, which
 * is a base unit.
 */

import { Gauge, Registry } from "prom-client";
import type { EventLoopDelay } from "./event-loop-delay.ts";

const MS_PER_SECOND = 1000;

/** The metrics of this process. Whoever reads the largest delay begins its next interval, for all other readers too. */
export function createMetrics(eventLoopDelay: EventLoopDelay): Registry {
  const registry = new Registry();
  const gauge: Gauge = new Gauge({
    name: "quoin_event_loop_delay_max_seconds",
    help: "Largest delay of the event loop since this was asked for last.",
    registers: [registry],
    collect: () => gauge.set(eventLoopDelay.takeLargestMs() / MS_PER_SECOND),
  });
  return registry;
}
