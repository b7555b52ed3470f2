/**
 * Event logs: appending, once for each key, reading, and following. Every member serves them over HTTP.
 *
 * An append without a given idempotency key gets its own. So it can be retried, also on another member, if its outcome
 * is unknown: the log remembers the key for its window, and stores the event once.
 */

import { randomUUID } from "node:crypto";
import type { EventsBody, LogBody, LogsBody } from "@quoin/proto";
import {
  assertTraceparent,
  EndableIterator,
  type Guard,
  getJson,
  type HttpCallOptions,
  type HttpMembers,
  type OperationTrace,
  parseJson,
  type SentEvent,
  sendJson,
  sentEvents,
  tracedRequest,
  traceOperation,
} from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import {
  abortSignal,
  badField,
  bytesField,
  flag,
  httpCallRules,
  int64Field,
  optionsCheck,
  orNull,
  record,
  text,
  textField,
  whole,
} from "../options/index.ts";
import { backoffMs, type HttpAnswer } from "../transport/index.ts";
import { joinPayloads, percentEncoded } from "./log-batch.ts";
import {
  type EventPage,
  eventOfText,
  type LogEvent,
  type LogInfo,
  type LogSettings,
  logOf,
  pageOf,
  wireSettings,
} from "./log-messages.ts";
import { LogNames } from "./log-names.ts";

/** Options of create. */
export interface CreateLogOptions extends HttpCallOptions {
  /** The namespace of the log; users see only logs of their namespaces. Default `default`. */
  readonly namespace?: string | undefined;
  readonly settings?: LogSettings | undefined;
}

/** Options of find. */
export interface FindLogOptions extends HttpCallOptions {
  /** The namespace of the log. Default `default`. */
  readonly namespace?: string | undefined;
}

/** Options of pages. */
export interface ListLogsOptions extends HttpCallOptions {
  /** Only logs of this name, at most one in each namespace. */
  readonly name?: string | undefined;
  /** Only logs of this namespace. Default: of all accessible namespaces. */
  readonly namespace?: string | undefined;
  /** Logs per page, at most 1,000. Default 100. */
  readonly pageSize?: number | undefined;
}

/** A hold that must be live for an append, and the namespace of its lock: `{ namespace, ...hold.guard }`. */
export interface LogGuard extends Guard {
  readonly namespace: string;
}

/** Options of appends. */
export interface AppendOptions extends HttpCallOptions {
  /**
   * Idempotency key: while the log remembers it, an append with the same key stores nothing and gets the first answer.
   * 1 to 1,024 bytes of UTF-8 without control characters and without spaces at either end; in a batch, including the
   * suffix `:{i}` of each event. Random by default.
   */
  readonly key?: string | undefined;
  /** The last sequence that the log must have, else FAILED_PRECONDITION / SEQUENCE_CONFLICT; 0 = no event yet. */
  readonly expectedSequence?: number | undefined;
  /** The hold that must be live, else ABORTED / FENCED. */
  readonly guard?: LogGuard | undefined;
}

/** Answer of append. */
export interface AppendResult {
  readonly sequence: number;
  /** Whether it was already stored, perhaps by an earlier attempt. */
  readonly replayed: boolean;
}

/** Answer of appendBatch. */
export interface AppendBatchResult {
  /** In the order of the payloads. */
  readonly sequences: readonly number[];
  /** The greatest sequence. */
  readonly lastSequence: number;
  /** Whether all were already stored, perhaps by an earlier attempt. */
  readonly replayed: boolean;
}

/** Options of read. */
export interface ReadEventsOptions extends HttpCallOptions {
  /** The first requested sequence. Default 1. */
  readonly fromSequence?: number | undefined;
  /** The maximum number of events, up to 1,000. Default 100. */
  readonly limit?: number | undefined;
  /** Seconds to wait for events if there are none, up to 60; added to `timeoutMs`. Default 0. */
  readonly waitSeconds?: number | undefined;
}

/** Options of tail. */
export interface TailOptions {
  /** The first requested sequence. Default 1. */
  readonly fromSequence?: number | undefined;
  /** Makes it fail with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /** The header `traceparent` to send; by default spans below the context of the first read, as for other calls. */
  readonly traceparent?: string | undefined;
}
const KEY_BYTES_MAX = 1_024;
/** No control characters, and no space at either end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the refused characters.
const KEY_PATTERN = /^[^\u0000-\u0020\u007f-\u009f](?:[^\u0000-\u001f\u007f-\u009f]*[^\u0000-\u0020\u007f-\u009f])?$/u;
/** Members send something every ten seconds. A stream that is silent for this long, in milliseconds, is left. */
const SILENCE_MS = 30_000;
const MS_PER_SECOND = 1_000;
/** The most failed attempts to open a tail that increase the pause between them. */
const PAUSED_ATTEMPTS_MAX = 10;

