/**
 * Event logs: create, change, delete, append, describe, list and read.
 *
 * A log is ACTIVE until it is DELETED. Sequences begin at 1, have no gaps, and are never given out twice, whatever is
 * removed (see log-retention). An append stores all of its events or none. First it is looked for what is stored already:
 * a retry of what was accepted is answered with its sequences, whatever has changed since (S1); only what is new needs
 * its guard, the expected sequence and room. Whoever may not see a log is told that there is none.
 */

import type { ApplyContext } from "./apply-context.ts";
import type { Principal } from "./command.ts";
import { CoordinationError } from "./coordination-error.ts";
import { derivedId, derivedIdText } from "./derived-id.ts";
import { findDuplicates, rememberKeys } from "./duplicates.ts";
import { checkGuard } from "./guards.ts";
import type { AppendEvents, CreateLog, DeleteLog, UpdateLogSettings } from "./log-commands.ts";
import { beginErasure, withoutRetentionTimer, withRetentionTimer } from "./log-retention.ts";
import {
  derivedKey,
  type EventLog,
  type LogEvent,
  readLog,
  readLogId,
  scanChunks,
  writeEvents,
  writeLog,
} from "./log-rows.ts";
import { requireNamespace } from "./namespaces.ts";
import { includesNamespace, readUser } from "./principals.ts";
import { decodeText } from "./record.ts";
import { logNameRow, logRow, tableRange, withNul } from "./rows.ts";
import type { StateReader } from "./store.ts";

export interface CreateLogResult {
  readonly kind: "create-log";
  readonly log: EventLog;
  readonly revision: number;
}

export interface UpdateLogSettingsResult {
  readonly kind: "update-log-settings";
  readonly log: EventLog;
  readonly revision: number;
}

export interface DeleteLogResult {
  readonly kind: "delete-log";
  readonly logId: Uint8Array;
  readonly revision: number;
}

export interface AppendEventsResult {
  readonly kind: "append-events";
  readonly logId: Uint8Array;
  /** Of all events in their order, those that were stored before included. */
  readonly sequences: readonly number[];
  /** The greatest of them. */
  readonly lastSequence: number;
  /** Events that were stored now, and bytes of their payloads. */
  readonly appendedEvents: number;
  readonly appendedBytes: number;
  readonly revision: number;
}

export type LogResult = CreateLogResult | UpdateLogSettingsResult | DeleteLogResult | AppendEventsResult;

/** The order of a listing: by the UTF-8 bytes of names, or by ids, which is by age. */
export type LogOrder = "name" | "id";

export interface LogPage {
  readonly logs: readonly EventLog[];
  /** The name or id after which the next page begins; null if this is the last one. */
  readonly next: Uint8Array | null;
}

/** Logs that one page looks at, whether or not they are in it: one turn of the event loop (S44). */
const LISTED_MAX = 2_000;

export function applyCreateLog(context: ApplyContext, principal: Principal, command: CreateLog): CreateLogResult {
  const { transaction, index, wallMs } = context;
  const { name, namespace, settings } = command;
  if (namespace !== null) {
    requireNamespace(transaction, namespace);
  }
  if (readLogId(transaction, name) !== undefined) {
    throw new CoordinationError("LOG_EXISTS", `a log named ${JSON.stringify(name)} exists already`);
  }
  context.requireRoomForLog();
  const log = {
    ...{ logId: derivedId(transaction, "log", index), number: index, name, namespace, settings },
    ...{ createdAtMs: wallMs, createdBy: principal.subject },
    ...{ lastSequence: 0, firstSequence: 1, sizeBytes: 0, oldestTickMs: 0, retentionDueMs: 0 },
  };
  context.countLogs(1);
  transaction.put(logNameRow(name), log.logId);
  writeLog(context, log);
  return { kind: "create-log", log, revision: context.revision };
}

export function applyUpdateLogSettings(
  context: ApplyContext,
  principal: Principal,
  { logId, changes }: UpdateLogSettings,
): UpdateLogSettingsResult {
  const log = requireVisibleLog(context.transaction, principal, logId);
  const changed = withRetentionTimer(context, { ...log, settings: { ...log.settings, ...changes } });
  writeLog(context, changed);
  return { kind: "update-log-settings", log: changed, revision: context.revision };
}

/** Its events are gone at once for everybody; their rows are erased later, step by step. */
export function applyDeleteLog(context: ApplyContext, principal: Principal, { logId }: DeleteLog): DeleteLogResult {
  const { transaction } = context;
  const log = requireVisibleLog(transaction, principal, logId);
  withoutRetentionTimer(context, log);
  transaction.delete(logRow(logId));
  transaction.delete(logNameRow(log.name));
  context.countLogs(-1);
  if (log.lastSequence > 0) {
    beginErasure(context, log);
  }
  return { kind: "delete-log", logId, revision: context.revision };
}

