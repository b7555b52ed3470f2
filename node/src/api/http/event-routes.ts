/** Routes of the events of a log: POST append and append_batch; GET events as pages, long poll or stream. */

import type { Scheduler } from "../../replica/index.ts";
import { BATCH_EVENTS_MAX } from "../../state/index.ts";
import {
  type AppendedBatchMessage,
  type AppendedMessage,
  type AppendRequest,
  BATCH_BYTES_MAX,
  EVENT_BYTES_MAX,
  type EventLogMethods,
  type EventStream,
  type EventsMessage,
  type Reply,
  type ResponseStream,
} from "../methods/index.ts";
import { batchHeaders, eventHeaders, requireBatchKeys } from "./append-headers.ts";
import { appendedBatchText } from "./appended-batch.ts";
import { delimiter, splitEvents } from "./event-delimiter.ts";
import type { HttpCall } from "./http-call.ts";
import { AppendedBatchSchema, AppendedSchema, EventsSchema, eventBody, eventsBody } from "./log-schemas.ts";
import { methodAnswer } from "./method-answer.ts";
import { limit } from "./page-parameters.ts";
import { integer, optional, uuid } from "./parameters.ts";
import { type Answer, bytesBody, type JsonAnswer, type Route, type RouteInput, route } from "./route.ts";
import { EVENT_STREAM_TYPE, ServerSentEvents } from "./server-sent-events.ts";

const BATCH_DEADLINE_MS = 30_000;
const WAIT_SECS_MAX = 60;
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
type AppendInput = RouteInput<
  typeof path,
  Pick<typeof eventHeaders, "Expected-Sequence" | "Lock-Guard">,
  Record<never, never>,
  unknown
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
    handle: (call, input, logId) => {
      const request = { ...appendRequest(input, logId), idempotencyKey: input.headers["Idempotency-Key"] };
      return appendAnswer<AppendedMessage>((reply) =>
        methods.appendEvent(call, { ...request, payload: input.body }, reply),
      );
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
      const payloads = await splitEvents(input.body, input.query.delimiter);
      requireBatchKeys(input.headers["Idempotency-Key"], payloads.count);
      const request = { ...appendRequest(input, logId), idempotencyKey: input.headers["Idempotency-Key"], payloads };
      const { json, headers } = await appendAnswer<AppendedBatchMessage>((reply) => {
        methods.appendBatch(call, request, reply);
      });
      return { text: await appendedBatchText(json), type: "application/json", ...(headers && { headers }) };
    },
  });
}

function eventsRoute(methods: EventLogMethods, scheduler: Pick<Scheduler, "every">): Route {
  const firstSequence = integer("The first sequence to read; 1 by default", 0, Number.MAX_SAFE_INTEGER);
  const waitSecs = integer("Seconds to wait for events if there are none", 0, WAIT_SECS_MAX);
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
    query: { from_sequence: optional(firstSequence, null), limit, wait_secs: optional(waitSecs, null) },
    success: {
      status: 200,
      description: "Events in order: a page, or an endless stream",
      schema: EventsSchema,
      types: [EVENT_STREAM_TYPE],
    },
    errors: ["invalid_header", "log_not_found", "storage_full"],
    deadlineMs: ({ query }) => (query.wait_secs ?? 0) * MS_PER_SECOND + WAITED_DEADLINE_MS,
    handle: (call, { path, headers, query, mediaType }) => {
      const logId = path.log_id;
      const fromSequence = query.from_sequence;
      if (mediaType === EVENT_STREAM_TYPE) {
        const lastSeen = headers[LAST_EVENT_ID];
        const request = { logId, fromSequence: lastSeen === null ? fromSequence : lastSeen + 1 };
        return tailAnswer(methods, call, request, scheduler);
      }
      return pageAnswer(methods, call, { logId, fromSequence, limit: query.limit, waitSecs: query.wait_secs });
    },
  });
}

async function pageAnswer(
  methods: EventLogMethods,
  call: HttpCall,
  request: Parameters<EventLogMethods["readEvents"]>[1],
) {
  const page = await methodAnswer<EventsMessage>((reply) => methods.readEvents(call, request, reply));
  return { json: eventsBody(page) };
}

async function tailAnswer(
  methods: EventLogMethods,
  call: HttpCall,
  request: Parameters<EventLogMethods["tailEvents"]>[1],
  scheduler: Pick<Scheduler, "every">,
): Promise<Answer<never>> {
  const open = await methodAnswer<(stream: EventStream) => void>((reply) => methods.tailEvents(call, request, reply));
  const stream = (response: ResponseStream): void => {
    const sent = new ServerSentEvents(response);
    open({
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

function findAppendable(
  methods: EventLogMethods,
  call: HttpCall,
  { path, headers }: Pick<AppendInput, "path" | "headers">,
): Promise<Uint8Array> {
  const target = { logId: path.log_id, guard: headers["Lock-Guard"] };
  return methodAnswer<Uint8Array>((reply) => methods.findAppendable(call, target, reply));
}

function appendRequest({ headers }: Pick<AppendInput, "headers">, logId: Uint8Array): AppendRequest {
  const { "Expected-Sequence": expectedSequence, "Lock-Guard": guard } = headers;
  return { logId, expectedSequence, guard };
}

function appendAnswer<Message extends object>(call: (reply: Reply<Message>) => void): Promise<JsonAnswer<Message>> {
  return new Promise((resolve, reject) => {
    call((answer, replayed) => {
      if (answer instanceof Error) {
        reject(answer);
      } else {
        resolve({ json: answer, headers: replayed === "no" ? {} : { "Idempotent-Replayed": "true" } });
      }
    });
  });
}
