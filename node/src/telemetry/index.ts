export { type Check, Health, type Test } from "./health.ts";
export { createLogger, LOG_LEVELS, type Logger, type LogLevel } from "./logger.ts";
