/**
 * Event logs: create, change, delete, append, describe, list and read.
 *
 * A log is ACTIVE until it is DELETED. Sequences begin at 1, have no gaps, and are never reused, whatever is removed
 * (see log-retention). An append stores all of its events or none. It first looks for events that are already stored: a
 * retry of a successful append gets its sequences, whatever has changed since (S1). Only new events need the guard, the
 * expected sequence and free space.
 *
 * A log belongs to a namespace and has a unique name there. Users see the logs of their namespaces; any other log looks
 * absent to them. Changing settings and deleting need the access level admin, or to be the log's creator.
 */

import { compareBytes, withNul } from "../../bytes/index.ts";
import { includesAccess, includesNamespace, readUser, roleAccess } from "../accounts/index.ts";
import {
  type Access,
  type ApplyContext,
  CoordinationError,
  count,
  derivedId,
  derivedIdText,
  type EventLog,
  logNameCursor,
  logNamePrefix,
  logNameRow,
  logNameRowAt,
  logRow,
  type NamespacedRows,
  namespaceOfCursor,
  namespaceRefusalOf,
  ONE_REQUEST,
  operationWithOptionalId,
  type Principal,
  prefixRange,
  requireNamespace,
  SequenceRuns,
  type StateReader,
  type Steps,
  scanNamespaces,
  sequenceRuns,
  tableRange,
  text,
} from "../core/index.ts";
import { checkGuard } from "../locks/index.ts";
import { appendedSequences } from "./appended-sequences.ts";
import { type AppendKeys, findStoredEvents, type OwnRow, readOwnRow, rememberKeys } from "./event-keys.ts";
import {
  type AppendEvents,
  type AppendEventsResult,
  appendField,
  type CreateLog,
  type CreateLogResult,
  type DeleteLog,
  type DeleteLogResult,
  logChanges,
  logId,
  logSettings,
  readAppendEvents,
  type UpdateLogSettings,
  type UpdateLogSettingsResult,
} from "./log-commands.ts";
import { beginErasure } from "./log-erasures.ts";
import { withoutRetentionTimer, withRetentionTimer } from "./log-retention.ts";
import {
  derivedKey,
  type LogEvent,
  logInAnswer,
  readLog,
  readLogId,
  scanChunks,
  writeEvents,
  writeLog,
} from "./log-rows.ts";
import { PositionCursor } from "./position-runs.ts";

/** Which logs to list. */
export interface LogSelection {
  /** Only logs of these namespaces, each named once; null = all. */
  readonly namespaces: readonly string[] | null;
  /** Only logs with this name; null = any. */
  readonly name: string | null;
}

export interface LogPage {
  readonly logs: readonly EventLog[];
  /** The place after which the next page begins; null if this is the last page. */
  readonly next: Uint8Array | null;
}

/** Rows and namespaces that one page reads, shown or not: one turn of the event loop (S44). */
const LISTED_MAX = 2_000;

/** What may change logs that exist: they tell the caller's namespaces apart themselves. */
const WRITE = { access: "write", namespace: null } as const;

export const createLogOperation = operationWithOptionalId<CreateLog, CreateLogResult>({
  kind: "create-log",
  number: 50,
  grows: true,
  fields: { name: text, namespace: text, settings: logSettings },
  accesses: ({ namespace }) => [{ access: "write", namespace }],
  answer: { number: 50, fields: { log: logInAnswer } },
  apply: applyCreateLog,
});

export const updateLogSettingsOperation = operationWithOptionalId<UpdateLogSettings, UpdateLogSettingsResult>({
  kind: "update-log-settings",
  number: 51,
  fields: { logId, changes: logChanges },
  accesses: () => [WRITE],
  answer: { number: 51, fields: { log: logInAnswer } },
  apply: applyUpdateLogSettings,
});

export const deleteLogOperation = operationWithOptionalId<DeleteLog, DeleteLogResult>({
  kind: "delete-log",
  number: 52,
  fields: { logId },
  accesses: () => [WRITE],
  answer: { number: 52, fields: { logId } },
  apply: applyDeleteLog,
});

