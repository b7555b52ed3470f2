/**
 * Retention: removes the events of logs that are too old or too many, and everything of deleted logs.
 *
 * A log with a limit has a timer for its oldest event. When it is due, the leader proposes the removal of a bounded
 * number of rows (S44). Apply decides by the tick of that entry, so it never removes an event early. The log's first
 * sequence, event count and bytes are correct after each step.
 */

import { withNul } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import {
  type ApplyContext,
  clusterStep,
  type EventLog,
  eventRow,
  RecordReader,
  type Row,
  retentionRow,
  type StateReader,
  smallCount,
  tableRange,
} from "../core/index.ts";
import { eraseKeys } from "./event-keys.ts";
import type { ApplyRetention, EraseLogs } from "./log-commands.ts";
import { decodeErasure, type LogErasure, writeErasure } from "./log-erasures.ts";
import { type EventChunk, eventCountOf, readLog, scanChunks, writeChunk, writeLog } from "./log-rows.ts";

const MS_PER_SECOND = 1_000;
/** Where the number begins in the key of an erasure: after the table letter. */
const NUMBER_OFFSET = 1;
/** Bytes of rows that one step reads, not counting the last row (S44). */
const READ_BYTES_MAX = 8 * 1024 * 1024;

/** The log with the timer that it needs now, in place of its old one. */
export function withRetentionTimer(context: ApplyContext, log: EventLog): EventLog {
  const dueMs = dueMsOf(log, context.tickMs);
  if (dueMs === log.retentionDueMs) {
    return log;
  }
  const without = withoutRetentionTimer(context, log);
  if (dueMs === 0) {
    return without;
  }
  context.transaction.put(retentionRow(dueMs, log.number), log.logId);
  context.countLogTimers(1);
  return { ...without, retentionDueMs: dueMs };
}

export function withoutRetentionTimer(context: ApplyContext, log: EventLog): EventLog {
  if (log.retentionDueMs === 0) {
    return log;
  }
  context.transaction.delete(retentionRow(log.retentionDueMs, log.number));
  context.countLogTimers(-1);
  return { ...log, retentionDueMs: 0 };
}

/** Whether any log has events to remove before the tick. */
export function hasDueRetention(reader: StateReader, tickMs: number): boolean {
  return dueLogs(reader, tickMs, 1).length > 0;
}

export const applyRetentionOperation = clusterStep<ApplyRetention>({
  kind: "apply-retention",
  number: 55,
  fields: { rowsMax: smallCount },
  apply: applyApplyRetention,
});

export const eraseLogsOperation = clusterStep<EraseLogs>({
  kind: "erase-logs",
  number: 56,
  fields: { rowsMax: smallCount },
  apply: applyEraseLogs,
});

/** Removes events of the logs whose timers are due, the earliest first: at most this many rows. */
function applyApplyRetention(context: ApplyContext, { rowsMax }: ApplyRetention): void {
  const left = { rows: rowsMax, bytes: READ_BYTES_MAX };
  for (const { value: logId } of dueLogs(context.transaction, context.tickMs, rowsMax)) {
    const log = readLog(context.transaction, logId);
    invariant(log !== undefined, "every retention timer belongs to a log");
    writeLog(context, withRetentionTimer(context, trimmed(context, log, left)));
    if (left.rows <= 0 || left.bytes <= 0) {
      return;
    }
  }
}

/** Erases at most this many rows of deleted logs. */
function applyEraseLogs(context: ApplyContext, { rowsMax }: EraseLogs): void {
  const { transaction } = context;
  const { from, to } = tableRange("logErasure");
  const erasures: Row[] = [];
  if (rowsMax > 0) {
    transaction.scan(from, to, (row) => erasures.push(row) < rowsMax);
  }
  const left = { rows: rowsMax, bytes: READ_BYTES_MAX };
  for (const { key, value } of erasures) {
    const logNumber = new RecordReader(key.subarray(NUMBER_OFFSET)).uint53();
    const erasure = decodeErasure(value);
    const events = eraseEvents(context, logNumber, erasure, left);
    const keys = eraseKeys(context, logNumber, erasure, left.rows);
    left.rows -= keys.length;
    if (left.rows <= 0 || left.bytes <= 0) {
      // There may be more, so the row stays until a step finds none.
      writeErasure(context, key, {
        ...erasure,
        events: nextAfter(events, erasure.events),
        keys: nextAfter(keys, erasure.keys),
      });
      return;
    }
    transaction.delete(key);
    context.countLogErasures(-1);
  }
}

