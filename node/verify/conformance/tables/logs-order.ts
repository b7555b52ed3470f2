/** What all requests about event logs have in common: the order of checks, tokens, roles, and hidden logs. */

import { expect } from "chai";
import {
  acquireLock,
  answered,
  append,
  appendBatch,
  expectHttpRefusal,
  type HttpCode,
  type HttpRequest,
  newLogPath,
  sequenceOf,
  type Table,
  type TestContext,
} from "../harness/index.ts";

const NO_LOG = "/logs/00000000-0000-4000-8000-000000000000";
const NO_ID = "/logs/not-a-uuid";
const MIB = 1024 * 1024;
const BATCH = "append_batch?delimiter=%0A";
const KEY = { "Idempotency-Key": "k" };

/** A request about the log at a path. */
type About = (path: string) => readonly [method: "GET" | "POST" | "PATCH" | "DELETE", target: string, HttpRequest?];

/** Every request about an existing log, with the access that it needs. */
const READING: readonly About[] = [
  (path) => ["GET", path],
  (path) => ["GET", `${path}/events`],
  (path) => ["GET", `${path}/events`, { headers: { Accept: "text/event-stream" } }],
];
const WRITING: readonly About[] = [
  (path) => ["POST", `${path}/append`, { body: "x" }],
  (path) => ["POST", `${path}/${BATCH}`, { body: "x", headers: KEY }],
];
const MANAGING: readonly About[] = [(path) => ["PATCH", path, { json: { settings: {} } }], (path) => ["DELETE", path]];
const ALL = [...READING, ...WRITING, ...MANAGING];

const TEXT: HttpRequest = { headers: { "Content-Type": "text/plain" }, body: "x" };

/** Requests that fail several checks: the earliest check decides the answer. */
const ORDER: readonly (readonly [string, HttpCode, method: "GET" | "POST" | "PATCH", target: string, HttpRequest])[] = [
  ["the id before the length", "invalid_request", "POST", `${NO_ID}/append`, { body: Buffer.alloc(MIB + 1) }],
  ["a header before the length", "invalid_header", "POST", `${NO_LOG}/append`, tooLong({ "Expected-Sequence": "x" })],
  ["the delimiter before the length", "invalid_delimiter", "POST", `${NO_LOG}/append_batch`, tooLong(KEY)],
  ["a key before the delimiter", "missing_header", "POST", `${NO_LOG}/append_batch`, tooLong({})],
  ["the length before the log", "payload_too_large", "POST", `${NO_LOG}/append`, { body: Buffer.alloc(MIB + 1) }],
  ["the length of a batch before the log", "payload_too_large", "POST", `${NO_LOG}/${BATCH}`, tooLong(KEY)],
  ["the type before the log", "unsupported_media_type", "PATCH", NO_LOG, TEXT],
  ["the log before a body without a length", "log_not_found", "POST", `${NO_LOG}/append`, { body: chunks(MIB + 1) }],
  ["the log before an empty batch", "log_not_found", "POST", `${NO_LOG}/${BATCH}`, { body: "", headers: KEY }],
  ["the log before its settings", "log_not_found", "PATCH", NO_LOG, { json: { settings: 7 } }],
  ["the query before the log", "invalid_request", "GET", `${NO_LOG}/events?limit=0`, {}],
];

function chunks(bytes: number): readonly Uint8Array[] {
  return [Buffer.alloc(bytes - 1), Buffer.alloc(1)];
}

function tooLong(headers: HttpRequest["headers"]): HttpRequest {
  return { body: Buffer.alloc(10 * MIB + 1), headers: headers ?? {} };
}

/** Requires that every request about a log is refused with this code. */
async function refusesAll(
  context: TestContext,
  requests: readonly About[],
  path: string,
  code: HttpCode,
  token: string | null,
) {
  for (const about of requests) {
    const [method, target, request] = about(path);
    expectHttpRefusal(await context.http(token).call(method, target, request), code);
  }
}

