/** Field rules of requests about event logs; see field-rules for the refusals. */

import type { AppendGuard } from "@quoin/proto";
import { beginningOf } from "../../primitives/index.ts";
import {
  BATCH_EVENTS_MAX,
  badRequestField,
  CoordinationError,
  encodeText,
  type LogGuard,
  type LogSettings,
  type Payloads,
} from "../../state/index.ts";
import { guardField, namespaceField } from "./field-rules.ts";
import { regionIdField } from "./memory-field-rules.ts";

/** Bytes of the name of a log, in UTF-8. */
export const LOG_NAME_BYTES_MAX = 256;
export const WAIT_SECONDS_MAX = 60;
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
const SETTING_NAMES: ReadonlySet<string> = new Set(LOG_SETTINGS.map(({ name }) => name));
const SETTINGS_TEXT = [...SETTING_NAMES].join(", ");

/** Bytes of a key of an event, and of the base of the keys of a batch. */
export const EVENT_KEY_BYTES_MAX = 1_024;
/** Any characters but control characters. */
const EVENT_KEY_PATTERN = /^[^\p{Cc}]+$/u;
/** Events of one request with a list of them: to decode and encode more takes longer than a slice. */
const LISTED_EVENTS_MAX = 10_000;

/** Settings from a client, by name; null removes a setting. */
export type SettingsFields = ReadonlyMap<string, number | null>;

/** The 16 bytes of the id of a log. */
export function logIdField(logId: string): Uint8Array {
  return regionIdField(logId, "log_id");
}

/** The name of a log, 1 to LOG_NAME_BYTES_MAX bytes in UTF-8. */
export function logNameField(name: string): string {
  if (name === "" || !name.isWellFormed() || encodeText(name).length > LOG_NAME_BYTES_MAX) {
    throw badRequestField("name", `must be text of 1 to ${LOG_NAME_BYTES_MAX} bytes in UTF-8`, LOG_NAME_BYTES_MAX);
  }
  return name;
}

/** The settings of a new log. Settings that are not given are not set. */
export function newSettingsField(fields: SettingsFields): LogSettings {
  return { ...NO_SETTINGS, ...logSettingsField(fields) };
}

/** The settings to change; null removes a setting. */
export function logSettingsField(fields: SettingsFields): Partial<LogSettings> {
  const unknown = fields.keys().find((given) => !SETTING_NAMES.has(given));
  if (unknown !== undefined) {
    throw badRequestField(`settings.${beginningOf(unknown)}`, `is no setting of a log: these are ${SETTINGS_TEXT}`);
  }
  const settings: { -readonly [Name in keyof LogSettings]?: number | null } = {};
  for (const { name, field, min, max } of LOG_SETTINGS) {
    const value = fields.get(name);
    if (value === undefined) {
      continue;
    }
    if (value !== null && !isWhole(value, min, max)) {
      throw badRequestField(`settings.${name}`, `must be a whole number from ${min} to ${max}, or not be set`, max);
    }
    settings[field] = value;
  }
  return settings;
}

/** The settings by their names for clients; null = not set. */
export function namedSettings(settings: LogSettings): (readonly [string, number | null])[] {
  return LOG_SETTINGS.map(({ name, field }) => [name, settings[field]]);
}

/** The last sequence that a log must have; undefined = any. 0 = the log has no event. */
export function expectedSequenceField(sequence: bigint | undefined): bigint | undefined {
  if (sequence !== undefined && sequence < 0n) {
    throw badRequestField("expected_sequence", "must be 0 or more");
  }
  return sequence;
}

/** The events of an append: one event, or the events of a batch. */
export function payloadsField(payloads: Payloads, isBatch: boolean): Payloads {
  const field = isBatch ? "payloads" : "payload";
  const countMax = isBatch ? BATCH_EVENTS_MAX : 1;
  if (payloads.count < 1 || payloads.count > countMax) {
    throw badRequestField(field, `must hold 1 to ${countMax} events`, countMax);
  }
  const bytesMax = isBatch ? BATCH_BYTES_MAX : EVENT_BYTES_MAX;
  const bytes = payloads.byteCount;
  if (bytes > bytesMax) {
    throw new CoordinationError("TOO_LARGE", `field ${field} has ${bytes} bytes; at most ${bytesMax} are allowed`, {
      details: new Map([
        ["field", field],
        ["limit", String(bytesMax)],
      ]),
    });
  }
  return payloads;
}

/** The settings to change: those with values, and those that are not to be set any more. */
export function changedSettingsField(values: SettingsFields, unset: readonly string[]): SettingsFields {
  const both = unset.find((name) => values.has(name));
  if (both !== undefined) {
    throw badRequestField("unset_settings", `must not have ${beginningOf(both)}, which has a value in settings`);
  }
  const unknown = unset.find((name) => !SETTING_NAMES.has(name));
  if (unknown !== undefined) {
    throw badRequestField("unset_settings", `has ${beginningOf(unknown)}; the settings are ${SETTINGS_TEXT}`);
  }
  return new Map([...values, ...unset.map((name) => [name, null] as const)]);
}

/** The key of one event; empty = none, which is null. */
export function eventKeyField(key: string): string | null {
  if (key !== "" && !isEventKey(key)) {
    const rule = `must have at most ${EVENT_KEY_BYTES_MAX} bytes of UTF-8 without control characters`;
    throw badRequestField("idempotency_key", rule, EVENT_KEY_BYTES_MAX);
  }
  return key === "" ? null : key;
}

/** The base of the keys of a batch: that of the last event is the longest. */
export function batchKeyField(base: string, count: number): string {
  if (base === "" || !isEventKey(`${base}:${count - 1}`)) {
    const rule = `must have 1 byte or more, and with :${count - 1} at most ${EVENT_KEY_BYTES_MAX} bytes of UTF-8 without`;
    throw badRequestField("idempotency_key", `${rule} control characters`, EVENT_KEY_BYTES_MAX);
  }
  return base;
}

/** The events of a batch in one message. */
export function listedPayloadsField(payloads: readonly Uint8Array[]): readonly Uint8Array[] {
  if (payloads.length < 1 || payloads.length > LISTED_EVENTS_MAX) {
    throw badRequestField("payloads", `must hold 1 to ${LISTED_EVENTS_MAX} events`, LISTED_EVENTS_MAX);
  }
  return payloads;
}

/** A lock hold that must be live for the append. */
export function appendGuardField(guard: AppendGuard | undefined): { readonly guard?: LogGuard } {
  const checked = guardField(guard).guard;
  return guard === undefined || checked === undefined
    ? {}
    : { guard: { ...checked, namespace: namespaceField(guard.namespace, "guard.namespace") } };
}

function isEventKey(key: string): boolean {
  return EVENT_KEY_PATTERN.test(key) && Buffer.byteLength(key) <= EVENT_KEY_BYTES_MAX;
}

/** The first sequence to read; 0 means the same as 1. */
export function fromSequenceField(sequence: bigint): number {
  if (sequence < 0n) {
    throw badRequestField("from_sequence", "must be 0 or a sequence, which is above 0");
  }
  return sequence === 0n ? 1 : Number(sequence);
}

/** Seconds that a read waits for events if there are none yet. */
export function waitSecondsField(seconds: bigint): number {
  if (seconds < 0n || seconds > WAIT_SECONDS_MAX) {
    throw badRequestField("wait_seconds", `must be 0 to ${WAIT_SECONDS_MAX}`, WAIT_SECONDS_MAX);
  }
  return Number(seconds);
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}
