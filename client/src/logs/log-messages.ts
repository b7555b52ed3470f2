/** Event logs and their events in the SDK, made from those on the wire. */

import type { EventBody, EventsBody, LogBody } from "@quoin/proto";
import { parseJson } from "../calls/index.ts";

/** An event log. */
export interface LogInfo {
  readonly logId: string;
  readonly name: string;
  /** Its name is unique within this namespace. Users see only logs of their namespaces. */
  readonly namespace: string;
  /** Sequence of the oldest kept event, or of the next one if there is none. */
  readonly firstSequence: number;
  /** 0 = nothing was ever appended. */
  readonly lastSequence: number;
  readonly eventCount: number;
  readonly sizeBytes: number;
  /** Unix time. */
  readonly createdAtMs: number;
  /** Id of a user. */
  readonly createdBy: string;
  readonly settings: LogSettings;
}

/** Settings of a log. In requests, undefined = unchanged, and null = removed. */
export interface LogSettings {
  /** How long keys of events are remembered, in seconds; 0 = not at all; null = the cluster's default. */
  readonly duplicateWindowSeconds?: number | null | undefined;
  /** Older events are removed, in seconds; null = no limit. */
  readonly retentionMaxAgeSeconds?: number | null | undefined;
  /** The oldest events beyond this many bytes are removed; null = no limit. */
  readonly retentionMaxBytes?: number | null | undefined;
}

/** An event. */
export interface LogEvent {
  readonly sequence: number;
  /** Unix time. */
  readonly timestampMs: number;
  readonly payload: Uint8Array;
  /** Undefined = none. */
  readonly key: string | undefined;
}

/** Consecutive events. */
export interface EventPage {
  readonly events: readonly LogEvent[];
  /** The last sequence of the log. */
  readonly lastSequence: number;
}

const SETTING_NAMES = [
  ["duplicateWindowSeconds", "queue.duplicate_window_secs"],
  ["retentionMaxAgeSeconds", "retention.max_age_secs"],
  ["retentionMaxBytes", "retention.max_bytes"],
] as const;

/** A log in the form of the SDK. */
export function logOf(log: LogBody): LogInfo {
  return {
    logId: log.log_id,
    name: log.name,
    namespace: log.namespace,
    firstSequence: log.first_sequence,
    lastSequence: log.last_sequence,
    eventCount: log.event_count,
    sizeBytes: log.size_bytes,
    createdAtMs: Date.parse(log.created_at),
    createdBy: log.created_by,
    settings: Object.fromEntries(SETTING_NAMES.map(([name, wireName]) => [name, log.settings[wireName] ?? null])),
  };
}

/** Settings in the form of the wire. */
export function wireSettings(settings: LogSettings): Record<string, number | null> {
  const entries = SETTING_NAMES.map(([name, wireName]) => [wireName, settings[name]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is [(typeof entry)[0], number | null] => entry[1] !== undefined),
  );
}

/** A page of events in the form of the SDK. */
export function pageOf({ events, last_sequence: lastSequence }: EventsBody): EventPage {
  return { events: events.map(eventOf), lastSequence };
}

/** An event from a stream. */
export function eventOfText(text: string): LogEvent {
  return eventOf(parseJson(text));
}

function eventOf({ sequence, timestamp, payload, idempotency_key: key }: EventBody): LogEvent {
  return {
    sequence,
    timestampMs: Date.parse(timestamp),
    payload: new Uint8Array(Buffer.from(payload, "base64")),
    key: key ?? undefined,
  };
}
