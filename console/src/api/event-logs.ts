/** Event logs: the routes of HTTP. */

import type * as Proto from "@quoin/proto";
import type { Page } from "./accounts.ts";
import type { CallOptions } from "./call.ts";
import type { ServerSentEvent } from "./event-reader.ts";
import { randomId } from "./random-id.ts";
import { request, requestJson } from "./request.ts";

export type EventLog = Proto.LogBody;
export type LogEvent = Proto.EventBody;
export type LogSettings = EventLog["settings"];

const PAGE_ENTRIES = "100";

export async function listLogs(namespace: string, cursor: string, options: CallOptions): Promise<Page<EventLog>> {
  const query = new URLSearchParams({ namespace, limit: PAGE_ENTRIES, ...(cursor !== "" && { cursor }) });
  const path = `logs?${query}`;
  const page = await requestJson<Proto.LogsBody>(path, undefined, options);
  return { items: page.logs, next: page.next_cursor ?? "" };
}

export async function createLog(namespace: string, name: string, settings: LogSettings): Promise<EventLog> {
  return await requestJson("logs", { namespace, name, settings }, { method: "POST" });
}

export async function updateLog(logId: string, settings: LogSettings): Promise<EventLog> {
  return await requestJson(pathOf(logId), { settings }, { method: "PATCH", isRepeatable: true });
}

export async function deleteLog(logId: string): Promise<void> {
  await requestJson(pathOf(logId), undefined, { method: "DELETE" });
}

/** Appends an event once, also if the answer is lost and the request is repeated; returns its sequence. */
export async function appendEvent(logId: string, payload: Uint8Array): Promise<number> {
  const response = await request(`${pathOf(logId)}/append`, {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream", "Idempotency-Key": randomId() },
    body: new Uint8Array(payload),
    isRepeatable: true,
  });
  return ((await response.json()) as { sequence: number }).sequence;
}

/** The path of the stream of events after a sequence. */
export function eventStreamPath(logId: string, fromSequence: number): string {
  return `${pathOf(logId)}/events?from_sequence=${fromSequence}`;
}

export function logEventOf({ data }: ServerSentEvent): LogEvent {
  return JSON.parse(data) as LogEvent;
}

function pathOf(logId: string): string {
  return `logs/${encodeURIComponent(logId)}`;
}
