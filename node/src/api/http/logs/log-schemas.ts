/** The schemas of event logs and their events in requests and answers, for the OpenAPI document and its readers. */

import type { EventBody, EventsBody, LogBody, LogsBody } from "@quoin/proto";
import * as z from "zod";
import { derivedIdText, type EventLog, eventCountOf, type LogEvent, NAMESPACE_PATTERN } from "../../../state/index.ts";
import type { EventMessage } from "../../../watch/index.ts";
import { type ListedLogs, LOG_NAME_BYTES_MAX, LOG_SETTINGS, namedSettings } from "../../methods/index.ts";
import { timestamp } from "../answers/index.ts";
import { cursorBody } from "../requests/index.ts";
import type { AppendedBatchBody } from "./appended-batch.ts";

const Uuid = z.string().meta({ format: "uuid" });
/** A time of the wall clock in UTC, with milliseconds. */
const Timestamp = z.string().meta({ format: "date-time" });
const Sequence = z.int().min(1);
const LastSequence = z.int().min(0).describe("Last sequence of the log; 0 = nothing was ever appended");

/** Settings in a request: an absent setting stays as it is; null removes a setting. */
const GivenSettings = z.strictObject(
  Object.fromEntries(LOG_SETTINGS.map(({ name, min, max }) => [name, z.int().min(min).max(max).nullish()])),
);

export const CreateLogBody = z.strictObject({
  name: z
    .string()
    .meta({ minLength: 1, maxLength: LOG_NAME_BYTES_MAX, description: "Unique among the live logs of the namespace" }),
  namespace: z
    .string()
    .meta({ pattern: NAMESPACE_PATTERN.source })
    .nullish()
    .describe('The namespace of the log; "default" if absent. Users see only the logs of their namespaces'),
  settings: GivenSettings.nullish(),
});

export const UpdateLogBody = z.strictObject({ settings: GivenSettings });

export const LogSchema = z.object({
  log_id: Uuid,
  name: z.string(),
  namespace: z.string(),
  first_sequence: z
    .int()
    .min(1)
    .describe("Sequence of the oldest stored event, or of the next event if none is stored"),
  last_sequence: LastSequence,
  event_count: z.int().min(0),
  size_bytes: z.int().min(0).describe("Bytes of all stored payloads"),
  created_at: Timestamp,
  created_by: z.string().describe("The id of a user"),
  settings: z.record(z.string(), z.int().nullable()).describe("Null = not set"),
}) satisfies z.ZodType<LogBody>;

export const LogsSchema = z.object({
  logs: z.array(LogSchema),
  next_cursor: z.string().nullable().describe("Cursor of the next page; null if this is the last page"),
}) satisfies z.ZodType<LogsBody>;

export const DeletedLogSchema = z.object({
  log_id: Uuid,
  deleted: z.literal(true),
});

export const AppendedSchema = z.object({
  success: z.literal(true),
  sequence: Sequence,
});

export const AppendedBatchSchema = z.object({
  success: z.literal(true),
  sequences: z.array(Sequence).describe("Sequences in the order of the events"),
  last_sequence: Sequence.describe("The greatest of these sequences"),
}) satisfies z.ZodType<AppendedBatchBody>;

export const EventsSchema = z.object({
  events: z.array(
    z.object({
      sequence: Sequence,
      timestamp: Timestamp,
      payload: z.string().meta({ contentEncoding: "base64" }),
      idempotency_key: z.string().nullable(),
    }),
  ),
  last_sequence: LastSequence,
}) satisfies z.ZodType<EventsBody>;

export function logBody(log: EventLog): LogBody {
  return {
    log_id: derivedIdText(log.logId),
    name: log.name,
    namespace: log.namespace,
    first_sequence: log.firstSequence,
    last_sequence: log.lastSequence,
    event_count: eventCountOf(log),
    size_bytes: log.sizeBytes,
    created_at: timestamp(log.createdAtMs),
    created_by: log.createdBy,
    settings: Object.fromEntries(namedSettings(log.settings)),
  };
}

export function logsBody({ logs, nextPageToken }: ListedLogs): LogsBody {
  return { logs: logs.map(logBody), next_cursor: cursorBody(nextPageToken) };
}

export function eventsBody({ events, log }: EventMessage): EventsBody {
  return { events: events.map(eventBody), last_sequence: log.lastSequence };
}

export function eventBody({ sequence, timestampMs, payload, idempotencyKey }: LogEvent): EventBody {
  const { buffer, byteOffset, byteLength } = payload;
  return {
    sequence,
    timestamp: timestamp(timestampMs),
    idempotency_key: idempotencyKey,
    payload: Buffer.from(buffer, byteOffset, byteLength).toString("base64"),
  };
}
