export { BEAT_INTERVAL_MS, EventLoopDelay } from "./event-loop-delay.ts";
export { type Check, Health, type Test } from "./health.ts";
export { createLogger, LOG_LEVELS, type Logger, type LogLevel } from "./logger.ts";
export { createMetrics } from "./metrics.ts";