export const appendEventsOperation = operationWithOptionalId<AppendEvents, AppendEventsResult>({
  kind: "append-events",
  number: 53,
  grows: true,
  fields: appendField,
  division: { read: readAppendEvents, isHidden: false },
  rows: (_reader, { payloads }) => payloads.count - 1,
  accesses: ({ guard }) => (guard === undefined ? [WRITE] : [WRITE, { access: "write", namespace: guard.namespace }]),
  // A batch is one request; events that were already stored are not counted again.
  usage: ({ appendedEvents, appendedBytes }) => ({
    ...ONE_REQUEST,
    appendRequests: 1,
    eventsAppended: appendedEvents,
    bytesAppended: appendedBytes,
  }),
  answer: {
    number: 53,
    fields: { logId, runs: sequenceRuns, lastSequence: count, appendedEvents: count, appendedBytes: count },
    withoutValues: (result) => ({ ...result, runs: SequenceRuns.NONE }),
  },
  apply: applyAppendEvents,
});

function applyCreateLog(context: ApplyContext, command: CreateLog, principal: Principal): CreateLogResult {
  const { transaction, index, wallMs } = context;
  const { name, namespace, settings } = command;
  requireNamespace(transaction, namespace);
  if (readLogId(transaction, namespace, name) !== undefined) {
    const named = `a log named ${JSON.stringify(name)}`;
    throw new CoordinationError("LOG_EXISTS", `${named} exists already in the namespace "${namespace}"`);
  }
  const account = context.accounts.of(namespace);
  account.requireQuota("event_logs", 1);
  context.requireLogQuota();
  const log = {
    logId: derivedId(transaction, "log", index),
    number: index,
    name,
    namespace,
    settings,
    createdAtMs: wallMs,
    createdBy: principal.subject,
    lastSequence: 0,
    firstSequence: 1,
    sizeBytes: 0,
    oldestTickMs: 0,
    retentionDueMs: 0,
  };
  context.countLogs(1);
  account.count("event_logs", 1);
  transaction.put(logNameRow(namespace, name), log.logId);
  writeLog(context, log);
  return { kind: "create-log", log, revision: context.revision };
}

function applyUpdateLogSettings(
  context: ApplyContext,
  { logId, changes }: UpdateLogSettings,
  principal: Principal,
): UpdateLogSettingsResult {
  const log = requireManagedLog(context.transaction, principal, logId);
  const changed = withRetentionTimer(context, { ...log, settings: { ...log.settings, ...changes } });
  writeLog(context, changed);
  return { kind: "update-log-settings", log: changed, revision: context.revision };
}

/** All readers lose its events at once; later steps erase their rows. */
function applyDeleteLog(context: ApplyContext, { logId }: DeleteLog, principal: Principal): DeleteLogResult {
  removeLog(context, requireManagedLog(context.transaction, principal, logId));
  return { kind: "delete-log", logId, revision: context.revision };
}

function removeLog(context: ApplyContext, log: EventLog): void {
  const { transaction } = context;
  withoutRetentionTimer(context, log);
  transaction.delete(logRow(log.logId));
  transaction.delete(logNameRow(log.namespace, log.name));
  context.countLogs(-1);
  context.accounts.of(log.namespace).count("event_logs", -1);
  if (log.lastSequence > 0) {
    beginErasure(context, log);
  }
}

/** All logs of a namespace. Later steps erase their events and keys. */
export const namespaceLogs: NamespacedRows = {
  rangeOf: (namespace) => prefixRange(logNamePrefix(namespace)),
  erase: (context, _namespace, { value: logId }) => {
    removeLog(context, readLog(context.transaction, logId) as EventLog);
    return 2;
  },
};

/** Appends events. It may pause, because a batch takes longer than one turn of the event loop should. */
function* applyAppendEvents(
  context: ApplyContext,
  command: AppendEvents,
  principal: Principal,
): Steps<AppendEventsResult> {
  const { logId, payloads } = command;
  const log = requireVisibleLog(context.transaction, principal, logId);
  const keys = keysOf(command);
  const own = keys === null ? null : readOwnRow(context, log, keys);
  // The events that are already stored, with their sequences (S5, S6, S7).
  const found = keys === null || own === null ? SequenceRuns.NONE : yield* findStoredEvents(context, log, keys, own);
  const { fresh, runs, ...added } = yield* appendedSequences(found, payloads, log.lastSequence + 1);
  if (fresh.length > 0) {
    checkGuard(context.transaction, command.guard?.namespace ?? "", command.guard);
    requireExpectedSequence(log, command);
    requireEventQuotas(context, log, added.appendedBytes, added.appendedEvents);
    yield* storeEvents(context, log, command, own, { fresh, ...added });
  }
  return { kind: "append-events", logId, runs, ...added, revision: context.revision };
}

