/** Routes of the events of a log: POST append and append_batch; GET events as pages, long poll or stream. */

import { ReadConsistency } from "@quoin/proto";
import type { Scheduler } from "../../../replica/index.ts";
import { BATCH_EVENTS_MAX, Payloads } from "../../../state/index.ts";
import {
  type Appended,
  type AppendFields,
  BATCH_BYTES_MAX,
  EVENT_BYTES_MAX,
  type EventLogMethods,
  type EventPage,
  type OpenTail,
  type ResponseStream,
  WAIT_SECONDS_MAX,
} from "../../methods/index.ts";
import { EVENT_STREAM_TYPE, methodAnswer, methodReply, ServerSentEvents } from "../answers/index.ts";
import { type HttpCall, integer, limit, optional, uuid } from "../requests/index.ts";
import { type Answer, type AnswerHeaders, bytesBody, type Route, type RouteInput, route } from "../routing/index.ts";
import { batchHeaders, eventHeaders, requireBatchKeys } from "./append-headers.ts";
import { appendedBatchText } from "./appended-batch.ts";
import { delimiter, splitEvents } from "./event-delimiter.ts";
import { AppendedBatchSchema, AppendedSchema, EventsSchema, eventBody, eventsBody } from "./log-schemas.ts";

const BATCH_DEADLINE_MS = 30_000;
const MS_PER_SECOND = 1_000;
/** Milliseconds from the end of a wait to the answer, as for every other request. */
const WAITED_DEADLINE_MS = 10_000;
const APPEND_ERRORS = ["invalid_header", "namespace_denied", "log_not_found", "sequence_conflict", "fenced"] as const;
const REPLAYED = {
  "Idempotent-Replayed": {
    description: "true if nothing was stored, because everything was stored before",
    schema: { type: "string", const: "true" },
  },
};
const LAST_EVENT_ID = "Last-Event-ID";

const path = { log_id: uuid("The id of the log") };

/** The path and the headers that both kinds of append share. */
type AppendHead = Pick<
  RouteInput<typeof path, Pick<typeof eventHeaders, "Expected-Sequence" | "Lock-Guard">, Record<never, never>, unknown>,
  "path" | "headers"
>;

export function eventRoutes(methods: EventLogMethods, scheduler: Pick<Scheduler, "every">): readonly Route[] {
  return [appendRoute(methods), appendBatchRoute(methods), eventsRoute(methods, scheduler)];
}

function appendRoute(methods: EventLogMethods): Route {
  return route({
    method: "POST",
    path: "/logs/{log_id}/append",
    operationId: "appendEvent",
    summary: "Append an event, only once for each Idempotency-Key",
    access: "write",
    pathParameters: path,
    headers: eventHeaders,
    body: bytesBody("The bytes of the event; they may be empty", EVENT_BYTES_MAX),
    success: { status: 200, description: "The event is stored", schema: AppendedSchema, headers: REPLAYED },
    errors: [...APPEND_ERRORS, "storage_full"],
    find: (call, input) => findAppendable(methods, call, input),
    handle: async (call, input, logId) => {
      const idempotencyKey = input.headers["Idempotency-Key"];
      const fields = { ...headFields(input), payloads: Payloads.of([input.body]), isBatch: false, idempotencyKey };
      const { appended, headers } = await append(methods, call, logId, fields);
      return { json: { success: true, sequence: appended.lastSequence } as const, headers };
    },
  });
}

function appendBatchRoute(methods: EventLogMethods): Route {
  return route({
    method: "POST",
    path: "/logs/{log_id}/append_batch",
    operationId: "appendBatch",
    summary: "Append events, all or none, each only once for its key",
    access: "write",
    pathParameters: path,
    headers: batchHeaders,
    query: { delimiter },
    body: bytesBody(
      `At most ${BATCH_EVENTS_MAX} events, with the delimiter between them; each may be as large as the body`,
      BATCH_BYTES_MAX,
    ),
    success: { status: 200, description: "The events are stored", schema: AppendedBatchSchema, headers: REPLAYED },
    errors: [
      ...APPEND_ERRORS,
      ...["missing_header", "invalid_delimiter", "empty_body", "too_many_events", "storage_full"],
    ] as const,
    deadlineMs: () => BATCH_DEADLINE_MS,
    find: (call, input) => findAppendable(methods, call, input),
    handle: async (call, input, logId) => {
      const idempotencyKey = input.headers["Idempotency-Key"];
      const payloads = await splitEvents(input.body, input.query.delimiter);
      requireBatchKeys(idempotencyKey, payloads.count);
      const fields = { ...headFields(input), payloads, isBatch: true, idempotencyKey };
      const { appended, headers } = await append(methods, call, logId, fields);
      return { text: await appendedBatchText(appended), type: "application/json", headers };
    },
  });
}

