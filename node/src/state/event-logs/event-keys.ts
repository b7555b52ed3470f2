/**
 * The idempotency keys that a log remembers, so that it stores a repeated event only once.
 *
 * Only the entry that stores an event remembers its key (S2), in replicated state (S03), for a window of cluster ticks
 * from then on. A duplicate does not extend the window (S4). The current length of the window decides when a duplicate
 * comes. A row holds runs: consecutive events with the first position and sequence.
 *
 * A batch has one row for all its keys. A single key that reads like a key of a batch counts as the same key. So such
 * single keys share rows by base and position, where a batch finds them all without looking up each of its keys. Any
 * other single key has its own row. Each row has a timer for when it may be dropped.
 */

import { withNul } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import {
  type ApplyContext,
  allAtOnce,
  clusterStep,
  type EventLog,
  eventKeyOfTimer,
  eventKeyRange,
  eventKeyRow,
  eventKeyTimerRow,
  RecordReader,
  type Row,
  SequenceRuns,
  SequenceRunsWriter,
  STEP_ITEMS,
  type StateReader,
  type Steps,
  settingOf,
  sharedKeyRow,
  smallCount,
  tableRange,
  withLaterSequences,
} from "../core/index.ts";
import { type AddedRuns, EventKeyRow, type IsStored, mergedRow, NOTHING_ADDED } from "./event-key-rows.ts";
import { BATCH_EVENTS_MAX, LOG_ID_BYTES, type PruneEventKeys } from "./log-commands.ts";
import { type LogErasure, readErasure } from "./log-erasures.ts";
import { readLog } from "./log-rows.ts";

/** The keys of an append: one single key, or those of a batch. */
export interface AppendKeys {
  readonly idempotencyKey: string;
  readonly isBatch: boolean;
  readonly count: number;
}

/** Where an append is remembered: the row of a single key or of a batch, as it is before the append. */
export interface OwnRow {
  readonly key: Uint8Array;
  /** Of the first event. */
  readonly position: number;
  readonly before: EventKeyRow | undefined;
}

const MS_PER_SECOND = 1_000;
/** The end of a key of a batch, exactly as `derivedKey` writes it. */
const POSITION = /^(.*):(0|[1-9][0-9]{0,5})$/s;
const NO_KEY = new Uint8Array(0);
/** Where the number of the log begins in the key of a row. */
const ROW_LOG_OFFSET = 1;
/** Positions of single keys that share a row. Each new key rewrites the row. */
const SHARED_ROW_POSITIONS = 32;
/** Rows of single keys read between two pauses: less than a millisecond of work. */
const STEP_SHARED_ROWS = 256;

/** Seconds for which the log remembers keys; 0 = not at all. */
function windowSecsOf(reader: StateReader, log: EventLog): number {
  return log.settings.duplicateWindowSecs ?? settingOf(reader, "queue.duplicate_window_secs");
}

/** The row for these keys; null if the log remembers none. */
export function readOwnRow(
  { transaction }: ApplyContext,
  log: EventLog,
  { idempotencyKey, isBatch }: AppendKeys,
): OwnRow | null {
  if (windowSecsOf(transaction, log) === 0) {
    return null;
  }
  const place = isBatch
    ? { key: eventKeyRow(log.number, "batch", idempotencyKey), position: 0 }
    : rowOf(log, idempotencyKey);
  return { ...place, before: readRow(transaction, place.key) };
}

/** The events that are already stored, in the order of their positions. */
export function* findStoredEvents(
  context: ApplyContext,
  log: EventLog,
  keys: AppendKeys,
  own: OwnRow,
): Steps<SequenceRuns> {
  const { transaction } = context;
  const windowMs = windowMsOf(transaction, log);
  const isStored = (tickMs: number): boolean => !isExpired(tickMs, windowMs, context.tickMs);
  if (keys.isBatch) {
    return yield* findBatch(transaction, log, keys, own, isStored);
  }
  return findOne(transaction, log, keys.idempotencyKey, own, isStored);
}