/** The sequence of each event of an append, in order. */
export function* sequencesOf(runs: SequenceRuns): Generator<number> {
  for (let run = 0; run < runs.length; run++) {
    for (let at = 0; at < runs.countOf(run); at++) {
      yield runs.firstSequenceOf(run) + at;
    }
  }
}

/** The log; raises LOG_NOT_FOUND, also while its namespace is being deleted. The caller checks who may see it. */
export function describeLog(reader: StateReader, logId: Uint8Array): EventLog {
  const log = readLog(reader, logId);
  if (log === undefined || namespaceRefusalOf(reader, log.namespace) !== null) {
    throw logNotFound(logId);
  }
  return log;
}

export function logNotFound(logId: Uint8Array): CoordinationError {
  return new CoordinationError("LOG_NOT_FOUND", `event log ${derivedIdText(logId)} does not exist`);
}

/**
 * The visible logs of the selection, ordered by namespace and name, after the place `after`, at most `entriesMax` of
 * them. A page may be short or empty although another one follows: it reads at most LISTED_MAX rows. It never reads
 * rows of other namespaces, so the division into pages shows nothing about them.
 */
export function listLogs(
  reader: StateReader,
  selection: LogSelection,
  after: Uint8Array | null,
  entriesMax: number,
  isVisible: (log: EventLog) => boolean,
): LogPage {
  const { name } = selection;
  const logs: EventLog[] = [];
  let looked = 0;
  let last: Uint8Array | null = null;
  let isMore = false;
  /** Visits the log of a row; false = the page is full, and another one follows. */
  const visit = (key: Uint8Array, logId: Uint8Array | undefined): boolean => {
    const log = logId === undefined ? undefined : readLog(reader, logId);
    const isListed = log !== undefined && isVisible(log) && namespaceRefusalOf(reader, log.namespace) === null;
    isMore = looked === LISTED_MAX || (logs.length === entriesMax && isListed);
    if (isMore) {
      return false;
    }
    looked++;
    if (logs.length < entriesMax) {
      last = logNameCursor(key);
    }
    if (isListed) {
      logs.push(log);
    }
    return true;
  };
  if (name !== null) {
    visitNamed(reader, selection.namespaces, name, after, visit);
  } else {
    visitRanges(reader, selection.namespaces, after, visit);
  }
  return { logs, next: isMore ? last : null };
}

type Visit = (key: Uint8Array, logId: Uint8Array | undefined) => boolean;

/** Visits the rows of all names in the namespaces, after a place. */
function visitRanges(
  reader: StateReader,
  namespaces: readonly string[] | null,
  after: Uint8Array | null,
  visit: Visit,
): void {
  const start = after === null ? null : withNul(logNameRowAt(after));
  const ranges = namespaces?.toSorted(byBytes).map((namespace) => prefixRange(logNamePrefix(namespace)));
  for (const { from, to } of ranges ?? [tableRange("logName")]) {
    const first = start !== null && compareBytes(start, from) > 0 ? start : from;
    let isFull = false;
    if (compareBytes(first, to) < 0) {
      reader.scan(first, to, ({ key, value }) => {
        isFull = !visit(key, value);
        return !isFull;
      });
    }
    if (isFull) {
      return;
    }
  }
}

/** Visits the row of this log name in each namespace, after a place, whether or not the row exists. */
function visitNamed(
  reader: StateReader,
  namespaces: readonly string[] | null,
  name: string,
  after: Uint8Array | null,
  visit: Visit,
): void {
  const visitIn = (namespace: string): boolean => {
    const key = logNameRow(namespace, name);
    return (after !== null && compareBytes(logNameCursor(key), after) <= 0) || visit(key, reader.get(key));
  };
  if (namespaces === null) {
    scanNamespaces(reader, after === null ? "" : namespaceOfCursor(after), visitIn);
  } else {
    namespaces.toSorted(byBytes).every(visitIn);
  }
}

/**
 * Events of the log from the sequence on, or from the oldest kept one. The bounds limit the events and the bytes of
 * payloads and keys, but at least one event is returned if there is any.
 */
