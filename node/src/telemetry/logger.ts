/**
 * Structured logs: one JSON object a line on standard output.
 *
 * Never a secret: no token, API key, password, value or request body is passed to it, and what could carry one by
 * mistake is censored by path.
 */

import { type Logger, pino } from "pino";

export type { Logger } from "pino";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Names under which a secret could be logged. */
const CENSORED = ["authorization", "password", "apiKey", "api_key", "token", "accessToken"];

/** A logger whose lines carry the member's name. Writes synchronously, so the last line before an exit is there. */
export function createLogger(level: LogLevel, member: string): Logger {
  return pino({
    level,
    base: { member },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: CENSORED.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[censored]" },
  });
}