function nextAfter(gone: readonly Uint8Array[], from: Uint8Array): Uint8Array {
  const last = gone.at(-1);
  return last === undefined ? from : withNul(last);
}

interface EraseBudget {
  rows: number;
  bytes: number;
}

/** When the oldest event must go, in cluster milliseconds: at once if the log is too large; 0 = never. */
function dueMsOf(log: EventLog, tickMs: number): number {
  const { retentionMaxAgeSecs, retentionMaxBytes } = log.settings;
  if (eventCountOf(log) === 0) {
    return 0;
  }
  const byAge = retentionMaxAgeSecs === null ? Infinity : log.oldestTickMs + retentionMaxAgeSecs * MS_PER_SECOND;
  const isTooLarge = retentionMaxBytes !== null && log.sizeBytes > retentionMaxBytes;
  // An existing timer stays; otherwise a log that always grows would never be due.
  const bySize = isTooLarge ? Math.min(Math.max(tickMs, 1), log.retentionDueMs || Infinity) : Infinity;
  const dueMs = Math.min(byAge, bySize);
  return dueMs === Infinity ? 0 : dueMs;
}

/** The log without the events that must go. Removes at most as many rows as `left` allows. */
function trimmed(context: ApplyContext, log: EventLog, left: EraseBudget): EventLog {
  const { transaction, tickMs } = context;
  const { retentionMaxAgeSecs, retentionMaxBytes } = log.settings;
  const ageMs = retentionMaxAgeSecs === null ? Infinity : retentionMaxAgeSecs * MS_PER_SECOND;
  const sizeMax = retentionMaxBytes ?? Infinity;
  const gone: { readonly key: Uint8Array; readonly rowBytes: number }[] = [];
  let { firstSequence, sizeBytes, oldestTickMs } = log;
  const rest: EventChunk[] = [];
  scanChunks(transaction, log.number, firstSequence, (chunk, key, rowBytes) => {
    oldestTickMs = chunk.tickMs;
    if (left.rows <= 0 || left.bytes <= 0) {
      return false;
    }
    left.bytes -= rowBytes;
    const isTooOld = tickMs > chunk.tickMs + ageMs;
    let removed = 0;
    while (removed < chunk.payloads.count && (isTooOld || sizeBytes > sizeMax)) {
      sizeBytes -= chunk.payloads.lengthOf(removed);
      removed++;
    }
    if (removed === 0) {
      return false;
    }
    gone.push({ key, rowBytes });
    firstSequence += removed;
    left.rows--;
    if (removed < chunk.payloads.count) {
      rest.push(withoutFirst(chunk, removed));
      return false;
    }
    return true;
  });
  for (const { key, rowBytes } of gone) {
    transaction.delete(key);
    context.countEventBytesIn(log.namespace, -rowBytes);
  }
  for (const chunk of rest) {
    writeChunk(context, log, chunk);
  }
  return { ...log, firstSequence, sizeBytes, oldestTickMs: firstSequence > log.lastSequence ? 0 : oldestTickMs };
}

function withoutFirst(chunk: EventChunk, count: number): EventChunk {
  return {
    ...chunk,
    firstSequence: chunk.firstSequence + count,
    positions: chunk.positions?.without(count) ?? null,
    payloads: chunk.payloads.slice(count),
  };
}

/** Removes event rows of a deleted log and returns their keys. */
function eraseEvents(
  context: ApplyContext,
  logNumber: number,
  { events, namespace }: LogErasure,
  left: EraseBudget,
): readonly Uint8Array[] {
  const gone: Uint8Array[] = [];
  context.transaction.scan(events, eventRow(logNumber + 1, 0), ({ key, value }) => {
    const rowBytes = key.length + value.length;
    gone.push(key);
    context.countEventBytesIn(namespace, -rowBytes);
    left.rows--;
    left.bytes -= rowBytes;
    return left.rows > 0 && left.bytes > 0;
  });
  for (const key of gone) {
    context.transaction.delete(key);
  }
  return gone;
}

/** Timers due before the tick, the earliest first. */
function dueLogs(reader: StateReader, tickMs: number, countMax: number): Row[] {
  const timers: Row[] = [];
  if (countMax > 0) {
    reader.scan(tableRange("retention").from, retentionRow(tickMs, 0), (row) => timers.push(row) < countMax);
  }
  return timers;
}
