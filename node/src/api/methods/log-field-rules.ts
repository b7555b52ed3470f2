/** Field rules of requests about event logs; see field-rules for the refusals. */

import { BATCH_EVENTS_MAX, CoordinationError, encodeText, type LogSettings, type Payloads } from "../../state/index.ts";
import { badField } from "./field-rules.ts";
import { regionIdField } from "./memory-field-rules.ts";

/** Bytes of the name of a log, in UTF-8. */
export const LOG_NAME_BYTES_MAX = 256;
const WAIT_SECS_MAX = 60;
/** A week, and ten years. */
const DUPLICATE_WINDOW_SECS_MAX = 604_800;
const MAX_AGE_SECS_MAX = 315_360_000;

/** The settings by their names for clients, with their bounds and the fields that store them. */
export const LOG_SETTINGS = [
  { name: "queue.duplicate_window_secs", field: "duplicateWindowSecs", min: 0, max: DUPLICATE_WINDOW_SECS_MAX },
  { name: "retention.max_age_secs", field: "retentionMaxAgeSecs", min: 1, max: MAX_AGE_SECS_MAX },
  { name: "retention.max_bytes", field: "retentionMaxBytes", min: 1, max: Number.MAX_SAFE_INTEGER },
] as const satisfies readonly { field: keyof LogSettings; [rest: string]: unknown }[];

/**
 * Maximum bytes of an event that is appended alone, and of all events of a batch. A batch may be one event. With their
 * keys the events fit into one Raft log entry.
 */
export const EVENT_BYTES_MAX = 1024 * 1024;
export const BATCH_BYTES_MAX = 10 * 1024 * 1024;

const NO_SETTINGS: LogSettings = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };

/** Settings from a client: the fields of a JSON object. */
export type SettingsFields = ReadonlyMap<string, unknown>;

/** The 16 bytes of the id of a log. */
export function logIdField(logId: string): Uint8Array {
  return regionIdField(logId, "log_id");
}

/** The name of a log, 1 to LOG_NAME_BYTES_MAX bytes in UTF-8. */
export function logNameField(name: string): string {
  if (name === "" || !name.isWellFormed() || encodeText(name).length > LOG_NAME_BYTES_MAX) {
    throw badField("name", `must be text of 1 to ${LOG_NAME_BYTES_MAX} bytes in UTF-8`, LOG_NAME_BYTES_MAX);
  }
  return name;
}

/** The settings of a new log. Settings that are not given are not set. Fields with other names are ignored. */
export function newSettingsField(fields: SettingsFields | null): LogSettings {
  return { ...NO_SETTINGS, ...(fields === null ? {} : settingsField(fields)) };
}

/** The settings to change; null removes a setting. Fields with other names are ignored. */
export function settingsField(fields: SettingsFields): Partial<LogSettings> {
  const settings: { -readonly [Name in keyof LogSettings]?: number | null } = {};
  for (const { name, field, min, max } of LOG_SETTINGS) {
    const value = fields.get(name);
    if (value === undefined) {
      continue;
    }
    if (value !== null && !isWhole(value, min, max)) {
      throw badField(`settings.${name}`, `must be null or a whole number from ${min} to ${max}`, max);
    }
    settings[field] = value;
  }
  return settings;
}

/** The settings in the form for clients. */
export function settingsMessage(settings: LogSettings): Record<string, number | null> {
  return Object.fromEntries(LOG_SETTINGS.map(({ name, field }) => [name, settings[field]]));
}

/** The events of an append: one event, or the events of a batch. */
export function payloadsField(payloads: Payloads, isBatch: boolean): Payloads {
  const countMax = isBatch ? BATCH_EVENTS_MAX : 1;
  if (payloads.count < 1 || payloads.count > countMax) {
    throw badField("body", `must hold 1 to ${countMax} events`, countMax);
  }
  const bytesMax = isBatch ? BATCH_BYTES_MAX : EVENT_BYTES_MAX;
  const bytes = payloads.byteCount;
  if (bytes > bytesMax) {
    throw new CoordinationError("TOO_LARGE", `field body has ${bytes} bytes; at most ${bytesMax} are allowed`, {
      details: new Map([
        ["field", "body"],
        ["limit", String(bytesMax)],
      ]),
    });
  }
  return payloads;
}

/** The first sequence to read; 0 means the same as 1. */
export function fromSequenceField(sequence: number | null): number {
  if (sequence !== null && !isWhole(sequence, 0, Number.MAX_SAFE_INTEGER)) {
    throw badField("from_sequence", `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`);
  }
  return sequence ?? 1;
}

/** Seconds that a read waits for events if there are none yet. */
export function waitSecsField(seconds: number | null): number {
  if (seconds !== null && !isWhole(seconds, 0, WAIT_SECS_MAX)) {
    throw badField("wait_secs", `must be a whole number from 0 to ${WAIT_SECS_MAX}`, WAIT_SECS_MAX);
  }
  return seconds ?? 0;
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}
