/** Structured logs: one JSON object a line on standard output. Fields that may carry a secret are censored by name. */
import { type Logger, pino } from "pino";

export type { Logger } from "pino";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const CENSORED = ["authorization", "Authorization", "password", "apiKey", "token", "data"];

/** Writes synchronously, so that the last line before an exit is not lost. */
export function createLogger(level: LogLevel, instance: string): Logger {
  return pino({
    level,
    base: { instance },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: CENSORED.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[censored]" },
  });
}
