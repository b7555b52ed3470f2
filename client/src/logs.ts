/**
 * Event logs: appending, once for each key, reading, and following. Every member serves them over HTTP.
 *
 * An append without a given idempotency key gets its own. So it can be retried, also on another member, if its outcome
 * is unknown: the log remembers the key for its window, and stores the event once.
 */

import { randomUUID } from "node:crypto";
import { backoffMs } from "./backoff.ts";
import { EndableIterator } from "./endable-iterator.ts";
import type { Guard } from "./guard.ts";
import type { HttpAnswer } from "./http-failure.ts";
import { getJson, parseJson, sendJson } from "./http-json.ts";
import type { HttpCallOptions, HttpMembers } from "./http-members.ts";
import { joinPayloads, percentEncoded } from "./log-batch.ts";
import {
  type EventPage,
  eventOfText,
  type LogEvent,
  type LogInfo,
  type LogSettings,
  logOf,
  pageOf,
  type WireEvents,
  type WireLog,
  type WireLogs,
  wireSettings,
} from "./log-messages.ts";
import { QuoinError } from "./quoin-error.ts";
import { badField, bytesField, int64Field, textField } from "./request-field.ts";
import { type SentEvent, sentEvents } from "./sent-events.ts";

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
}
const keyBytesMax = 1_024;
/** No control characters, and no space at either end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the refused characters.
const keyPattern = /^[^\u0000-\u0020\u007f-\u009f](?:[^\u0000-\u001f\u007f-\u009f]*[^\u0000-\u0020\u007f-\u009f])?$/u;
/** Members send something every ten seconds. A stream that is silent for this long, in milliseconds, is left. */
const silenceMs = 30_000;
const defaultTimeoutMs = 5_000;
const msPerSecond = 1_000;
/** The most failed attempts to open a tail that increase the pause between them. */
const pausedAttemptsMax = 10;

/** Event logs. */
export class LogClient {
  readonly #members: HttpMembers;

  constructor(members: HttpMembers) {
    this.#members = members;
  }

