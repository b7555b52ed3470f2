export { METRIC_LISTS, memberMetrics } from "./member-metrics.ts";
