/**
 * Event logs: appending, once for each key, reading, and following.
 *
 * Each operation has a request id, so an append is executed once, whatever becomes of its attempts. An idempotency key
 * does the same for appends of several processes.
 */

import { randomUUID } from "node:crypto";
import {
  AppendEventsRequest,
  type AppendGuard,
  type ListLogsRequest,
  type ListLogsResponse,
  ReadConsistency,
  serviceDefinitions,
  type TailEventsRequest,
  type TailEventsResponse,
} from "@quoin/proto";
import {
  type CallOptions,
  ContinuedStream,
  EndableIterator,
  execute,
  type Guard,
  guardField,
  type OperationContext,
  streamMethod,
  unaryMethod,
} from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import {
  abortSignal,
  badField,
  bytesField,
  callRules,
  callRulesWithoutRequestId,
  flag,
  int64Field,
  optionsCheck,
  orNull,
  positiveField,
  record,
  text,
  textField,
  whole,
  whole32,
} from "../options/index.ts";
import { allPages } from "../pages/index.ts";
import {
  type EventPage,
  eventOf,
  type LogEvent,
  type LogInfo,
  type LogSettings,
  logOf,
  sequencesOf,
  wireSettings,
} from "./log-messages.ts";
import { LogNames } from "./log-names.ts";

const service = serviceDefinitions.EventLogService;
const createLogMethod = unaryMethod(service.createLog);
const getLogMethod = unaryMethod(service.getLog);
const listLogsMethod = unaryMethod(service.listLogs);
const updateLogMethod = unaryMethod(service.updateLog);
const deleteLogMethod = unaryMethod(service.deleteLog);
const appendEventMethod = unaryMethod(service.appendEvent);
const appendEventsMethod = unaryMethod(service.appendEvents);
const readEventsMethod = unaryMethod(service.readEvents);
const tailEventsMethod = streamMethod(service.tailEvents);

/** Options of create. */
export interface CreateLogOptions extends CallOptions {
  /** The namespace of the log; users see only logs of their namespaces. Default `default`. */
  readonly namespace?: string | undefined;
  readonly settings?: LogSettings | undefined;
}

/** Options of find. */
export interface FindLogOptions extends CallOptions {
  /** The namespace of the log. Default `default`. */
  readonly namespace?: string | undefined;
}

