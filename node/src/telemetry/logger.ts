/**
 * Structured logs: one JSON object per line on standard output.
 *
 * The log never contains a secret: callers pass no token, API key, password, value or request body. The logger also
 * censors fields by path that could contain one by mistake.
 */

import { type Logger, pino } from "pino";

export type { Logger } from "pino";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Names of fields that could contain a secret. */
const CENSORED = ["authorization", "password", "apiKey", "api_key", "token", "accessToken"];

/**
 * A logger whose lines contain the member's name. It writes synchronously, so the last line before an exit is complete.
 */
export function createLogger(level: LogLevel, member: string): Logger {
  return pino({
    level,
    base: { member },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: CENSORED.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[censored]" },
  });
}
