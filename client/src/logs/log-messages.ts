/** Event logs and their events in the SDK, made from those on the wire. */

import type { AppendEventsResponse, EventLog, LogEvent as LogEventMessage } from "@quoin/proto";
import { QuoinError } from "../errors/index.ts";
import { int64Field } from "../options/index.ts";

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
export function logOf(log: EventLog | undefined): LogInfo {
  if (log === undefined) {
    throw new QuoinError({ code: "INTERNAL", message: "the answer has no log" });
  }
  const settingOf = (wireName: string): number | null => {
    const value = log.settings.get(wireName);
    return value === undefined ? null : Number(value);
  };
  return {
    logId: log.logId,
    name: log.name,
    namespace: log.namespace,
    firstSequence: Number(log.firstSequence),
    lastSequence: Number(log.lastSequence),
    eventCount: Number(log.eventCount),
    sizeBytes: Number(log.sizeBytes),
    createdAtMs: Number(log.createdAtMs),
    createdBy: log.createdBy,
    settings: Object.fromEntries(SETTING_NAMES.map(([name, wireName]) => [name, settingOf(wireName)])),
  };
}

/** Settings in the form of the wire: those with values, and the names of those to remove. */
export function wireSettings(settings: LogSettings): {
  readonly settings: Map<string, bigint>;
  readonly unsetSettings: string[];
} {
  const values = new Map<string, bigint>();
  const unsetSettings: string[] = [];
  for (const [name, wireName] of SETTING_NAMES) {
    const value = settings[name];
    if (value === null) {
      unsetSettings.push(wireName);
    } else if (value !== undefined) {
      values.set(wireName, int64Field(`settings.${name}`, value));
    }
  }
  return { settings: values, unsetSettings };
}

/** An event in the form of the SDK. */
export function eventOf({ sequence, appendedAtMs, payload, idempotencyKey }: LogEventMessage): LogEvent {
  return {
    sequence: Number(sequence),
    timestampMs: Number(appendedAtMs),
    payload,
    key: idempotencyKey === "" ? undefined : idempotencyKey,
  };
}

/** The sequences of an appended batch; undefined = they are not known any more. */
export function sequencesOf(
  { runs, runsOmitted }: AppendEventsResponse,
  eventCount: number,
): readonly number[] | undefined {
  if (runsOmitted) {
    return undefined;
  }
  const total = runs.reduce((sum, { count }) => sum + Number(count), 0);
  if (total !== eventCount) {
    const message = `the answer has the sequences of ${total} events, not of ${eventCount}`;
    throw new QuoinError({ code: "INTERNAL", message });
  }
  return runs.flatMap(({ firstSequence, count }) =>
    Array.from({ length: Number(count) }, (_, at) => Number(firstSequence) + at),
  );
}
