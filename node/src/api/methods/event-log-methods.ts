/**
 * Event logs: create, describe, list, change, delete, append, read, and tail. The transports make their messages of what
 * the methods reply.
 *
 * A log belongs to a namespace; `default` if the request names none. For a caller without access to the namespace, the
 * log does not exist. The methods answer "not found" only after a read barrier and a second check.
 */

import { ReadConsistency, type SequenceRun } from "@quoin/proto";
import { type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import {
  type AppendEvents,
  type AppendEventsResult,
  appendEventsOperation,
  type ClientOperation,
  type ClientOperationKind,
  CoordinationError,
  createLogOperation,
  DEFAULT_NAMESPACE,
  type DeleteLogResult,
  deleteLogOperation,
  describeLog,
  type EventLog,
  encodeText,
  type LogPage,
  type LogSelection,
  listLogs,
  logNotFound,
  managingAccess,
  type RequiredAccess,
  readEvents,
  type SequenceRuns,
  type StateReader,
  updateLogSettingsOperation,
} from "../../state/index.ts";
import type { EventHub, EventMessage } from "../../watch/index.ts";
import { attempt } from "./attempt.ts";
import type { Call, CancellableCall, Reply } from "./call.ts";
import { allowedNamespaces, mayRead } from "./caller-rights.ts";
import { authorized, type Executor, type Query, type Responding, withVisibleReplay } from "./executor.ts";
import { consistencyField, namespaceField, PAGE_BYTES_MAX, pageSizeField } from "./field-rules.ts";
import type { HostReplica } from "./host.ts";
import {
  fromSequenceField,
  logIdField,
  logNameField,
  logSettingsField,
  newSettingsField,
  payloadsField,
  type SettingsFields,
  waitSecondsField,
} from "./log-field-rules.ts";

export interface CreateLogRequest {
  readonly name: string;
  /** Null = `default`. */
  readonly namespace: string | null;
  readonly settings: SettingsFields;
}

export interface ListLogsRequest {
  /** Only logs of this namespace; null = all namespaces that the caller may access. */
  readonly namespace: string | null;
  /** Only logs with this name; null = any name. */
  readonly name: string | null;
  /** 0 = the default. */
  readonly pageSize: number;
  /** "" = the first page. */
  readonly pageToken: string;
  readonly consistency: ReadConsistency;
}

/** A page of logs, true at a revision. */
export interface ListedLogs {
  readonly logs: readonly EventLog[];
  /** "" = this is the last page. */
  readonly nextPageToken: string;
  readonly revision: number;
}

/** The id of a log, or the one that the method which looks for it in advance has replied with. */
export type AskedLog = string | Uint8Array;

export interface UpdateLogRequest {
  readonly logId: AskedLog;
  /** Throws BAD_FIELD. */
  readonly settings: () => SettingsFields;
}

/** Where to append, which is known before the events arrive. */
export interface AppendTarget {
  readonly logId: string;
  /** Of the lock that guards the append; null = none does. */
  readonly guardNamespace: string | null;
}

export interface AppendRequest extends Omit<AppendTarget, "logId"> {
  readonly logId: AskedLog;
  /** Throws the refusal of a bad field. */
  readonly fields: () => AppendFields;
}

/** The checked fields of an append, but for the number of its events and their bytes. */
export type AppendFields = Omit<AppendEvents, "kind" | "logId">;

/** What was appended. */
export interface Appended extends AppendEventsResult {
  /** False: the runs are not known any more, in the answer to a retry. */
  readonly hasRuns: boolean;
}

export interface ReadEventsRequest {
  readonly logId: string;
  /** 0 = 1. */
  readonly fromSequence: bigint;
  /** 0 = the default. */
  readonly pageSize: number;
  readonly waitSeconds: bigint;
  readonly consistency: ReadConsistency;
}

export interface TailEventsRequest {
  readonly logId: string;
  /** 0 = 1. */
  readonly fromSequence: bigint;
}

/** A log, true at a revision. */
export interface DescribedLog {
  readonly log: EventLog;
  readonly revision: number;
}

/** Consecutive events, true at a revision. */
export interface EventPage extends EventMessage {
  readonly revision: number;
}

/** A log that can be followed. */
export interface OpenTail {
  readonly log: EventLog;
  readonly begin: (stream: EventStream) => void;
}

/** Takes the events of a log as they arrive. */
export interface EventStream {
  /** Sends events. Calls `taken` once they have left memory; never if the stream ends before that. */
  send(message: EventMessage, taken: () => void): void;
  /** Ends the stream after the sent events, with a refusal (CoordinationError). Any other Error is a bug. */
  fail(error: CoordinationError | Error): void;
  /** Calls back when the stream has ended, from either side; at once if it has ended already. */
  onOver(callback: () => void): void;
}

const READ: RequiredAccess = { access: "read", namespace: null };
const WRITE: RequiredAccess = { access: "write", namespace: null };
const MS_PER_SECOND = 1_000;
/** Maximum number of events in one message of a tail, and of their bytes. */
const FOLLOWED_EVENTS_MAX = 1_000;
const FOLLOWED_BYTES_MAX = 64 * 1024;

/** What to do with the id of a log. */
interface LogWork {
  /** Continues with the log, which is visible at this member now. */
  readonly proceed: (logId: Uint8Array) => void;
  /** Replies if the log does not exist. */
  readonly absent: (logId: Uint8Array) => void;
}

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

  createLog(call: Call, request: CreateLogRequest, reply: Reply<DescribedLog>): void {
    const namespace = request.namespace ?? DEFAULT_NAMESPACE;
    this.#executor.submit(
      call,
      createLogOperation,
      { access: "write", namespace },
      () => ({
        kind: "create-log",
        name: logNameField(request.name),
        namespace: namespaceField(namespace),
        settings: newSettingsField(request.settings),
      }),
      (result) => result,
      (answer, replayed) => reply(request.namespace === null ? withDefaultNamed(answer) : answer, replayed),
    );
  }

  getLog(
    call: Call,
    { logId, consistency }: { readonly logId: string; readonly consistency: ReadConsistency },
    reply: Reply<DescribedLog>,
  ): void {
    this.#read(
      call,
      () => ({ logId: logIdField(logId), consistency: consistencyField(consistency) }),
      ({ revision }, log) => ({ log, revision }),
      reply,
    );
  }

  /**
   * Replies with the id of the log if the caller may append to it, before the events are read. Apply checks again what
   * may change until the events have arrived.
   */
  findAppendable(call: Call, { logId, guardNamespace }: AppendTarget, reply: Reply<Uint8Array>): void {
    // A namespace that the caller names is checked first, before the answer reveals anything about the log.
    this.#withLog(call, appendNeed(guardNamespace), () => logIdField(logId), finding(reply), reply);
  }

  /** The same for a change of settings. */
  findManageable(call: Call, logId: string, reply: Reply<Uint8Array>): void {
    this.#withManageableLog(call, logId, finding(reply), reply);
  }

  listLogs(call: Call, request: ListLogsRequest, reply: Reply<ListedLogs>): void {
    const { name, namespace, pageToken } = request;
    const listing: Listing = { of: "logs", namespace: namespace ?? "", prefix: encodeText(name ?? "") };
    this.#executor.read(
      call,
      { access: "read", namespace },
      (state) => {
        if (namespace !== null) {
          namespaceField(namespace);
        }
        return {
          consistency: consistencyField(request.consistency),
          entriesMax: pageSizeField(request.pageSize),
          after: pageToken === "" ? null : verifyPageToken(state, listing, pageToken),
        };
      },
      ({ state, revision }, { entriesMax, after }) => {
        const namespaces = namespace === null ? allowedNamespaces(state, call) : [namespace];
        const { logs, next } = pageOf(call, state, { namespaces, name }, after, entriesMax);
        return { logs, nextPageToken: next === null ? "" : signPageToken(state, listing, next), revision };
      },
      reply,
    );
  }

  updateLog(call: Call, { logId, settings }: UpdateLogRequest, reply: Reply<DescribedLog>): void {
    const change = this.#change(
      call,
      updateLogSettingsOperation,
      (found) => ({ kind: "update-log-settings", logId: found, changes: logSettingsField(settings()) }),
      (result) => result,
      withVisibleReplay(reply, ({ log }) => requireVisible(call, log)),
    );
    if (typeof logId === "string") {
      this.#withManageableLog(call, logId, change, reply);
    } else {
      change.proceed(logId);
    }
  }

  /** Replies with the id of the log. */
  deleteLog(call: Call, logId: string, reply: Reply<DeleteLogResult>): void {
    const change = this.#change(
      call,
      deleteLogOperation,
      (found) => ({ kind: "delete-log", logId: found }),
      (result) => result,
      reply,
    );
    this.#withManageableLog(call, logId, change, reply);
  }

  /** Appends one event, or the events of a batch. */
  append(call: Call, { logId, guardNamespace, fields }: AppendRequest, reply: Reply<Appended>): void {
    const change = this.#change(
      call,
      appendEventsOperation,
      (found) => {
        const asked = fields();
        const payloads = payloadsField(asked.payloads, asked.isBatch);
        return { ...asked, kind: "append-events", logId: found, payloads };
      },
      (result, _tickMs, hasRuns) => ({ ...result, hasRuns }),
      reply,
    );
    if (typeof logId === "string") {
      this.#withLog(call, appendNeed(guardNamespace), () => logIdField(logId), change, reply);
    } else {
      change.proceed(logId);
    }
  }

  /** A change of a log: proposed, or answered as it was before if the log is gone. */
  #change<Asked extends ClientOperation, Response>(
    call: Call,
    kind: ClientOperationKind<Asked>,
    operation: (logId: Uint8Array) => Asked,
    response: Responding<Asked["kind"], Response>,
    reply: Reply<Response>,
  ): LogWork {
    return {
      proceed: (logId) => this.#executor.submitAuthorized(call, kind, () => operation(logId), response, reply),
      absent: (logId) => this.#executor.replay(call, kind, () => operation(logId), logNotFound(logId), response, reply),
    };
  }

  /** Replies with events from a sequence on. If there are none, it waits for new events for the time in the request. */
  readEvents(call: CancellableCall, request: ReadEventsRequest, reply: Reply<EventPage>): void {
    const query = () => ({
      consistency: consistencyField(request.consistency),
      logId: logIdField(request.logId),
      from: fromSequenceField(request.fromSequence),
      bounds: { eventsMax: pageSizeField(request.pageSize), bytesMax: PAGE_BYTES_MAX },
      waitMs: waitSecondsField(request.waitSeconds) * MS_PER_SECOND,
    });
    let asked: ReturnType<typeof query> | null = null;
    this.#read(
      call,
      () => {
        asked = query();
        return asked;
      },
      ({ state, revision }, log, { from, bounds }) => ({ log, events: readEvents(state, log, from, bounds), revision }),
      (answer, replayed) => {
        if (answer instanceof Error || answer.events.length > 0 || asked === null || asked.waitMs === 0) {
          reply(answer, replayed);
        } else {
          this.#await(call, answer.log, asked, reply);
        }
      },
    );
  }

  /**
   * Replies with the log, and a function that sends its events from a sequence on to a stream, and then new events until
   * the stream ends. The function raises TOO_MANY_STREAMS, QUOTA, SHUTTING_DOWN or NO_LEADER; it sends nothing before
   * it returns.
   */
  tailEvents(call: Call, request: TailEventsRequest, reply: Reply<OpenTail>): void {
    const query = () => ({
      consistency: ReadConsistency.LINEARIZABLE,
      logId: logIdField(request.logId),
      from: fromSequenceField(request.fromSequence),
    });
    this.#read(
      call,
      query,
      (_replica, log, { from }) => ({
        log,
        begin: (stream: EventStream) => stream.onOver(this.#follow(call, log, from, stream)),
      }),
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
        send: (message, taken) => stream.send(message, taken),
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
    reply: Reply<EventPage>,
  ): void {
    let hasEnded = false;
    let close = (): void => undefined;
    const end = (answer: EventMessage | Error): void => {
      if (!hasEnded) {
        hasEnded = true;
        close();
        reply(answer instanceof Error ? answer : { ...answer, revision: this.#member.replica?.revision ?? 0 }, "no");
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
          send: (message) => end(message),
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
  #nothingNew(before: EventLog): EventMessage {
    const { replica } = this.#member;
    return { events: [], log: replica === null ? before : describeLog(replica.state, before.logId) };
  }

  /** Answers a read of a visible log, after a read barrier and a second check of the caller's rights. */
  #read<Asked extends Query & { readonly logId: Uint8Array }, Response>(
    call: Call,
    query: () => Asked,
    response: (replica: HostReplica, log: EventLog, query: Asked) => Response,
    reply: Reply<Response>,
  ): void {
    this.#executor.read(
      call,
      READ,
      query,
      (replica, asked) => response(replica, visibleLog(call, replica.state, asked.logId), asked),
      reply,
    );
  }

  /** Continues with the log if it is visible to the caller, who may also change its settings and delete it. */
  #withManageableLog<Response>(call: Call, logId: string, { proceed, absent }: LogWork, reply: Reply<Response>): void {
    const authorize = (id: Uint8Array, log: EventLog): void => {
      const need = { access: managingAccess(log, call.principal), namespace: null };
      authorized(call, need, () => proceed(id), reply);
    };
    this.#withLog(call, WRITE, () => logIdField(logId), { proceed: authorize, absent }, reply);
  }

  /**
   * Continues with the log if the caller has the needed access, at least to write, and the log is visible to the caller.
   * This member's applied state may lag, so it decides that the log does not exist only after a read barrier. Nothing
   * is proposed for such a log: apply knows only the rights of the user, and not the limits of the token.
   */
  #withLog<Response>(
    call: Call,
    need: RequiredAccess,
    logId: () => Uint8Array,
    { proceed, absent }: Omit<LogWork, "proceed"> & { readonly proceed: (logId: Uint8Array, log: EventLog) => void },
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
        proceed(id, known);
        return;
      }
      replica.readBarrier(call.deadlineMs, (error) => {
        const failed = error ?? attempt(() => call.recheck(need));
        if (failed instanceof Error) {
          reply(failed, "no");
        } else if (!hasLog(replica.state, id)) {
          absent(id);
        } else {
          const log = attempt(() => visibleLog(call, replica.state, id));
          if (log instanceof Error) {
            reply(log, "no");
          } else {
            proceed(id, log);
          }
        }
      });
    };
    authorized(call, need, look, reply);
  }
}

