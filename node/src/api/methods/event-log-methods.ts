/**
 * Event logs over HTTP: create, describe, list, change, delete, append, read, and tail.
 *
 * A log belongs to a namespace; `default` if the request names none. For a caller without access to the namespace, the
 * log does not exist. The methods answer "not found" only after a read barrier and a second check. Answers have the
 * fields of the HTTP contract; the payloads of events stay bytes.
 */

import { type EventBody, type LogBody, type LogsBody, ReadConsistency } from "@quoin/proto";
import { type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import {
  type AppendEvents,
  type AppendEventsResult,
  CoordinationError,
  DEFAULT_NAMESPACE,
  derivedIdText,
  describeLog,
  type EventLog,
  encodeText,
  eventCountOf,
  type LogEvent,
  type LogGuard,
  type LogPage,
  type LogSelection,
  listLogs,
  logNotFound,
  managingAccess,
  Payloads,
  type RequiredAccess,
  readEvents,
  readUser,
  type SequenceRuns,
  type StateReader,
} from "../../state/index.ts";
import type { EventHub, EventMessage } from "../../watch/index.ts";
import { attempt } from "./attempt.ts";
import type { Call, CancellableCall, Reply } from "./call.ts";
import { authorized, type Executor } from "./executor.ts";
import { limitField, namespaceField, PAGE_BYTES_MAX } from "./field-rules.ts";
import type { HostReplica } from "./host.ts";
import {
  fromSequenceField,
  logIdField,
  logNameField,
  newSettingsField,
  payloadsField,
  type SettingsFields,
  settingsField,
  settingsMessage,
  waitSecsField,
} from "./log-field-rules.ts";
import { timestamp } from "./timestamp.ts";

/** Consecutive events, with their payloads as bytes. */
export interface EventsMessage {
  readonly events: readonly (Omit<EventBody, "payload"> & { readonly payload: Uint8Array })[];
  /** Last sequence of the log at the time of the answer. */
  readonly last_sequence: number;
}

export interface DeletedLogMessage {
  readonly log_id: string;
  readonly deleted: true;
}

export interface AppendedMessage {
  readonly success: true;
  readonly sequence: number;
}

export interface AppendedBatchMessage {
  readonly success: true;
  /** Sequences in the order of the payloads; see `sequencesOf`. */
  readonly runs: SequenceRuns;
  /** The greatest sequence of the batch. */
  readonly last_sequence: number;
}

export interface CreateLogRequest {
  readonly name: string;
  /** Null = `default`. */
  readonly namespace: string | null;
  readonly settings: SettingsFields | null;
}

export interface ListLogsRequest {
  /** Null = the default. */
  readonly limit: number | null;
  /** `next_cursor` of the previous page; null = the first page. */
  readonly cursor: string | null;
  /** Only logs with this name; null = any name. */
  readonly name: string | null;
  /** Only logs of this namespace; null = all namespaces that the caller may access. */
  readonly namespace: string | null;
}

export interface UpdateLogRequest {
  /** The id that `findManageable` returned. */
  readonly logId: Uint8Array;
  readonly settings: SettingsFields;
}

/** The headers of an append that are needed before its events arrive; parsed and checked. */
export interface AppendTarget {
  readonly logId: string;
  readonly guard: LogGuard | undefined;
}

/** The fields that an append of one event and of a batch share; headers are parsed and checked. */
export interface AppendRequest {
  /** The id that `findAppendable` returned. */
  readonly logId: Uint8Array;
  readonly expectedSequence: bigint | undefined;
  readonly guard: LogGuard | undefined;
}

export interface AppendEventRequest extends AppendRequest {
  readonly idempotencyKey: string | null;
  readonly payload: Uint8Array;
}

export interface AppendBatchRequest extends AppendRequest {
  /** The base of the keys of its events, which are `{base}:{position}`. */
  readonly idempotencyKey: string;
  readonly payloads: Payloads;
}

/** A field that is null has its default. */
export interface ReadEventsRequest {
  readonly logId: string;
  readonly fromSequence: number | null;
  readonly limit: number | null;
  readonly waitSecs: number | null;
}

/** Takes the events of a log as they arrive. */
export interface EventStream {
  /** Sends events. Calls `taken` once they have left memory; never if the stream ends before that. */
  send(message: EventsMessage, taken: () => void): void;
  /** Ends the stream after the sent events, with a refusal (CoordinationError). Any other Error is a bug. */
  fail(error: CoordinationError | Error): void;
  /** Calls back when the stream has ended, from either side; at once if it has ended already. */
  onOver(callback: () => void): void;
}

const READ: RequiredAccess = { access: "read", namespace: null };
const WRITE: RequiredAccess = { access: "write", namespace: null };
const MS_PER_SECOND = 1_000;
const ALL_NAMESPACES = "*";
/** Maximum number of events in one message of a tail, and of their bytes. */
const FOLLOWED_EVENTS_MAX = 1_000;
const FOLLOWED_BYTES_MAX = 64 * 1024;

/** Continues a call with the log as it is visible at this member now. */
type Proceed = (log: EventLog) => void;

export class EventLogMethods {
  readonly #member: { readonly replica: HostReplica | null };
  readonly #executor: Executor;
  readonly #hub: Pick<EventHub, "open">;
  readonly #clock: { monotonicMs(): number };

  constructor(
    member: { readonly replica: HostReplica | null },
    executor: Executor,
    hub: Pick<EventHub, "open">,
    clock: { monotonicMs(): number },
  ) {
    this.#member = member;
    this.#executor = executor;
    this.#hub = hub;
    this.#clock = clock;
  }

  createLog(call: Call, request: CreateLogRequest, reply: Reply<LogBody>): void {
    const namespace = request.namespace ?? DEFAULT_NAMESPACE;
    this.#executor.submit<"create-log", LogBody>(
      call,
      { access: "write", namespace },
      () => ({
        kind: "create-log",
        name: logNameField(request.name),
        namespace: namespaceField(namespace),
        settings: newSettingsField(request.settings),
      }),
      ({ log }) => logMessage(log),
      (answer, replayed) => reply(request.namespace === null ? withDefaultNamed(answer) : answer, replayed),
    );
  }

  describeLog(call: Call, logId: string, reply: Reply<LogBody>): void {
    this.#read(
      call,
      () => ({ logId: logIdField(logId) }),
      (_replica, log) => logMessage(log),
      reply,
    );
  }

  /**
   * Replies with the id of the log if the caller may append to it, before the events are read. Apply checks again what
   * may change until the events have arrived.
   */
  findAppendable(call: Call, { logId, guard }: AppendTarget, reply: Reply<Uint8Array>): void {
    // A namespace that the caller names is checked first, before the answer reveals anything about the log.
    this.#withLog(
      call,
      appendNeed(guard),
      () => logIdField(logId),
      (log) => reply(log.logId, "no"),
      reply,
    );
  }

  /**
   * Replies with the id of the log if the caller may change its settings and delete it, before the body is read. Apply
   * checks again what may change until the body has arrived.
   */
  findManageable(call: Call, logId: string, reply: Reply<Uint8Array>): void {
    this.#withManageableLog(call, logId, (log) => reply(log.logId, "no"), reply);
  }

  listLogs(call: Call, request: ListLogsRequest, reply: Reply<LogsBody>): void {
    const { name, namespace, cursor } = request;
    const listing: Listing = { of: "logs", namespace: namespace ?? "", prefix: encodeText(name ?? "") };
    this.#executor.read(
      call,
      { access: "read", namespace },
      (state) => {
        if (namespace !== null) {
          namespaceField(namespace);
        }
        return {
          consistency: ReadConsistency.LINEARIZABLE,
          entriesMax: limitField(request.limit),
          after: cursor === null ? null : verifyPageToken(state, listing, cursor, "cursor"),
        };
      },
      ({ state }, { entriesMax, after }) => {
        const namespaces = namespace === null ? allowedNamespaces(state, call) : [namespace];
        const page = pageOf(call, state, { namespaces, name }, after, entriesMax);
        return {
          logs: page.logs.map(logMessage),
          next_cursor: page.next === null ? null : signPageToken(state, listing, page.next),
        };
      },
      reply,
    );
  }

  updateLogSettings(call: Call, { logId, settings }: UpdateLogRequest, reply: Reply<LogBody>): void {
    this.#executor.submit<"update-log-settings", LogBody>(
      call,
      WRITE,
      () => ({ kind: "update-log-settings", logId, changes: settingsField(settings) }),
      ({ log }) => logMessage(log),
      reply,
    );
  }

  deleteLog(call: Call, logId: string, reply: Reply<DeletedLogMessage>): void {
    const remove = (log: EventLog): void => {
      this.#executor.submitAuthorized<"delete-log", DeletedLogMessage>(
        call,
        () => ({ kind: "delete-log", logId: log.logId }),
        () => ({ log_id: derivedIdText(log.logId), deleted: true }),
        reply,
      );
    };
    this.#withManageableLog(call, logId, remove, reply);
  }

  appendEvent(call: Call, { payload, ...request }: AppendEventRequest, reply: Reply<AppendedMessage>): void {
    this.#append<AppendedMessage>(
      call,
      { ...request, payloads: Payloads.of([payload]), isBatch: false },
      ({ lastSequence }) => ({ success: true, sequence: lastSequence }),
      reply,
    );
  }

  appendBatch(call: Call, request: AppendBatchRequest, reply: Reply<AppendedBatchMessage>): void {
    this.#append<AppendedBatchMessage>(
      call,
      { ...request, isBatch: true },
      ({ runs, lastSequence }) => ({ success: true, runs, last_sequence: lastSequence }),
      reply,
    );
  }

  /** Replies with events from a sequence on. If there are none, it waits for new events for the time in the request. */
  readEvents(call: CancellableCall, request: ReadEventsRequest, reply: Reply<EventsMessage>): void {
    const query = () => ({
      logId: logIdField(request.logId),
      from: fromSequenceField(request.fromSequence),
      bounds: { eventsMax: limitField(request.limit), bytesMax: PAGE_BYTES_MAX },
      waitMs: waitSecsField(request.waitSecs) * MS_PER_SECOND,
    });
    let asked: ReturnType<typeof query> | null = null;
    this.#read(
      call,
      () => {
        asked = query();
        return asked;
      },
      ({ state }, log, { from, bounds }) => ({ log, events: readEvents(state, log, from, bounds) }),
      (answer, replayed) => {
        if (answer instanceof Error) {
          reply(answer, replayed);
        } else if (answer.events.length > 0 || asked === null || asked.waitMs === 0) {
          reply(eventsMessage(answer), replayed);
        } else {
          this.#await(call, answer.log, asked, reply);
        }
      },
    );
  }

  /**
   * Replies with a function that sends the events of the log from a sequence on to a stream, and then new events until
   * the stream ends. The function raises TOO_MANY_STREAMS, QUOTA, SHUTTING_DOWN or NO_LEADER; it sends nothing before
   * it returns.
   */
  tailEvents(
    call: Call,
    request: { readonly logId: string; readonly fromSequence: number | null },
    reply: Reply<(stream: EventStream) => void>,
  ): void {
    const query = () => ({ logId: logIdField(request.logId), from: fromSequenceField(request.fromSequence) });
    this.#read(
      call,
      query,
      (_replica, log, { from }) =>
        (stream: EventStream): void =>
          stream.onOver(this.#follow(call, log, from, stream)),
      reply,
    );
  }

  #follow(call: Call, { logId, namespace }: EventLog, fromSequence: number, stream: EventStream): () => void {
    const bounds = { eventsMax: FOLLOWED_EVENTS_MAX, bytesMax: FOLLOWED_BYTES_MAX };
    return this.#hub.open(
      {
        logId,
        namespace,
        fromSequence,
        principal: call.principal,
        ...bounds,
        untilMs: Number.POSITIVE_INFINITY,
      },
      {
        send: (message, taken) => stream.send(eventsMessage(message), taken),
        recheck: (log) => requireVisible(call, log),
        end: (error) => stream.fail(error ?? new Error("a tail without a time limit has ended without an error")),
      },
    );
  }

  /** Waits for the first new events, because there are none yet. */
  #await(
    call: CancellableCall,
    log: EventLog,
    asked: {
      readonly from: number;
      readonly bounds: { readonly eventsMax: number; readonly bytesMax: number };
      readonly waitMs: number;
    },
    reply: Reply<EventsMessage>,
  ): void {
    let hasEnded = false;
    let close = (): void => undefined;
    const end = (answer: EventsMessage | Error): void => {
      if (!hasEnded) {
        hasEnded = true;
        close();
        reply(answer, "no");
      }
    };
    const { from, bounds, waitMs } = asked;
    const untilMs = this.#clock.monotonicMs() + waitMs;
    const opened = attempt(() =>
      this.#hub.open(
        {
          logId: log.logId,
          namespace: log.namespace,
          fromSequence: from,
          principal: call.principal,
          ...bounds,
          untilMs,
        },
        {
          send: (message) => end(eventsMessage(message)),
          recheck: (now) => requireVisible(call, now),
          end: (error) => end(error ?? attempt(() => this.#nothingNew(log))),
        },
      ),
    );
    if (opened instanceof Error) {
      end(opened);
      return;
    }
    close = opened;
    call.onGone(() => {
      hasEnded = true;
      close();
    });
  }

  /** The answer when no events arrived during the wait. */
  #nothingNew(before: EventLog): EventsMessage {
    const { replica } = this.#member;
    const log = replica === null ? before : describeLog(replica.state, before.logId);
    return { events: [], last_sequence: log.lastSequence };
  }

  #append<Response>(
    call: Call,
    request: AppendRequest & Pick<AppendEvents, "payloads" | "isBatch" | "idempotencyKey">,
    response: (result: AppendEventsResult) => Response,
    reply: Reply<Response>,
  ): void {
    const { logId, guard, payloads, isBatch, idempotencyKey, expectedSequence } = request;
    this.#executor.submit<"append-events", Response>(
      call,
      appendNeed(guard),
      () => ({
        kind: "append-events",
        logId,
        isBatch,
        idempotencyKey,
        expectedSequence,
        payloads: payloadsField(payloads, isBatch),
        ...(guard === undefined ? {} : { guard }),
      }),
      response,
      reply,
    );
  }

  /** Answers a read of a visible log, after a read barrier and a second check of the caller's rights. */
  #read<Query extends { readonly logId: Uint8Array }, Response>(
    call: Call,
    query: () => Query,
    response: (replica: HostReplica, log: EventLog, query: Query) => Response,
    reply: Reply<Response>,
  ): void {
    this.#executor.read(
      call,
      READ,
      () => ({ ...query(), consistency: ReadConsistency.LINEARIZABLE }),
      (replica, asked) => response(replica, visibleLog(call, replica.state, asked.logId), asked),
      reply,
    );
  }

  /** Continues with the log if it is visible to the caller, who may also change its settings and delete it. */
  #withManageableLog<Response>(call: Call, logId: string, proceed: Proceed, reply: Reply<Response>): void {
    const authorize = (log: EventLog): void => {
      const need: RequiredAccess = { access: managingAccess(log, call.principal), namespace: null };
      authorized(call, need, () => proceed(log), reply);
    };
    this.#withLog(call, WRITE, () => logIdField(logId), authorize, reply);
  }

  /**
   * Continues with the log if the caller has the needed access, at least to write, and the log is visible to the caller.
   * This member's applied state may lag, so it answers that the log does not exist only after a read barrier.
   */
  #withLog<Response>(
    call: Call,
    need: RequiredAccess,
    logId: () => Uint8Array,
    proceed: Proceed,
    reply: Reply<Response>,
  ): void {
    const { replica } = this.#member;
    const look = (): void => {
      const id = attempt(logId);
      if (replica === null || id instanceof Error) {
        reply(id instanceof Error ? id : new CoordinationError("NO_LEADER", "this member serves no cluster"), "no");
        return;
      }
      const known = attempt(() => visibleLog(call, replica.state, id));
      if (!(known instanceof Error)) {
        proceed(known);
        return;
      }
      replica.readBarrier(call.deadlineMs, (error) => {
        const log =
          error ??
          attempt(() => {
            call.recheck(WRITE);
            return visibleLog(call, replica.state, id);
          });
        if (log instanceof Error) {
          reply(log, "no");
        } else {
          proceed(log);
        }
      });
    };
    authorized(call, need, look, reply);
  }
}