const settingsRule = record<LogSettings>(
  { duplicateWindowSeconds: orNull(whole), retentionMaxAgeSeconds: orNull(whole), retentionMaxBytes: orNull(whole) },
  [],
);
const checkCall = optionsCheck<HttpCallOptions>(httpCallRules);
const checkCreate = optionsCheck<CreateLogOptions>({ ...httpCallRules, namespace: text, settings: settingsRule });
const checkFind = optionsCheck<FindLogOptions>({ ...httpCallRules, namespace: text });
const checkPages = optionsCheck<ListLogsOptions>({ ...httpCallRules, name: text, namespace: text, pageSize: whole });
const checkAppend = optionsCheck<AppendOptions>({
  ...httpCallRules,
  key: text,
  expectedSequence: whole,
  guard: record<LogGuard>({ namespace: text, lockName: text, fencingToken: whole, rw: flag }, [
    "namespace",
    "lockName",
    "fencingToken",
  ]),
});
const checkRead = optionsCheck<ReadEventsOptions>({
  ...httpCallRules,
  fromSequence: whole,
  limit: whole,
  waitSeconds: whole,
});
const checkTail = optionsCheck<TailOptions>({ fromSequence: whole, signal: abortSignal, traceparent: text });

/**
 * Event logs. A log is given by its id, as NAMESPACE/NAME, or as NAME if only one visible namespace has that name. Each
 * call with a name raises INVALID_ARGUMENT / BAD_FIELD if several namespaces have it.
 */
export class LogClient {
  readonly #members: HttpMembers;
  readonly #names: LogNames;

