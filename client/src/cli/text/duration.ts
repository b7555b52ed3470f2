/** Parses and formats durations. */

import { InvalidArgumentError } from "commander";

const DURATION_PATTERN = /^([0-9]+)(ms|s|m|h)?$/;

const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/**
 * Reads a duration such as `90`, `90s`, `500ms`, `5m` or `1h`; without a unit it is in seconds.
 *
 * @returns milliseconds, more than 0.
 * @throws InvalidArgumentError of commander, which names the option.
 */
export function parseDurationMs(text: string): number {
  const [, digits, unit = "s"] = DURATION_PATTERN.exec(text) ?? [];
  const durationMs = Number(digits) * (UNITS_MS.get(unit) ?? Number.NaN);
  if (!Number.isSafeInteger(durationMs) || durationMs < 1) {
    throw new InvalidArgumentError("Give a duration such as 90s, 5m or 1h.");
  }
  return durationMs;
}

/**
 * Reads a waiting time: a duration for parseDurationMs, or 0 = no wait.
 *
 * @returns milliseconds.
 * @throws InvalidArgumentError of commander, which names the option.
 */
export function parseWaitMs(text: string): number {
  return text === "0" ? 0 : parseDurationMs(text);
}

/** A duration in milliseconds for people: `0ms`, `120ms`, `1.5s`. */
export function formatMilliseconds(durationMs: number): string {
  return durationMs < 1_000 ? `${durationMs}ms` : `${(durationMs / 1_000).toFixed(1)}s`;
}

/**
 * Reads a duration of whole seconds, such as `90`, `90s`, `5m` or `1h`.
 *
 * @returns seconds, at least 1.
 * @throws InvalidArgumentError of commander, which names the option.
 */
export function parseDurationSeconds(text: string): number {
  const seconds = parseDurationMs(text) / 1_000;
  if (!Number.isInteger(seconds)) {
    throw new InvalidArgumentError("Give whole seconds, such as 90s, 5m or 1h.");
  }
  return seconds;
}