/** Replies with the id of the log. */
function finding(reply: Reply<Uint8Array>): LogWork {
  return { proceed: (logId) => reply(logId, "no"), absent: (logId) => reply(logNotFound(logId), "no") };
}

/** The access that an append needs, before its log is known. */
function appendNeed(guardNamespace: string | null): RequiredAccess {
  return guardNamespace === null ? WRITE : { access: "write", namespace: guardNamespace };
}

function hasLog(state: StateReader, logId: Uint8Array): boolean {
  return !(attempt(() => describeLog(state, logId)) instanceof Error);
}

/** Returns the log. Throws LOG_NOT_FOUND if it does not exist, or if the caller may not access its namespace. */
function visibleLog(call: Call, state: StateReader, logId: Uint8Array): EventLog {
  const log = describeLog(state, logId);
  requireVisible(call, log);
  return log;
}

function requireVisible(call: Call, { namespace, logId }: EventLog): void {
  if (!mayRead(call, namespace)) {
    throw logNotFound(logId);
  }
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
    const known = isVisible.get(log.namespace) ?? mayRead(call, log.namespace);
    isVisible.set(log.namespace, known);
    return known;
  });
}

/** The answer to a request without a namespace: a refusal of `default` explains why `default` applies. */
function withDefaultNamed<Answer>(answer: Answer): Answer | CoordinationError {
  if (!(answer instanceof CoordinationError) || answer.reason !== "NAMESPACE_DENIED") {
    return answer;
  }
  const rule = `a log without a namespace in the request belongs to "${DEFAULT_NAMESPACE}"`;
  return new CoordinationError("NAMESPACE_DENIED", `${rule}, which you may not access: name one of your namespaces`);
}

/** The sequences of an append in the form for clients. */
export function runMessages(runs: SequenceRuns): SequenceRun[] {
  const messages: SequenceRun[] = [];
  for (let run = 0; run < runs.length; run++) {
    messages.push({ firstSequence: BigInt(runs.firstSequenceOf(run)), count: BigInt(runs.countOf(run)) });
  }
  return messages;
}