export const logsOrder: Table = {
  name: "every request about event logs",
  entries: {
    "asks for a token before anything else": async (context) => {
      await refusesAll(context, ALL, NO_ID, "unauthorized", null);
      expectHttpRefusal(await context.http(null).call("GET", "/logs?limit=0"), "unauthorized");
      expectHttpRefusal(await context.http(null).call("POST", "/logs", { body: "{" }), "unauthorized");
      const expired = context.otherToken("that has expired", () => true, true);
      await refusesAll(context, ALL, NO_ID, "token_expired", expired);
    },
    "asks for a role before it looks at the request": async (context) => {
      const reader = context.otherToken(
        "that may only read",
        ({ access, namespaces }) => access.join() === "read" && namespaces.includes("*"),
      );
      await refusesAll(context, [...WRITING, ...MANAGING], NO_ID, "insufficient_role", reader);
      expectHttpRefusal(await context.http(reader).call("POST", "/logs", { body: "{" }), "insufficient_role");
      const path = await newLogPath(context);
      for (const about of READING.slice(0, 2)) {
        const [method, target, request] = about(path);
        answered(await context.http(reader).call(method, target, request));
      }
      answered(await context.http(reader).call("GET", "/logs?limit=1"));
    },
    "lets a writer create a log, append to it, change and delete it": async (context) => {
      const writer = context.otherToken(
        "that may read and write",
        ({ access, namespaces }) => access.includes("write") && !access.includes("admin") && namespaces.includes("*"),
      );
      const made = answered(await context.http(writer).call("POST", "/logs", { json: { name: context.name() } }), 201);
      context.atEnd(() => context.http().call("DELETE", `/logs/${made.log_id}`));
      for (const about of [...READING.slice(0, 2), ...WRITING, ...MANAGING]) {
        const [method, target, request] = about(`/logs/${made.log_id}`);
        answered(await context.http(writer).call(method, target, request));
      }
    },
    "checks in the order of the contract": async (context) => {
      for (const [what, code, method, target, request] of ORDER) {
        const { status, body } = await context.http().call(method, target, request);
        expect(`${status} ${JSON.parse(body.toString()).code}`, what).to.match(new RegExp(` ${code}$`));
      }
    },
    "knows no other id, and none that is not a UUID": async (context) => {
      const token = context.testRun.target.token;
      await refusesAll(context, ALL, NO_LOG, "log_not_found", token);
      for (const path of [NO_ID, "/logs/%FF", "/logs/00000000-0000-4000-8000-00000000000g", "/logs/%00"]) {
        await refusesAll(context, ALL, path, "invalid_request", token);
      }
    },
    "S43: is refused for a log of another namespace as for none": async (context) => {
      const token = context.otherToken("for some namespaces only", ({ namespaces }) => !namespaces.includes("*"));
      await refusesAll(
        context,
        ALL,
        await newLogPath(context, { namespace: context.namespace }),
        "log_not_found",
        token,
      );
      const json = { name: context.name(), namespace: context.namespace };
      expectHttpRefusal(await context.http(token).call("POST", "/logs", { json }), "namespace_denied");
      const guarded = { "Lock-Guard": `${context.namespace}/l;token=1` };
      for (const path of [NO_LOG, await newLogPath(context)]) {
        expectHttpRefusal(await append(context.http(token), path, "", guarded), "namespace_denied");
        expectHttpRefusal(await appendBatch(context.http(token), path, "", { ...KEY, ...guarded }), "namespace_denied");
      }
    },
    "refuses coded bodies": async (context) => {
      const path = await newLogPath(context);
      for (const encoding of ["gzip", "br", "identity, gzip"]) {
        const answer = await append(context.http(), path, "x", { "Content-Encoding": encoding });
        expectHttpRefusal(answer, "unsupported_media_type");
      }
      sequenceOf(
        await append(context.http(), path, "x", { "Content-Encoding": "identity", "Content-Type": "image/png" }),
      );
    },
    "lets a guard decide: the hold must live, and be of its lock": async (context) => {
      const path = await newLogPath(context);
      const lock = await context.lock({});
      const { fencingToken } = await context.ask(acquireLock, lock);
      const guard = (token: bigint, ending = "") => ({
        "Lock-Guard": `${lock.namespace}/${encodeURIComponent(lock.name)};token=${token}${ending}`,
      });
      expect(sequenceOf(await append(context.httpElsewhere(), path, "a", guard(fencingToken)))).to.equal(1);
      for (const stale of [guard(fencingToken + 1n), guard(1n), guard(fencingToken, ";rw")]) {
        expectHttpRefusal(await append(context.http(), path, "b", stale), "fenced");
        const batch = await appendBatch(context.http(), path, "b", { ...stale, "Idempotency-Key": "b" });
        expectHttpRefusal(batch, "fenced");
      }
      const elsewhere = {
        "Lock-Guard": `${lock.namespace}/${encodeURIComponent(context.name())};token=${fencingToken}`,
      };
      expectHttpRefusal(await append(context.http(), path, "b", elsewhere), "fenced");
      expect(sequenceOf(await append(context.http(), path, "b", guard(fencingToken)))).to.equal(2);
    },
  },
};
