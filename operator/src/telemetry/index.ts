/** What the operator tells those who run it. */
export { EVERY_ADDRESS, HealthServer } from "./health-server.ts";
export { createLogger, LOG_LEVELS, type Logger, type LogLevel } from "./logger.ts";
export { OperatorMetrics } from "./metrics.ts";