export function readEvents(
  reader: StateReader,
  log: EventLog,
  fromSequence: number,
  bounds: { readonly eventsMax: number; readonly bytesMax: number },
): readonly LogEvent[] {
  const events: LogEvent[] = [];
  const from = Math.max(fromSequence, log.firstSequence);
  if (from > log.lastSequence) {
    return events;
  }
  let bytes = 0;
  scanChunks(reader, log.number, from, ({ firstSequence, wallMs, idempotencyKey, positions, payloads }) => {
    const first = Math.max(from - firstSequence, 0);
    const cursor = positions === null ? null : new PositionCursor(positions);
    for (let passed = 0; passed < first; passed++) {
      cursor?.next();
    }
    for (let at = first; at < payloads.count; at++) {
      const payload = payloads.at(at);
      const position = cursor?.next();
      const key =
        idempotencyKey === null || position === undefined ? idempotencyKey : derivedKey(idempotencyKey, position);
      const size = payload.length + (key?.length ?? 0);
      if (events.length === bounds.eventsMax || (events.length > 0 && bytes + size > bounds.bytesMax)) {
        return false;
      }
      bytes += size;
      events.push({ sequence: firstSequence + at, timestampMs: wallMs, idempotencyKey: key, payload });
    }
    return events.length < bounds.eventsMax;
  });
  return events;
}

/** The log, if the principal's user may access its namespace; else raises LOG_NOT_FOUND. */
function requireVisibleLog(reader: StateReader, { subject }: Principal, logId: Uint8Array): EventLog {
  const log = describeLog(reader, logId);
  const namespaces = readUser(reader, subject)?.namespaces ?? [];
  if (!includesNamespace(namespaces, log.namespace)) {
    throw logNotFound(logId);
  }
  return log;
}

/** The log, if the principal may change its settings or delete it. Raises LOG_NOT_FOUND and ACCESS_DENIED. */
function requireManagedLog(reader: StateReader, principal: Principal, logId: Uint8Array): EventLog {
  const log = requireVisibleLog(reader, principal, logId);
  const role = readUser(reader, principal.subject)?.role ?? "viewer";
  if (!includesAccess(roleAccess(role), managingAccess(log, principal))) {
    throw new CoordinationError(
      "ACCESS_DENIED",
      `only the log's creator or an admin may do this; your role is "${role}"`,
    );
  }
  return log;
}

/** The access level that the principal needs to change the log's settings or to delete it. */
export function managingAccess(log: EventLog, { subject }: Principal): Access {
  return log.createdBy === subject ? "write" : "admin";
}

/** The keys of the append; null if it has none. */
function keysOf({ idempotencyKey, isBatch, payloads: { count } }: AppendEvents): AppendKeys | null {
  return idempotencyKey === null ? null : { idempotencyKey, isBatch, count };
}

/** Compares whole numbers of any size, so two different numbers are never equal (S9). */
function requireExpectedSequence(log: EventLog, { expectedSequence }: AppendEvents): void {
  if (expectedSequence !== undefined && expectedSequence !== BigInt(log.lastSequence)) {
    throw new CoordinationError(
      "SEQUENCE_CONFLICT",
      `the expected sequence is ${expectedSequence}, but the last one of event log ${derivedIdText(log.logId)} ` +
        `is ${log.lastSequence}`,
      { details: new Map([["last_sequence", String(log.lastSequence)]]) },
    );
  }
}

function requireEventQuotas(context: ApplyContext, log: EventLog, bytes: number, count: number): void {
  context.requireEventQuota(bytes);
  context.accounts.of(log.namespace).requireQuota("event_bytes", bytes);
  if (log.lastSequence + count > Number.MAX_SAFE_INTEGER) {
    throw new CoordinationError("QUOTA", "the sequences of the event log are used up");
  }
}

/** Stores the new events, and remembers their keys in the same entry (S2). */
function* storeEvents(
  context: ApplyContext,
  log: EventLog,
  { idempotencyKey, isBatch, payloads }: AppendEvents,
  own: OwnRow | null,
  {
    fresh,
    appendedEvents,
    appendedBytes,
  }: { readonly fresh: SequenceRuns; readonly appendedEvents: number; readonly appendedBytes: number },
): Steps<void> {
  const { tickMs, wallMs } = context;
  yield* writeEvents(context, log, { tickMs, wallMs, idempotencyKey, isBatch, payloads, stored: fresh });
  if (own !== null) {
    yield* rememberKeys(context, log, own, fresh);
  }
  const isFirst = log.firstSequence > log.lastSequence;
  const grown = {
    ...log,
    lastSequence: log.lastSequence + appendedEvents,
    sizeBytes: log.sizeBytes + appendedBytes,
    oldestTickMs: isFirst ? tickMs : log.oldestTickMs,
  };
  writeLog(context, withRetentionTimer(context, grown));
}

/** Names of namespaces are ASCII, so their order is that of their bytes. */
function byBytes(one: string, other: string): number {
  return one < other ? -1 : 1;
}