/** The access that an append needs, before its log is known. */
function appendNeed(guard: LogGuard | undefined): RequiredAccess {
  return guard === undefined ? WRITE : { access: "write", namespace: guard.namespace };
}

/** Returns the log. Throws LOG_NOT_FOUND if it does not exist, or if the caller may not access its namespace. */
function visibleLog(call: Call, state: StateReader, logId: Uint8Array): EventLog {
  const log = describeLog(state, logId);
  requireVisible(call, log);
  return log;
}

function requireVisible(call: Call, { namespace, logId }: EventLog): void {
  try {
    call.recheck({ access: "read", namespace });
  } catch (error) {
    throw error instanceof CoordinationError && error.reason === "NAMESPACE_DENIED" ? logNotFound(logId) : error;
  }
}

/** The namespaces of the caller's user; null = all. */
function allowedNamespaces(state: StateReader, { principal }: Call): readonly string[] | null {
  const namespaces = readUser(state, principal.subject)?.namespaces ?? [];
  return namespaces.includes(ALL_NAMESPACES) ? null : namespaces;
}

/** The token may allow fewer namespaces than its user has, so each namespace is checked, once for all its logs. */
function pageOf(
  call: Call,
  state: StateReader,
  selection: LogSelection,
  after: Uint8Array | null,
  entriesMax: number,
): LogPage {
  const isVisible = new Map<string, boolean>();
  return listLogs(state, selection, after, entriesMax, (log) => {
    const known = isVisible.get(log.namespace) ?? maySeeLog(call, log);
    isVisible.set(log.namespace, known);
    return known;
  });
}