  constructor(members: HttpMembers) {
    this.#members = members;
    this.#names = new LogNames({
      find: (name, options) => this.find(name, options),
      pages: (options) => this.pages(options),
      monotonicMs: () => members.runtime.monotonicMs(),
      timeoutMs: members.timeoutMs,
    });
  }

  /**
   * Creates a log.
   *
   * @throws QuoinError ALREADY_EXISTS / LOG_EXISTS if a live log of the namespace has the name; PERMISSION_DENIED /
   * NAMESPACE_DENIED for a namespace without access, also for `default` if none is named.
   */
  async create(name: string, options: CreateLogOptions = {}): Promise<LogInfo> {
    checkCreate(options, "logs.create");
    const { namespace, settings = {}, ...call } = options;
    const body = { name: textField("name", name), namespace, settings: wireSettings(settings) };
    // A second creation gets the error that the log already exists.
    const request = { method: "POST", path: "/logs", value: body, isRepeatable: false } as const;
    return logOf(await sendJson<LogBody>(this.#members, request, call));
  }

  /** @throws QuoinError NOT_FOUND / LOG_NOT_FOUND, also for a log that is not visible. */
  async describe(log: string, options: HttpCallOptions = {}): Promise<LogInfo> {
    checkCall(options, "logs.describe");
    return this.#names.withId(log, options, async (logId, call) =>
      logOf(await getJson<LogBody>(this.#members, pathOf(logId), call)),
    );
  }

  /**
   * The live log of this name in one namespace; undefined = there is none.
   *
   * @throws QuoinError PERMISSION_DENIED / NAMESPACE_DENIED for a namespace without access.
   */
  async find(name: string, options: FindLogOptions = {}): Promise<LogInfo | undefined> {
    checkFind(options, "logs.find");
    const { namespace = "default", ...call } = options;
    const query = new URLSearchParams({ name: textField("name", name), namespace: textField("namespace", namespace) });
    const [log] = (await getJson<LogsBody>(this.#members, `/logs?${query}`, call)).logs;
    return log === undefined ? undefined : logOf(log);
  }

  /** The visible logs, by namespace and name, page by page; a page may be empty although others follow. */
  async *pages(options: ListLogsOptions = {}): AsyncGenerator<readonly LogInfo[], void, undefined> {
    checkPages(options, "logs.pages");
    const { pageSize = 100, name, namespace, ...call } = options;
    const query = new URLSearchParams({ limit: String(pageSize) });
    if (name !== undefined) {
      query.set("name", textField("name", name));
    }
    if (namespace !== undefined) {
      query.set("namespace", textField("namespace", namespace));
    }
    for (let cursor: string | null = ""; cursor !== null; ) {
      query.set("cursor", cursor);
      const page: LogsBody = await getJson<LogsBody>(this.#members, `/logs?${query}`, call);
      yield page.logs.map(logOf);
      cursor = page.next_cursor;
    }
  }

  /** Changes the given settings. The caller must be the creator of the log, or an administrator. */
  async updateSettings(log: string, changed: LogSettings, options: HttpCallOptions = {}): Promise<LogInfo> {
    settingsRule(changed, "settings");
    checkCall(options, "logs.updateSettings");
    const value = { settings: wireSettings(changed) };
    return this.#names.withId(log, options, async (logId, call) => {
      // Repeated changes give the same settings.
      const request = { method: "PATCH", path: pathOf(logId), value, isRepeatable: true } as const;
      return logOf(await sendJson<LogBody>(this.#members, request, call));
    });
  }

  /**
   * Deletes a log and its events, at once and for ever. The caller must be the creator of the log, or an administrator.
   */
  async delete(log: string, options: HttpCallOptions = {}): Promise<void> {
    checkCall(options, "logs.delete");
    await this.#names.withId(log, options, (logId, call) =>
      sendJson(this.#members, { method: "DELETE", path: pathOf(logId), isRepeatable: false }, call),
    );
  }

  /** Appends an event, of at most 1 MiB. Text is stored as UTF-8. */
  async append(log: string, payload: string | Uint8Array, options: AppendOptions = {}): Promise<AppendResult> {
    checkAppend(options, "logs.append");
    const body = bytesField("payload", payload);
    const answer = await this.#append(log, "append", body, options);
    const { sequence } = parseJson<{ readonly sequence: number }>(answer.body.toString("utf8"));
    return { sequence, replayed: isReplayed(answer) };
  }

  /**
   * Appends all events or none: at most 1,000,000 of them, and at most 10 MiB including their delimiters. A delimiter
   * follows each event except the last: one byte, or 24 bytes if any event contains a line break. One event may have
   * the whole size.
   */
  async appendBatch(
    log: string,
    payloads: readonly (string | Uint8Array)[],
    options: AppendOptions = {},
  ): Promise<AppendBatchResult> {
    checkAppend(options, "logs.appendBatch");
    if (!Array.isArray(payloads)) {
      throw badField("payloads", "must be an array");
    }
    if (payloads.length === 0) {
      throw badField("payloads", "must hold at least one event");
    }
    const { body, delimiter } = joinPayloads(payloads.map((payload) => bytesField("payloads", payload)));
    const answer = await this.#append(log, `append_batch?delimiter=${percentEncoded(delimiter)}`, body, options);
    const { sequences, last_sequence: lastSequence } = parseJson<{
      readonly sequences: readonly number[];
      readonly last_sequence: number;
    }>(answer.body.toString("utf8"));
    return { sequences, lastSequence, replayed: isReplayed(answer) };
  }

  /** Reads a page of events, of at most 1 MiB, or one larger event. */
  async read(log: string, options: ReadEventsOptions = {}): Promise<EventPage> {
    checkRead(options, "logs.read");
    const { fromSequence = 1, limit = 100, waitSeconds = 0, ...call } = options;
    const query = `from_sequence=${fromSequence}&limit=${limit}&wait_secs=${waitSeconds}`;
    const { timeoutMs = this.#members.timeoutMs } = call;
    return this.#names.withId(
      log,
      waitSeconds === 0 ? call : { ...call, timeoutMs: timeoutMs + waitSeconds * MS_PER_SECOND },
      async (logId, request) =>
        pageOf(await getJson<EventsBody>(this.#members, `${pathOf(logId)}/events?${query}`, request)),
    );
  }

  /**
   * Follows a log from a sequence on: existing and new events, each once and in order, until the loop ends. If a member
   * is gone or silent, it continues after the last event on another member. Events removed by retention are left out.
   *
   * It fails with the QuoinError of a refusal, such as NOT_FOUND when the log is deleted.
   */
  tail(log: string, options: TailOptions = {}): EndableIterator<LogEvent> {
    checkTail(options, "logs.tail");
    assertTraceparent(options.traceparent);
    const ending = new AbortController();
    return new EndableIterator(this.#tracedFollow(textField("log", log), options, ending.signal), ending);
  }

  async *#tracedFollow(
    log: string,
    options: TailOptions,
    ending: AbortSignal,
  ): AsyncGenerator<LogEvent, undefined, undefined> {
    const trace = await traceOperation(options.traceparent, () => tracedRequest("GET"));
    try {
      return yield* this.#follow(log, options, ending, trace);
    } catch (thrown) {
      if (options.signal?.aborted !== true && !this.#members.closing.aborted) {
        trace.end(QuoinError.from(thrown));
      }
      throw thrown;
    } finally {
      trace.end(null);
    }
  }

  async *#follow(
    log: string,
    { fromSequence = 1, signal: cancelling, traceparent }: TailOptions,
    ending: AbortSignal,
    trace: OperationTrace,
  ): AsyncGenerator<LogEvent, undefined, undefined> {
    const members = this.#members;
    const signals = [ending, members.closing, ...(cancelling === undefined ? [] : [cancelling])];
    const anyEnd = AbortSignal.any(signals);
    let path: string | undefined;
    let last = fromSequence - 1;
    let failures = 0;
    let wasRefused = false;
    for (;;) {
      const silence = new AbortController();
      const stopped = AbortSignal.any([...signals, silence.signal]);
      try {
        // One log from the beginning to the end, also if a new one gets its name.
        path ??= await this.#names.withId(log, { signal: anyEnd, traceparent }, async (logId) => pathOf(logId));
        const headers = { accept: "text/event-stream", "last-event-id": String(last) };
        const response = await members.stream(`${path}/events`, headers, stopped, trace);
        response.setEncoding("utf8");
        wasRefused = false;
        for await (const sent of this.#withSilenceLimit(sentEvents(response as AsyncIterable<string>), silence)) {
          failures = 0;
          if (sent === undefined) {
            continue;
          }
          const event = eventOfText(sent.data);
          last = event.sequence;
          yield event;
        }
      } catch (thrown) {
        if (ending.aborted) {
          return undefined;
        }
        if (members.closing.aborted || cancelling?.aborted === true) {
          throw cancelled(cancelling ?? members.closing);
        }
        const isRefused = thrown instanceof QuoinError && thrown.code === "UNAUTHENTICATED";
        if (isRefused ? wasRefused : !isPassing(thrown)) {
          throw thrown;
        }
        wasRefused = isRefused;
      }
      failures = Math.min(failures + 1, PAUSED_ATTEMPTS_MAX);
      members.leaveMember();
      try {
        await members.runtime.sleep(backoffMs(failures, members.runtime.random()), anyEnd);
      } catch (thrown) {
        if (ending.aborted) {
          return undefined;
        }
        if (members.closing.aborted || cancelling?.aborted === true) {
          throw cancelled(cancelling ?? members.closing);
        }
        throw thrown;
      }
    }
  }

  /** Aborts a stream that is silent for too long. */
  async *#withSilenceLimit(
    events: AsyncIterable<SentEvent | undefined>,
    silence: AbortController,
  ): AsyncGenerator<SentEvent | undefined> {
    const start = (): (() => void) => this.#members.runtime.after(SILENCE_MS, () => silence.abort());
    let stop = start();
    try {
      for await (const event of events) {
        stop();
        yield event;
        stop = start();
      }
    } finally {
      stop();
      silence.abort();
    }
  }

  #append(log: string, operation: string, body: Uint8Array, options: AppendOptions): Promise<HttpAnswer> {
    const { key = randomUUID(), expectedSequence, guard, ...callOptions } = options;
    const headers = {
      "content-type": "application/octet-stream",
      "idempotency-key": keyField(key),
      ...(expectedSequence !== undefined && {
        "expected-sequence": String(int64Field("expectedSequence", expectedSequence)),
      }),
      ...(guard !== undefined && { "lock-guard": guardHeader(guard) }),
    };
    return this.#names.withId(log, callOptions, (logId, call) => {
      const path = `${pathOf(logId)}/${operation}`;
      return this.#members.request({ method: "POST", path, headers, body, isRepeatable: true }, call);
    });
  }
}

function pathOf(logId: string): string {
  return `/logs/${encodeURIComponent(textField("logId", logId))}`;
}

/**
 * The key in Node's form for headers, one character for each byte. Checked here, because Node would quote it in its
 * error, and because HTTP removes spaces at both ends, so two keys could become one.
 */
function keyField(key: string): string {
  const bytes = Buffer.from(key);
  if (!key.isWellFormed() || !KEY_PATTERN.test(key) || bytes.length > KEY_BYTES_MAX) {
    throw badField(
      "key",
      `must have 1 to ${KEY_BYTES_MAX} bytes of UTF-8, no control characters, no space at either end`,
    );
  }
  return bytes.toString("latin1");
}

function guardHeader({ namespace, lockName, fencingToken, rw = false }: LogGuard): string {
  const token = int64Field("guard.fencingToken", fencingToken);
  const lock = encodeURIComponent(textField("guard.lockName", lockName));
  return `${encodeURIComponent(namespace)}/${lock};token=${token}${rw ? ";rw" : ""}`;
}

function isReplayed({ headers }: HttpAnswer): boolean {
  return headers["idempotent-replayed"] === "true";
}

/** Whether to reopen a stream that failed for another reason than its token. */
function isPassing(thrown: unknown): boolean {
  return !(thrown instanceof QuoinError) || thrown.code === "UNAVAILABLE" || thrown.reason === "RATE_LIMITED";
}

function cancelled(signal: AbortSignal): QuoinError {
  return new QuoinError({
    code: "CANCELLED",
    outcome: "not-executed",
    message: "the tail was cancelled",
    cause: signal.reason,
  });
}