function eventsRoute(methods: EventLogMethods, scheduler: Pick<Scheduler, "every">): Route {
  const firstSequence = integer("The first sequence to read; 1 by default", 0, Number.MAX_SAFE_INTEGER);
  const waitSecs = integer("Seconds to wait for events if there are none", 0, WAIT_SECONDS_MAX);
  const lastEventId = integer(
    "Sequence of the last event that the client has seen: a stream continues after it and ignores from_sequence",
    0,
    Number.MAX_SAFE_INTEGER - 1,
  );
  return route({
    method: "GET",
    path: "/logs/{log_id}/events",
    operationId: "readEvents",
    summary: "Read events, wait for them, or tail them as server-sent events",
    access: "read",
    pathParameters: path,
    headers: { [LAST_EVENT_ID]: optional(lastEventId, null) },
    query: { from_sequence: optional(firstSequence, 0), limit, wait_secs: optional(waitSecs, 0) },
    success: {
      status: 200,
      description: "Events in order: a page, or an endless stream",
      schema: EventsSchema,
      types: [EVENT_STREAM_TYPE],
    },
    errors: ["invalid_header", "log_not_found", "storage_full"],
    deadlineMs: ({ query }) => query.wait_secs * MS_PER_SECOND + WAITED_DEADLINE_MS,
    handle: (call, { path, headers, query, mediaType }) => {
      const logId = path.log_id;
      const fromSequence = BigInt(query.from_sequence);
      if (mediaType === EVENT_STREAM_TYPE) {
        const lastSeen = headers[LAST_EVENT_ID];
        const request = { logId, fromSequence: lastSeen === null ? fromSequence : BigInt(lastSeen + 1) };
        return tailAnswer(methods, call, request, scheduler);
      }
      return pageAnswer(methods, call, {
        logId,
        fromSequence,
        pageSize: query.limit,
        waitSeconds: BigInt(query.wait_secs),
        consistency: ReadConsistency.LINEARIZABLE,
      });
    },
  });
}

async function pageAnswer(
  methods: EventLogMethods,
  call: HttpCall,
  request: Parameters<EventLogMethods["readEvents"]>[1],
) {
  return { json: eventsBody(await methodAnswer<EventPage>((reply) => methods.readEvents(call, request, reply))) };
}

async function tailAnswer(
  methods: EventLogMethods,
  call: HttpCall,
  request: Parameters<EventLogMethods["tailEvents"]>[1],
  scheduler: Pick<Scheduler, "every">,
): Promise<Answer<never>> {
  const { begin } = await methodAnswer<OpenTail>((reply) => methods.tailEvents(call, request, reply));
  const stream = (response: ResponseStream): void => {
    const sent = new ServerSentEvents(response);
    begin({
      send: ({ events }, taken) => {
        const messages = events.map((event) => ({
          id: String(event.sequence),
          data: JSON.stringify(eventBody(event)),
        }));
        sent.send(messages, taken);
      },
      fail: (error) => response.fail(error),
      onOver: (callback) => response.onEnded(callback),
    });
    sent.begin(scheduler);
  };
  return { type: EVENT_STREAM_TYPE, stream };
}

function findAppendable(methods: EventLogMethods, call: HttpCall, { path, headers }: AppendHead): Promise<Uint8Array> {
  const target = { logId: path.log_id, guardNamespace: headers["Lock-Guard"]?.namespace ?? null };
  return methodAnswer<Uint8Array>((reply) => methods.findAppendable(call, target, reply));
}

function headFields({ headers }: AppendHead): Pick<AppendFields, "expectedSequence" | "guard"> {
  const { "Expected-Sequence": expectedSequence, "Lock-Guard": guard } = headers;
  return { expectedSequence, ...(guard === undefined ? {} : { guard }) };
}

async function append(
  methods: EventLogMethods,
  call: HttpCall,
  logId: Uint8Array,
  fields: AppendFields,
): Promise<{ readonly appended: Appended; readonly headers: AnswerHeaders }> {
  const request = { logId, guardNamespace: fields.guard?.namespace ?? null, fields: () => fields };
  const { answer, replayed } = await methodReply<Appended>((reply) => methods.append(call, request, reply));
  return { appended: answer, headers: replayed === "no" ? {} : { "Idempotent-Replayed": "true" } };
}
