/** Event logs for the entries of the tables: a log of the entry's own, and its events. */

import type { CreateLogRequest, EventLog } from "@quoin/proto";
import { expect } from "chai";
import { succeeded } from "./expectations.ts";
import { answered, type HttpAnswer, type HttpConnection, type HttpRequest } from "./http-connection.ts";
import { HttpEvents } from "./http-events.ts";
import { createLog } from "./operations.ts";
import type { TestContext } from "./test-context.ts";

type Headers = NonNullable<HttpRequest["headers"]>;
type Body = NonNullable<HttpRequest["body"]>;

/** An event as in answers. */
export interface EventBody {
  readonly sequence: number;
  readonly timestamp: string;
  readonly payload: string;
  readonly idempotency_key: string | null;
}

export interface EventsBody {
  readonly events: readonly EventBody[];
  readonly last_sequence: number;
}

/** Creates a log by the operation, in the namespace of the run, which is emptied at its end. */
export async function createdLog(
  context: TestContext,
  fields: Partial<CreateLogRequest> = {},
  connection = context.here,
): Promise<EventLog> {
  const named = { namespace: context.namespace, name: context.name(), ...fields };
  const { log } = succeeded(await connection.call(createLog, named));
  return log as EventLog;
}

/** Creates a log for this entry, which is deleted at its end. Returns the answer. */
export async function newLog(context: TestContext, fields: object = {}): Promise<Record<string, unknown>> {
  const answer = await context.http().call("POST", "/logs", { json: { name: context.name(), ...fields } });
  const log = answered(answer, 201);
  context.atEnd(() => context.http().call("DELETE", `/logs/${log.log_id}`));
  return log;
}

/** Creates a log for this entry, and returns its path. */
export async function newLogPath(context: TestContext, fields: object = {}): Promise<string> {
  return `/logs/${(await newLog(context, fields)).log_id}`;
}

/** Appends an event. Resolves with any answer. */
export function append(
  http: HttpConnection,
  path: string,
  body: Body = "",
  headers: Headers = {},
): Promise<HttpAnswer> {
  return http.call("POST", `${path}/append`, { body, headers });
}

/** Appends a batch with newlines between its events. */
export function appendBatch(
  http: HttpConnection,
  path: string,
  body: Body,
  headers: Headers,
  delimiter = "%0A",
): Promise<HttpAnswer> {
  return http.call("POST", `${path}/append_batch?delimiter=${delimiter}`, { body, headers });
}

/** The sequence of an event. The answer must say that it is stored, now or earlier. */
export function sequenceOf(answer: HttpAnswer): number {
  const body = answered(answer);
  expect(body).to.have.all.keys("success", "sequence");
  expect(body.success).to.equal(true);
  return body.sequence as number;
}

/** The sequences of a batch. The answer must say that it is stored. */
export function sequencesOf(answer: HttpAnswer): readonly number[] {
  const body = answered(answer);
  expect(body).to.have.all.keys("success", "sequences", "last_sequence");
  const sequences = body.sequences as number[];
  const last = sequences.reduce((greatest, sequence) => Math.max(greatest, sequence));
  expect([body.success, body.last_sequence]).to.deep.equal([true, last]);
  return sequences;
}

/** A page of events. */
export async function readEvents(http: HttpConnection, path: string, query = ""): Promise<EventsBody> {
  const body = answered(await http.call("GET", `${path}/events${query}`));
  expect(body).to.have.all.keys("events", "last_sequence");
  return body as unknown as EventsBody;
}

/** The header that requests a stream of events instead of a page. */
export const EVENT_STREAM = { Accept: "text/event-stream" };

/** Follows a log at the member under test, or at another one if given. The stream ends with the entry. */
export async function followEvents(
  context: TestContext,
  path: string,
  {
    http = context.http(),
    query = "",
    headers = {},
  }: { http?: HttpConnection; query?: string; headers?: Headers } = {},
): Promise<HttpEvents> {
  const events = await HttpEvents.open((lastId) => {
    const behind = lastId === undefined ? {} : { "Last-Event-ID": lastId };
    return http.open("GET", `${path}/events${query}`, { headers: { ...EVENT_STREAM, ...headers, ...behind } });
  });
  context.atEnd(async () => events.leave());
  return events;
}

/** The payloads of all events that are kept, as text of one byte for each character. */
export async function payloadsOf(http: HttpConnection, path: string): Promise<readonly string[]> {
  const payloads: string[] = [];
  for (let from = 1; ; ) {
    const { events } = await readEvents(http, path, `?limit=1000&from_sequence=${from}`);
    const last = events.at(-1);
    if (last === undefined) {
      return payloads;
    }
    payloads.push(...events.map(({ payload }) => Buffer.from(payload, "base64").toString("latin1")));
    from = last.sequence + 1;
  }
}