/** Remembers the keys of these events, which are new. */
export function* rememberKeys(
  context: ApplyContext,
  log: EventLog,
  { key, position, before }: OwnRow,
  stored: SequenceRuns,
): Steps<void> {
  const { transaction, tickMs } = context;
  const windowMs = windowMsOf(transaction, log);
  const isStored: IsStored = (storedMs) => !isExpired(storedMs, windowMs, tickMs);
  const added: AddedRuns = { runs: stored, shift: position, tickMs };
  const row = yield* mergedRow(before, isStored, added, windowMs);
  replaceRow(context, { logId: log.logId, namespace: log.namespace }, key, before, row);
}

/** Whether a timer is due before the tick. */
export function hasDueEventKeys(reader: StateReader, tickMs: number): boolean {
  return dueTimers(reader, tickMs, 1).length > 0;
}

export const pruneEventKeysOperation = clusterStep<PruneEventKeys>({
  kind: "prune-duplicates",
  number: 54,
  fields: { countMax: smallCount },
  apply: applyPruneEventKeys,
});

/** Forgets the keys whose window has ended. Checks at most this many rows, the earliest first. */
function applyPruneEventKeys(context: ApplyContext, { countMax }: PruneEventKeys): void {
  const { transaction, tickMs } = context;
  for (const { key: timer, value: logId } of dueTimers(transaction, tickMs, countMax)) {
    const key = eventKeyOfTimer(timer);
    const log = readLog(transaction, logId);
    const row = readRow(transaction, key);
    invariant(row !== undefined, "every timer belongs to a row of keys");
    const windowMs = log === undefined ? 0 : windowMsOf(transaction, log);
    // The window may be longer than before: then the row gets a later timer.
    const isStored: IsStored = (storedMs) => windowMs > 0 && !isExpired(storedMs, windowMs, tickMs);
    const kept = allAtOnce(mergedRow(row, isStored, NOTHING_ADDED, windowMs));
    replaceRow(context, { logId, namespace: namespaceOfRow(transaction, log, key) }, key, row, kept);
  }
}

/** Removes at most this many rows of keys of a deleted log; returns their keys. */
export function eraseKeys(
  context: ApplyContext,
  logNumber: number,
  { keys: from, namespace }: LogErasure,
  rowsMax: number,
): readonly Uint8Array[] {
  const keys: Uint8Array[] = [];
  if (rowsMax > 0) {
    context.transaction.scan(from, eventKeyRange(logNumber).to, ({ key }) => keys.push(key) < rowsMax);
  }
  for (const key of keys) {
    replaceRow(context, { logId: null, namespace }, key, readRow(context.transaction, key), null);
  }
  return keys;
}

/** The namespace of a row of keys. If the log was deleted, its rows may still wait for erasure. */
function namespaceOfRow(reader: StateReader, log: EventLog | undefined, key: Uint8Array): string {
  if (log !== undefined) {
    return log.namespace;
  }
  const erasure = readErasure(reader, new RecordReader(key.subarray(ROW_LOG_OFFSET)).uint53());
  invariant(erasure !== undefined, "rows of keys belong to a log, or to one that is being erased");
  return erasure.namespace;
}

function windowMsOf(reader: StateReader, log: EventLog): number {
  return windowSecsOf(reader, log) * MS_PER_SECOND;
}

/** Ticks are rounded down, so a window is over only when the tick is above its end; otherwise it could end early. */
function isExpired(storedMs: number, windowMs: number, tickMs: number): boolean {
  return tickMs > storedMs + windowMs;
}

/** Where a single key is remembered: the row, and the position in it. */
function rowOf(log: EventLog, key: string): { readonly key: Uint8Array; readonly position: number } {
  const { base, position } = derivationOf(key);
  return base === null
    ? { key: eventKeyRow(log.number, "single", key), position: 0 }
    : { key: sharedKeyRow(log.number, base, Math.floor(position / SHARED_ROW_POSITIONS)), position };
}

/** The base of the batches that may contain the key, and its position in them; null if no batch can. */
function derivationOf(key: string): { readonly base: string | null; readonly position: number } {
  const [, base, digits] = POSITION.exec(key) ?? [];
  const position = Number(digits);
  return base === undefined || position >= BATCH_EVENTS_MAX ? { base: null, position: 0 } : { base, position };
}

function findOne(reader: StateReader, log: EventLog, key: string, ownRow: OwnRow, isStored: IsStored): SequenceRuns {
  const { base, position } = derivationOf(key);
  const own = ownRow.before?.sequenceAt(ownRow.position, isStored);
  const batch = base === null ? undefined : readRow(reader, eventKeyRow(log.number, "batch", base));
  const firstSequence = later(own, batch?.sequenceAt(position, isStored));
  return firstSequence === undefined ? SequenceRuns.NONE : SequenceRuns.one(0, 1, firstSequence);
}

