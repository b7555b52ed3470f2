export { CERTIFICATE_METRICS } from "./certificate-metrics.ts";
export { type Bounds, DurationHistogram, LONG_BOUNDS, REQUEST_BOUNDS, SHORT_BOUNDS } from "./duration-histogram.ts";
export { BEAT_INTERVAL_MS, EventLoopDelay } from "./event-loop-delay.ts";
export { type Check, HEALTH_METRICS, Health, type Test } from "./health.ts";
export { createLogger, LOG_LEVELS, type Logger, type LogLevel } from "./logger.ts";
export { counter, gauge, histogram, type Metric, type MetricDescription } from "./metric.ts";
export { Metrics } from "./metrics.ts";
export { PROCESS_METRICS } from "./process-metrics.ts";
export { type AnsweredRequest, RequestLog } from "./request-log.ts";