  /**
   * Creates a log.
   *
   * @throws QuoinError ALREADY_EXISTS / ALREADY_EXISTS if a live log of the namespace has the name; PERMISSION_DENIED /
   * NAMESPACE_DENIED for a namespace without access, also for `default` if none is named.
   */
  async create(name: string, { namespace, settings = {}, ...options }: CreateLogOptions = {}): Promise<LogInfo> {
    const body = { name: textField("name", name), namespace, settings: wireSettings(settings) };
    // A second creation gets the error that the log already exists.
    const request = { method: "POST", path: "/logs", value: body, isRepeatable: false } as const;
    return logOf(await sendJson<WireLog>(this.#members, request, options));
  }

  /** @throws QuoinError NOT_FOUND / LOG_NOT_FOUND, also for a log that is not visible. */
  async describe(logId: string, options: HttpCallOptions = {}): Promise<LogInfo> {
    return logOf(await getJson<WireLog>(this.#members, pathOf(logId), options));
  }

  /**
   * The live log of this name in one namespace; undefined = there is none.
   *
   * @throws QuoinError PERMISSION_DENIED / NAMESPACE_DENIED for a namespace without access.
   */
  async find(name: string, { namespace = "default", ...options }: FindLogOptions = {}): Promise<LogInfo | undefined> {
    const query = new URLSearchParams({ name: textField("name", name), namespace: textField("namespace", namespace) });
    const [log] = (await getJson<WireLogs>(this.#members, `/logs?${query}`, options)).logs;
    return log === undefined ? undefined : logOf(log);
  }

  /** The visible logs, by namespace and name, page by page; a page may be empty although others follow. */
  async *pages({
    pageSize = 100,
    name,
    namespace,
    ...options
  }: ListLogsOptions = {}): AsyncGenerator<readonly LogInfo[], void, undefined> {
    const query = new URLSearchParams({ limit: String(pageSize) });
    if (name !== undefined) query.set("name", textField("name", name));
    if (namespace !== undefined) query.set("namespace", textField("namespace", namespace));
    for (let cursor: string | null = ""; cursor !== null; ) {
      query.set("cursor", cursor);
      const page: WireLogs = await getJson<WireLogs>(this.#members, `/logs?${query}`, options);
      yield page.logs.map(logOf);
      cursor = page.next_cursor;
    }
  }

  /** Changes the given settings. The caller must be the creator of the log, or an administrator. */
  async updateSettings(logId: string, settings: LogSettings, options: HttpCallOptions = {}): Promise<LogInfo> {
    const value = { settings: wireSettings(settings) };
    // Repeated changes give the same settings.
    const request = { method: "PATCH", path: pathOf(logId), value, isRepeatable: true } as const;
    return logOf(await sendJson<WireLog>(this.#members, request, options));
  }

  /**
   * Deletes a log and its events, at once and for ever. The caller must be the creator of the log, or an administrator.
   */
  async delete(logId: string, options: HttpCallOptions = {}): Promise<void> {
    await sendJson(this.#members, { method: "DELETE", path: pathOf(logId), isRepeatable: false }, options);
  }

  /** Appends an event, of at most 1 MiB. Text is stored as UTF-8. */
  async append(logId: string, payload: string | Uint8Array, options: AppendOptions = {}): Promise<AppendResult> {
    const body = bytesField("payload", payload);
    const answer = await this.#append(`${pathOf(logId)}/append`, body, options);
    const { sequence } = parseJson<{ readonly sequence: number }>(answer.body.toString("utf8"));
    return { sequence, replayed: isReplayed(answer) };
  }

  /**
   * Appends all events or none: at most 1,000,000 of them, and at most 10 MiB including their delimiters. A delimiter
   * follows each event except the last: one byte, or 24 bytes if any event contains a line break. One event may have
   * the whole size.
   */
  async appendBatch(
    logId: string,
    payloads: readonly (string | Uint8Array)[],
    options: AppendOptions = {},
  ): Promise<AppendBatchResult> {
    if (payloads.length === 0) throw badField("payloads", "must hold at least one event");
    const { body, delimiter } = joinPayloads(payloads.map((payload) => bytesField("payloads", payload)));
    const path = `${pathOf(logId)}/append_batch?delimiter=${percentEncoded(delimiter)}`;
    const answer = await this.#append(path, body, options);
    const { sequences, last_sequence: lastSequence } = parseJson<{
      readonly sequences: readonly number[];
      readonly last_sequence: number;
    }>(answer.body.toString("utf8"));
    return { sequences, lastSequence, replayed: isReplayed(answer) };
  }

  /** Reads a page of events, of at most 1 MiB, or one larger event. */
  async read(
    logId: string,
    { fromSequence = 1, limit = 100, waitSeconds = 0, ...options }: ReadEventsOptions = {},
  ): Promise<EventPage> {
    const from = int64Field("fromSequence", fromSequence);
    const path = `${pathOf(logId)}/events?from_sequence=${from}&limit=${limit}&wait_secs=${waitSeconds}`;
    const timeoutMs = (options.timeoutMs ?? defaultTimeoutMs) + waitSeconds * msPerSecond;
    const page = await getJson<WireEvents>(
      this.#members,
      path,
      waitSeconds === 0 ? options : { ...options, timeoutMs },
    );
    return pageOf(page);
  }

  /**
   * Follows a log from a sequence on: existing and new events, each once and in order, until the loop ends. If a member
   * is gone or silent, it continues after the last event on another member. Events removed by retention are left out.
   *
   * It fails with the QuoinError of a refusal, such as NOT_FOUND when the log is deleted.
   */
  tail(logId: string, { fromSequence = 1, signal }: TailOptions = {}): EndableIterator<LogEvent> {
    const ending = new AbortController();
    int64Field("fromSequence", fromSequence);
    return new EndableIterator(this.#follow(pathOf(logId), fromSequence - 1, ending.signal, signal), ending);
  }

  async *#follow(
    path: string,
    after: number,
    ending: AbortSignal,
    cancelling: AbortSignal | undefined,
  ): AsyncGenerator<LogEvent, undefined, undefined> {
    const members = this.#members;
    const signals = [ending, members.closing, ...(cancelling === undefined ? [] : [cancelling])];
    let last = after;
    let failures = 0;
    let wasRefused = false;
    for (;;) {
      const silence = new AbortController();
      const stopped = AbortSignal.any([...signals, silence.signal]);
      try {
        const headers = { accept: "text/event-stream", "last-event-id": String(last) };
        const response = await members.stream(`${path}/events`, headers, stopped);
        response.setEncoding("utf8");
        wasRefused = false;
        for await (const sent of this.#withSilenceLimit(sentEvents(response as AsyncIterable<string>), silence)) {
          failures = 0;
          if (sent === undefined) continue;
          const event = eventOfText(sent.data);
          last = event.sequence;
          yield event;
        }
      } catch (thrown) {
        if (ending.aborted) return undefined;
        if (members.closing.aborted || cancelling?.aborted === true) throw cancelled(cancelling ?? members.closing);
        const isRefused = thrown instanceof QuoinError && thrown.code === "UNAUTHENTICATED";
        if (isRefused ? wasRefused : !isPassing(thrown)) throw thrown;
        wasRefused = isRefused;
      }
      failures = Math.min(failures + 1, pausedAttemptsMax);
      members.leaveMember();
      try {
        await members.runtime.sleep(backoffMs(failures, members.runtime.random()), AbortSignal.any(signals));
      } catch (thrown) {
        if (ending.aborted) return undefined;
        if (members.closing.aborted || cancelling?.aborted === true) throw cancelled(cancelling ?? members.closing);
        throw thrown;
      }
    }
  }

  /** Aborts a stream that is silent for too long. */
  async *#withSilenceLimit(
    events: AsyncIterable<SentEvent | undefined>,
    silence: AbortController,
  ): AsyncGenerator<SentEvent | undefined> {
    const start = (): (() => void) => this.#members.runtime.after(silenceMs, () => silence.abort());
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

  #append(path: string, body: Uint8Array, options: AppendOptions): Promise<HttpAnswer> {
    const { key = randomUUID(), expectedSequence, guard, ...callOptions } = options;
    const headers = {
      "content-type": "application/octet-stream",
      "idempotency-key": keyField(key),
      ...(expectedSequence !== undefined && {
        "expected-sequence": String(int64Field("expectedSequence", expectedSequence)),
      }),
      ...(guard !== undefined && { "lock-guard": guardHeader(guard) }),
    };
    return this.#members.request({ method: "POST", path, headers, body, isRepeatable: true }, callOptions);
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
  if (!key.isWellFormed() || !keyPattern.test(key) || bytes.length > keyBytesMax) {
    throw badField(
      "key",
      `must have 1 to ${keyBytesMax} bytes of UTF-8, no control characters, no space at either end`,
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
