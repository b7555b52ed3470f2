export { CounterSampler, SAMPLE_INTERVAL_MS } from "./counter-sampler.ts";
export { METRIC_LISTS, memberMetrics } from "./member-metrics.ts";