/** Options of pages. */
export interface ListLogsOptions extends Omit<CallOptions, "requestId"> {
  /** Only logs of this name, at most one in each namespace. */
  readonly name?: string | undefined;
  /** Only logs of this namespace. Default: of all accessible namespaces. */
  readonly namespace?: string | undefined;
  /** Logs per page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
}

/** A hold that must be live for an append, and the namespace of its lock: `{ namespace, ...hold.guard }`. */
export interface LogGuard extends Guard {
  readonly namespace: string;
}

/** Options of appends. */
export interface AppendOptions extends CallOptions {
  /**
   * Idempotency key: while the log remembers it, an append with the same key stores nothing and gets the first answer.
   * 1 to 1,024 bytes of UTF-8 without control characters; in a batch, including the suffix `:{i}` of each event.
   * Default: none for an event, and the request id for a batch.
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
  /**
   * In the order of the payloads. Undefined if the answer belongs to a repeated attempt, and was too large to be kept:
   * that takes hundreds of gaps between the sequences.
   */
  readonly sequences: readonly number[] | undefined;
  /** The greatest sequence. */
  readonly lastSequence: number;
  /** Whether all were already stored, perhaps by an earlier attempt. */
  readonly replayed: boolean;
}

/** Options of read. */
export interface ReadEventsOptions extends CallOptions {
  /** The first requested sequence. Default 1. */
  readonly fromSequence?: number | undefined;
  /** The maximum number of events, 1 to 1,000. Default 100. */
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

/** The service takes no larger message, and no more events in one. */
const REQUEST_BYTES_MAX = 4 * 1_024 * 1_024;
const BATCH_EVENTS_MAX = 10_000;
/** The most bytes before a payload in a message, and those of the other fields of a batch. */
const PAYLOAD_HEADER_BYTES = 5;
const OTHER_FIELDS_BYTES = 8 * 1_024;
const MS_PER_SECOND = 1_000;

const settingsRule = record<LogSettings>(
  { duplicateWindowSeconds: orNull(whole), retentionMaxAgeSeconds: orNull(whole), retentionMaxBytes: orNull(whole) },
  [],
);
const checkCall = optionsCheck<CallOptions>(callRules);
const checkCreate = optionsCheck<CreateLogOptions>({ ...callRules, namespace: text, settings: settingsRule });
const checkFind = optionsCheck<FindLogOptions>({ ...callRules, namespace: text });
const checkPages = optionsCheck<ListLogsOptions>({
  ...callRulesWithoutRequestId,
  name: text,
  namespace: text,
  pageSize: whole32,
});
const checkAppend = optionsCheck<AppendOptions>({
  ...callRules,
  key: text,
  expectedSequence: whole,
  guard: record<LogGuard>({ namespace: text, lockName: text, fencingToken: whole, rw: flag }, [
    "namespace",
    "lockName",
    "fencingToken",
  ]),
});
const checkRead = optionsCheck<ReadEventsOptions>({
  ...callRules,
  fromSequence: whole,
  limit: whole32,
  waitSeconds: whole,
});
const checkTail = optionsCheck<TailOptions>({ fromSequence: whole, signal: abortSignal, traceparent: text });

/**
 * Event logs. A log is given by its id, as NAMESPACE/NAME, or as NAME if only one visible namespace has that name. Each
 * call with a name raises INVALID_ARGUMENT / BAD_FIELD if several namespaces have it.
 */
export class LogClient {
  readonly #context: OperationContext;
  readonly #names: LogNames;