function* findBatch(
  reader: StateReader,
  log: EventLog,
  { idempotencyKey: base, count }: AppendKeys,
  { before: row }: OwnRow,
  isStored: IsStored,
): Steps<SequenceRuns> {
  const own = yield* findInSharedRows(reader, log, { base, count }, isStored);
  const batch = new SequenceRunsWriter(row?.length ?? 0);
  for (let run = 0; run < (row?.length ?? 0); run += STEP_ITEMS) {
    joinRuns(batch, row as EventKeyRow, { from: run, to: run + STEP_ITEMS }, count, isStored);
    yield;
  }
  const found = batch.finish();
  if (own.length === 0 || found.length === 0) {
    return own.length === 0 ? found : own;
  }
  return yield* withLaterSequences(found, own);
}

/** Events stored under single keys that read like keys of the batch. */
function* findInSharedRows(
  reader: StateReader,
  log: EventLog,
  { base, count }: { readonly base: string; readonly count: number },
  isStored: IsStored,
): Steps<SequenceRuns> {
  const own = new SequenceRunsWriter();
  const to = sharedKeyRow(log.number, base, Math.ceil(count / SHARED_ROW_POSITIONS));
  const seen = { left: 0, last: sharedKeyRow(log.number, base, 0) };
  let from = seen.last;
  do {
    seen.left = STEP_SHARED_ROWS;
    reader.scan(from, to, ({ key, value }) => {
      joinRuns(own, new EventKeyRow(value), { from: 0, to: Infinity }, count, isStored);
      seen.left--;
      seen.last = key;
      return seen.left > 0;
    });
    from = withNul(seen.last);
    yield;
  } while (seen.left === 0);
  return own.finish();
}

/** Adds the remembered runs of a row whose positions are below `count`. */
function joinRuns(
  all: SequenceRunsWriter,
  row: EventKeyRow,
  { from, to }: { readonly from: number; readonly to: number },
  count: number,
  isStored: IsStored,
): void {
  for (let run = from; run < Math.min(to, row.length); run++) {
    const position = row.positionOf(run);
    if (position < count && isStored(row.tickOf(run))) {
      all.join(position, Math.min(row.countOf(run), count - position), row.firstSequenceOf(run));
    }
  }
}

/** Of two events with the same key, the one stored last. */
function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** Rows of timers due before the tick, the earliest first. */
function dueTimers(reader: StateReader, tickMs: number, countMax: number): Row[] {
  const timers: Row[] = [];
  const { from } = tableRange("eventKeyTimer");
  if (countMax > 0) {
    reader.scan(from, eventKeyTimerRow(tickMs, NO_KEY), (row) => timers.push(row) < countMax);
  }
  return timers;
}

/** Replaces a row and its timer. Either row may be absent. */
function replaceRow(
  context: ApplyContext,
  { logId, namespace }: { readonly logId: Uint8Array | null; readonly namespace: string },
  key: Uint8Array,
  before: EventKeyRow | undefined,
  row: EventKeyRow | null,
): void {
  const { transaction } = context;
  if (before !== undefined) {
    const timer = eventKeyTimerRow(before.dueMs, key);
    transaction.delete(timer);
    context.countLogTimers(-1);
    context.countEventBytesIn(namespace, -bytesOf(key, before));
  }
  if (row === null || logId === null) {
    transaction.delete(key);
    return;
  }
  transaction.put(key, row.bytes);
  transaction.put(eventKeyTimerRow(row.dueMs, key), logId);
  context.countLogTimers(1);
  context.countEventBytesIn(namespace, bytesOf(key, row));
}

/** Bytes of a row and its timer. */
function bytesOf(key: Uint8Array, { bytes }: EventKeyRow): number {
  return key.length + bytes.length + eventKeyTimerRow(0, key).length + LOG_ID_BYTES;
}

function readRow(reader: StateReader, key: Uint8Array): EventKeyRow | undefined {
  const bytes = reader.get(key);
  return bytes === undefined ? undefined : new EventKeyRow(bytes);
}