export function applyAppendEvents(
  context: ApplyContext,
  principal: Principal,
  command: AppendEvents,
): AppendEventsResult {
  const { logId, payloads } = command;
  const log = requireVisibleLog(context.transaction, principal, logId);
  const found = findStored(context, log, command);
  const positions = [...found.keys()].filter((position) => found[position] === undefined);
  if (positions.length > 0) {
    checkGuard(context.transaction, command.guard?.namespace ?? "", command.guard);
    requireExpectedSequence(log, command);
  }
  const fresh = positions.map((position) => payloads[position] as Uint8Array);
  const appendedBytes = bytesOf(fresh);
  if (positions.length > 0) {
    requireRoom(context, log, appendedBytes, positions.length);
    storeEvents(context, log, command, positions, fresh);
  }
  for (const [at, position] of positions.entries()) {
    found[position] = log.lastSequence + 1 + at;
  }
  const sequences = found as number[];
  return {
    ...{ kind: "append-events", logId, sequences, appendedEvents: positions.length, appendedBytes },
    lastSequence: sequences.reduce((greatest, sequence) => Math.max(greatest, sequence)),
    revision: context.revision,
  };
}

/** The log; raises LOG_NOT_FOUND. Who may see it is for the caller to decide. */
export function describeLog(reader: StateReader, logId: Uint8Array): EventLog {
  const log = readLog(reader, logId);
  if (log === undefined) {
    throw logNotFound(logId);
  }
  return log;
}

export function logNotFound(logId: Uint8Array): CoordinationError {
  return new CoordinationError("LOG_NOT_FOUND", `event log ${derivedIdText(logId)} does not exist`);
}

/**
 * Logs that are visible and come after `after`, at most so many. A page may have fewer, or none, and be followed by
 * another one: it looks at LISTED_MAX logs at most.
 */
export function listLogs(
  reader: StateReader,
  order: LogOrder,
  after: Uint8Array | null,
  entriesMax: number,
  isVisible: (log: EventLog) => boolean,
): LogPage {
  const logs: EventLog[] = [];
  const { from, to } = tableRange(order === "name" ? "logName" : "log");
  let looked = 0;
  let last: Uint8Array | null = null;
  let more = false;
  const start = after === null ? from : withNul(order === "name" ? logNameRow(decodeText(after)) : logRow(after));
  reader.scan(start, to, ({ key, value }) => {
    if (logs.length === entriesMax || looked === LISTED_MAX) {
      more = true;
      return false;
    }
    looked++;
    last = key.slice(1);
    const log = describeLog(reader, order === "name" ? value : key.slice(1));
    if (isVisible(log)) {
      logs.push(log);
    }
    return true;
  });
  return { logs, next: more ? last : null };
}

/** The live log of this name. */
export function findLog(reader: StateReader, name: string): EventLog | undefined {
  const logId = readLogId(reader, name);
  return logId === undefined ? undefined : readLog(reader, logId);
}

/**
 * Events of the log from the sequence on, or from the oldest one that is kept: at most so many, and so many bytes of
 * payloads and keys, but at least one if there is any.
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
    for (let at = Math.max(from - firstSequence, 0); at < payloads.length; at++) {
      const payload = payloads[at] as Uint8Array;
      const position = positions?.[at];
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

/** The log, if the principal's user may touch its namespace: else it is as if there were none. */
function requireVisibleLog(reader: StateReader, { subject }: Principal, logId: Uint8Array): EventLog {
  const log = describeLog(reader, logId);
  const namespaces = readUser(reader, subject)?.namespaces ?? [];
  if (log.namespace !== null && !includesNamespace(namespaces, log.namespace)) {
    throw logNotFound(logId);
  }
  return log;
}

/** For each event its sequence, if it is stored already (S5, S6, S7). */
function findStored(
  context: ApplyContext,
  log: EventLog,
  { idempotencyKey, isBatch, payloads }: AppendEvents,
): (number | undefined)[] {
  const count = payloads.length;
  return idempotencyKey === null
    ? payloads.map(() => undefined)
    : findDuplicates(context, log, { idempotencyKey, isBatch, count });
}

/** Compared as whole numbers of any size: no two of them are taken for the same (S9). */
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

function requireRoom(context: ApplyContext, log: EventLog, bytes: number, count: number): void {
  context.requireRoomForEvents(bytes);
  if (log.lastSequence + count > Number.MAX_SAFE_INTEGER) {
    throw new CoordinationError("QUOTA", "the sequences of the event log are used up");
  }
}

/** Stores the new events, and remembers their keys in the same apply (S2). */
function storeEvents(
  context: ApplyContext,
  log: EventLog,
  { idempotencyKey, isBatch, payloads }: AppendEvents,
  positions: readonly number[],
  fresh: readonly Uint8Array[],
): void {
  const { tickMs, wallMs } = context;
  const firstSequence = log.lastSequence + 1;
  const chunk = { firstSequence, tickMs, wallMs, idempotencyKey, payloads: fresh };
  writeEvents(context, log, { ...chunk, positions: isBatch ? positions : null });
  if (idempotencyKey !== null) {
    rememberKeys(context, log, { idempotencyKey, isBatch, count: payloads.length }, positions, firstSequence);
  }
  const isFirst = log.firstSequence > log.lastSequence;
  const grown = {
    ...log,
    lastSequence: log.lastSequence + fresh.length,
    sizeBytes: log.sizeBytes + bytesOf(fresh),
    oldestTickMs: isFirst ? tickMs : log.oldestTickMs,
  };
  writeLog(context, withRetentionTimer(context, grown));
}

function bytesOf(payloads: readonly Uint8Array[]): number {
  return payloads.reduce((sum, { length }) => sum + length, 0);
}
