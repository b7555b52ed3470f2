/** Logs, metrics and probes of the operator. */
export { EVERY_ADDRESS, HealthServer } from "./health-server.ts";
export { createLogger, LOG_LEVELS, type Logger, type LogLevel } from "./logger.ts";
export { OperatorMetrics } from "./metrics.ts";