  constructor(context: OperationContext) {
    this.#context = context;
    this.#names = new LogNames({
      find: (name, options) => this.find(name, options),
      pages: (options) => this.pages(options),
      monotonicMs: () => context.runtime.monotonicMs(),
      timeoutMs: context.timeoutMs,
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
    const request = {
      name: textField("name", name),
      namespace: namespaceField(namespace),
      settings: wireSettings(settings).settings,
    };
    return logOf((await execute(this.#context, createLogMethod, request, call)).message.log);
  }

  /** @throws QuoinError NOT_FOUND / LOG_NOT_FOUND, also for a log that is not visible. */
  async describe(log: string, options: CallOptions = {}): Promise<LogInfo> {
    checkCall(options, "logs.describe");
    return this.#names.withId(log, options, async (logId, call) => {
      const request = { logId, consistency: ReadConsistency.LINEARIZABLE };
      return logOf((await execute(this.#context, getLogMethod, request, call)).message.log);
    });
  }

  /**
   * The live log of this name in one namespace; undefined = there is none.
   *
   * @throws QuoinError PERMISSION_DENIED / NAMESPACE_DENIED for a namespace without access.
   */
  async find(name: string, options: FindLogOptions = {}): Promise<LogInfo | undefined> {
    checkFind(options, "logs.find");
    const { namespace = "default", ...call } = options;
    const [log] = (await this.#page({ ...selectionOf(name, namespace), pageSize: 0, pageToken: "" }, call)).logs;
    return log === undefined ? undefined : logOf(log);
  }

  /** The visible logs, by namespace and name, page by page; a page may be empty although others follow. */
  async *pages(options: ListLogsOptions = {}): AsyncGenerator<readonly LogInfo[], void, undefined> {
    checkPages(options, "logs.pages");
    const { pageSize, name, namespace, ...call } = options;
    const fields = { ...selectionOf(name, namespace), pageSize: positiveField("pageSize", pageSize) };
    for await (const { logs } of allPages((pageToken) => this.#page({ ...fields, pageToken }, call))) {
      yield logs.map(logOf);
    }
  }

  /** Changes the given settings. The caller must be the creator of the log, or an administrator. */
  async updateSettings(log: string, changed: LogSettings, options: CallOptions = {}): Promise<LogInfo> {
    settingsRule(changed, "settings");
    checkCall(options, "logs.updateSettings");
    const fields = wireSettings(changed);
    return this.#names.withId(log, options, async (logId, call) =>
      logOf((await execute(this.#context, updateLogMethod, { logId, ...fields }, call)).message.log),
    );
  }

  /**
   * Deletes a log and its events, at once and for ever. The caller must be the creator of the log, or an administrator.
   */
  async delete(log: string, options: CallOptions = {}): Promise<void> {
    checkCall(options, "logs.delete");
    await this.#names.withId(log, options, (logId, call) => execute(this.#context, deleteLogMethod, { logId }, call));
  }

  /**
   * Appends an event, of at most 1 MiB. Text is stored as UTF-8.
   *
   * @throws QuoinError FAILED_PRECONDITION / SEQUENCE_CONFLICT; ABORTED / FENCED; INVALID_ARGUMENT / TOO_LARGE.
   */
  async append(log: string, payload: string | Uint8Array, options: AppendOptions = {}): Promise<AppendResult> {
    checkAppend(options, "logs.append");
    const { key, expectedSequence, guard, ...given } = options;
    const fields = {
      payload: bytesField("payload", payload),
      idempotencyKey: key === undefined ? "" : givenField("key", key),
      expectedSequence: sequenceField(expectedSequence),
      guard: logGuardField(guard),
    };
    return this.#names.withId(log, given, async (logId, call) => {
      const { message, replayed } = await execute(this.#context, appendEventMethod, { logId, ...fields }, call);
      return { sequence: Number(message.sequence), replayed };
    });
  }

  /**
   * Appends all events or none: 1 to 10,000 of them, in a request of at most 4 MiB. One event may have the whole size.
   *
   * @throws QuoinError as append.
   */
  async appendBatch(
    log: string,
    payloads: readonly (string | Uint8Array)[],
    options: AppendOptions = {},
  ): Promise<AppendBatchResult> {
    checkAppend(options, "logs.appendBatch");
    if (!Array.isArray(payloads) || payloads.length < 1 || payloads.length > BATCH_EVENTS_MAX) {
      throw badField("payloads", "must be an array of 1 to 10,000 events");
    }
    const { key, expectedSequence, guard, ...given } = options;
    const fields = {
      payloads: payloads.map((payload) => bytesField("payloads", payload)),
      expectedSequence: sequenceField(expectedSequence),
      guard: logGuardField(guard),
    };
    return this.#names.withId(log, given, async (logId, call) => {
      const { requestId = randomUUID() } = call;
      const request = { logId, ...fields, idempotencyKey: key === undefined ? requestId : givenField("key", key) };
      assertFits(request);
      const { message, replayed } = await execute(this.#context, appendEventsMethod, request, { ...call, requestId });
      const sequences = sequencesOf(message, payloads.length);
      return { sequences, lastSequence: Number(message.lastSequence), replayed };
    });
  }

  /** Reads a page of events, of at most 1 MiB, or one larger event. */
  async read(log: string, options: ReadEventsOptions = {}): Promise<EventPage> {
    checkRead(options, "logs.read");
    const { fromSequence = 1, limit, waitSeconds = 0, ...given } = options;
    const { timeoutMs = this.#context.timeoutMs } = given;
    const fields = {
      fromSequence: int64Field("fromSequence", fromSequence),
      pageSize: positiveField("limit", limit),
      waitSeconds: int64Field("waitSeconds", waitSeconds),
      consistency: ReadConsistency.LINEARIZABLE,
    };
    const waiting = waitSeconds === 0 ? given : { ...given, timeoutMs: timeoutMs + waitSeconds * MS_PER_SECOND };
    return this.#names.withId(log, waiting, async (logId, call) => {
      const { message } = await execute(this.#context, readEventsMethod, { logId, ...fields }, call);
      return { events: message.events.map(eventOf), lastSequence: Number(message.lastSequence) };
    });
  }

  /**
   * Follows a log from a sequence on: existing and new events, each once and in order, until the loop ends. If a member
   * is gone, it continues after the last event on another member. Events removed by retention are left out.
   *
   * It fails with the QuoinError of a refusal, such as NOT_FOUND when the log is deleted.
   */
  tail(log: string, options: TailOptions = {}): EndableIterator<LogEvent> {
    checkTail(options, "logs.tail");
    textField("log", log);
    const { fromSequence = 1, traceparent } = options;
    const ending = new AbortController();
    // One log from the beginning to the end, also if a new one gets its name.
    let logId: string | undefined;
    const stream: ContinuedStream<TailEventsRequest, TailEventsResponse> = new ContinuedStream(
      this.#context,
      {
        title: "tail",
        method: tailEventsMethod,
        start: fromSequence,
        request: async (position: bigint) => {
          logId ??= await this.#names.withId(log, { signal: stream.anyEnd, traceparent }, async (found) => found);
          return { logId, fromSequence: position };
        },
        positionBehind: ({ events }) => Number(events.at(-1)?.sequence ?? 0n) + 1,
        // Members send nothing without events.
        silenceMs: undefined,
      },
      options,
      ending.signal,
    );
    return new EndableIterator(eventsOf(stream), ending);
  }

  async #page(request: Omit<ListLogsRequest, "consistency">, call: CallOptions): Promise<ListLogsResponse> {
    const fields = { ...request, consistency: ReadConsistency.LINEARIZABLE };
    return (await execute(this.#context, listLogsMethod, fields, call)).message;
  }
}

async function* eventsOf(
  stream: ContinuedStream<TailEventsRequest, TailEventsResponse>,
): AsyncGenerator<LogEvent, undefined, undefined> {
  for await (const { events } of stream.messages()) {
    yield* events.map(eventOf);
  }
  return undefined;
}

function namespaceField(namespace: string | undefined): string {
  return namespace === undefined ? "" : givenField("namespace", namespace);
}

function selectionOf(name: string | undefined, namespace: string | undefined) {
  return { name: name === undefined ? "" : givenField("name", name), namespace: namespaceField(namespace) };
}

/** A text that is empty on the wire if it is not given. So a given one must not be empty. */
function givenField(field: string, given: string): string {
  if (textField(field, given) === "") {
    throw badField(field, "must not be empty");
  }
  return given;
}

function sequenceField(expectedSequence: number | undefined): bigint | undefined {
  return expectedSequence === undefined ? undefined : int64Field("expectedSequence", expectedSequence);
}

function logGuardField(guard: LogGuard | undefined): AppendGuard | undefined {
  const fields = guardField(guard);
  return guard === undefined || fields === undefined
    ? undefined
    : { ...fields, namespace: textField("guard.namespace", guard.namespace) };
}

/** @throws QuoinError INVALID_ARGUMENT / TOO_LARGE for a request that the service would not take. */
function assertFits(request: AppendEventsRequest): void {
  const bytesMax = request.payloads.reduce(
    (sum, { length }) => sum + PAYLOAD_HEADER_BYTES + length,
    OTHER_FIELDS_BYTES,
  );
  // Only a request near the limit is encoded twice.
  if (bytesMax <= REQUEST_BYTES_MAX) {
    return;
  }
  const bytes = AppendEventsRequest.encode(request).finish().length;
  if (bytes > REQUEST_BYTES_MAX) {
    throw new QuoinError({
      code: "INVALID_ARGUMENT",
      reason: "TOO_LARGE",
      outcome: "not-executed",
      message: `payloads make a request of ${bytes} bytes; at most ${REQUEST_BYTES_MAX} are allowed`,
      details: new Map([
        ["field", "payloads"],
        ["limit", String(REQUEST_BYTES_MAX)],
      ]),
    });
  }
}