function maySeeLog(call: Call, log: EventLog): boolean {
  const refusal = attempt(() => requireVisible(call, log));
  if (refusal instanceof Error && !(refusal instanceof CoordinationError && refusal.reason === "LOG_NOT_FOUND")) {
    throw refusal;
  }
  return refusal === undefined;
}

/** The answer to a request without a namespace: a refusal of `default` explains why `default` applies. */
function withDefaultNamed<Answer>(answer: Answer): Answer | CoordinationError {
  if (!(answer instanceof CoordinationError) || answer.reason !== "NAMESPACE_DENIED") {
    return answer;
  }
  const rule = `a log without a namespace in the request belongs to "${DEFAULT_NAMESPACE}"`;
  return new CoordinationError("NAMESPACE_DENIED", `${rule}, which you may not access: name one of your namespaces`);
}

function logMessage(log: EventLog): LogBody {
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
    settings: settingsMessage(log.settings),
  };
}

function eventsMessage({ events, log }: EventMessage): EventsMessage {
  return {
    events: events.map(({ sequence, timestampMs, payload, idempotencyKey }: LogEvent) => ({
      sequence,
      timestamp: timestamp(timestampMs),
      payload,
      idempotency_key: idempotencyKey,
    })),
    last_sequence: log.lastSequence,
  };
}
