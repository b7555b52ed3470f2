/**
 * What a log remembers of the keys of its events, so that an event that is sent again is not stored again.
 *
 * A key is remembered by the entry that stores its event, and by no other (S2), in replicated state (S3), for a window of
 * cluster ticks from then on, which a duplicate does not prolong (S4). Whether it is over is judged by the window as it is
 * when the duplicate comes. A row holds one key, or those of a batch together: its base, and for each run of events that
 * follow each other the first position and sequence. A key of its own and a key of a batch that read the same are the
 * same. A timer for each row tells when to look whether it can go.
 */

import { invariant } from "../raft/index.ts";
import type { ApplyContext } from "./apply-context.ts";
import { BATCH_EVENTS_MAX, LOG_ID_BYTES } from "./log-commands.ts";
import { derivedKey, type EventLog, readLog } from "./log-rows.ts";
import { decodeText, RecordReader, RecordWriter } from "./record.ts";
import { duplicateOfTimer, duplicateRange, duplicateRow, duplicateTimerRow, tableRange } from "./rows.ts";
import { settingOf } from "./settings.ts";
import type { Row, StateReader } from "./store.ts";

/** The keys of an append: one, or those of a batch. */
export interface AppendKeys {
  readonly idempotencyKey: string;
  readonly isBatch: boolean;
  readonly count: number;
}

/** Events that followed each other in their batch, and that were stored together. */
interface Run {
  readonly position: number;
  readonly count: number;
  readonly firstSequence: number;
  /** Cluster tick at which they were stored, in milliseconds. */
  readonly tickMs: number;
}

interface Remembered {
  /** When its timer is due, in cluster milliseconds. */
  readonly dueMs: number;
  readonly runs: readonly Run[];
}

const MS_PER_SECOND = 1_000;
/** What ends the key of an event of a batch: as `derivedKey` writes it, and in no other form. */
const POSITION = /^(.*):(0|[1-9][0-9]{0,3})$/s;
const NO_KEY = new Uint8Array(0);
const DIGITS = { first: "0", afterLast: ":" } as const;
/** Rows that are looked over for keys that read like those of a batch, for each event of it, before each is looked up. */
const SCANNED_PER_EVENT = 2;

/** Seconds for which the keys of the log are remembered; 0 = not at all. */
function duplicateWindowSecs(reader: StateReader, log: EventLog): number {
  return log.settings.duplicateWindowSecs ?? settingOf(reader, "queue.duplicate_window_secs");
}

/** For each of the events the sequence under which it is stored already, or undefined. */
export function findDuplicates(context: ApplyContext, log: EventLog, keys: AppendKeys): (number | undefined)[] {
  const windowMs = windowMsOf(context.transaction, log);
  const found = new Array<number | undefined>(keys.count).fill(undefined);
  if (windowMs > 0) {
    const isStored = ({ tickMs }: Run): boolean => !isOver(tickMs, windowMs, context.tickMs);
    if (keys.isBatch) {
      findBatch(context.transaction, log, keys.idempotencyKey, found, isStored);
    } else {
      found[0] = findOne(context.transaction, log, keys.idempotencyKey, isStored);
    }
  }
  return found;
}

/** Remembers the keys of the events at these positions, which have consecutive sequences from now on. */
export function rememberKeys(
  context: ApplyContext,
  log: EventLog,
  { idempotencyKey, isBatch }: AppendKeys,
  positions: readonly number[],
  firstSequence: number,
): void {
  const { transaction, tickMs } = context;
  const windowMs = windowMsOf(transaction, log);
  if (windowMs === 0) {
    return;
  }
  const key = duplicateRow(log.number, isBatch, idempotencyKey);
  const before = readRow(transaction, key);
  const kept = before?.runs.filter((run) => !isOver(run.tickMs, windowMs, tickMs)) ?? [];
  replaceRow(context, log.logId, key, windowMs, [...kept, ...runsOf(positions, firstSequence, tickMs)]);
}

/** Whether a timer is due before the tick. */
export function hasDueDuplicates(reader: StateReader, tickMs: number): boolean {
  return dueTimers(reader, tickMs, 1).length > 0;
}

/** Forgets the keys whose window has ended, of at most this many rows that are to be looked at, the earliest first. */
export function applyPruneDuplicates(context: ApplyContext, countMax: number): void {
  const { transaction, tickMs } = context;
  for (const { key: timer, value: logId } of dueTimers(transaction, tickMs, countMax)) {
    const key = duplicateOfTimer(timer);
    const log = readLog(transaction, logId);
    const row = readRow(transaction, key);
    invariant(row !== undefined, "every timer belongs to a row of keys");
    const windowMs = log === undefined ? 0 : windowMsOf(transaction, log);
    // The window may be longer than it was: then there is something to look at later.
    const kept = row.runs.filter((run) => windowMs > 0 && !isOver(run.tickMs, windowMs, tickMs));
    replaceRow(context, logId, key, windowMs, kept);
  }
}

/** Removes rows of keys of a log that is gone, from this row on and at most so many; returns which there were. */
export function eraseKeys(
  context: ApplyContext,
  logNumber: number,
  from: Uint8Array,
  rowsMax: number,
): readonly Uint8Array[] {
  const keys: Uint8Array[] = [];
  if (rowsMax > 0) {
    context.transaction.scan(from, duplicateRange(logNumber).to, ({ key }) => keys.push(key) < rowsMax);
  }
  for (const key of keys) {
    replaceRow(context, null, key, 0, []);
  }
  return keys;
}

function windowMsOf(reader: StateReader, log: EventLog): number {
  return duplicateWindowSecs(reader, log) * MS_PER_SECOND;
}

/** Ticks are rounded down, so a window is over only when the tick is above its end: else it could end early. */
function isOver(storedMs: number, windowMs: number, tickMs: number): boolean {
  return tickMs > storedMs + windowMs;
}

function findOne(reader: StateReader, log: EventLog, key: string, isStored: (run: Run) => boolean): number | undefined {
  const own = sequenceAt(readRow(reader, duplicateRow(log.number, false, key)), 0, isStored);
  const [, base, position] = POSITION.exec(key) ?? [];
  if (base === undefined) {
    return own;
  }
  const ofBatch = sequenceAt(readRow(reader, duplicateRow(log.number, true, base)), Number(position), isStored);
  return later(own, ofBatch);
}

function findBatch(
  reader: StateReader,
  log: EventLog,
  base: string,
  found: (number | undefined)[],
  isStored: (run: Run) => boolean,
): void {
  for (const run of readRow(reader, duplicateRow(log.number, true, base))?.runs ?? []) {
    if (isStored(run)) {
      const end = Math.min(run.position + run.count, found.length);
      for (let position = run.position; position < end; position++) {
        found[position] = run.firstSequence + position - run.position;
      }
    }
  }
  for (const position of ownKeysOf(reader, log, base, found.length)) {
    const own = readRow(reader, duplicateRow(log.number, false, derivedKey(base, position)));
    found[position] = later(found[position], sequenceAt(own, 0, isStored));
  }
}

/** Positions of a batch whose keys may be remembered as keys of their own: nearly always none. */
function ownKeysOf(reader: StateReader, log: EventLog, base: string, count: number): Iterable<number> {
  const positions: number[] = [];
  let left = count * SCANNED_PER_EVENT;
  const prefix = duplicateRow(log.number, false, `${base}:`);
  const from = duplicateRow(log.number, false, `${base}:${DIGITS.first}`);
  reader.scan(from, duplicateRow(log.number, false, `${base}:${DIGITS.afterLast}`), ({ key }) => {
    const position = POSITION.exec(`:${decodeText(key.subarray(prefix.length))}`)?.[2];
    if (position !== undefined && Number(position) < count) {
      positions.push(Number(position));
    }
    return --left > 0;
  });
  // Many keys only begin like those of the batch: what it may have is looked up one by one.
  return left > 0 ? positions : Array.from({ length: count }, (_, position) => position);
}

function sequenceAt(
  row: Remembered | undefined,
  position: number,
  isStored: (run: Run) => boolean,
): number | undefined {
  const run = row?.runs.find((one) => position >= one.position && position < one.position + one.count && isStored(one));
  return run === undefined ? undefined : run.firstSequence + position - run.position;
}

/** Of two events with the same key the one that was stored last. */
function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

function runsOf(positions: readonly number[], firstSequence: number, tickMs: number): Run[] {
  const runs: Run[] = [];
  for (let from = 0; from < positions.length; ) {
    const position = positions[from] as number;
    let count = 1;
    while (positions[from + count] === position + count) {
      count++;
    }
    runs.push({ position, count, firstSequence: firstSequence + from, tickMs });
    from += count;
  }
  return runs;
}

/** Rows of timers that are due before the tick, the earliest first. */
function dueTimers(reader: StateReader, tickMs: number, countMax: number): Row[] {
  const timers: Row[] = [];
  const { from } = tableRange("duplicateTimer");
  if (countMax > 0) {
    reader.scan(from, duplicateTimerRow(tickMs, NO_KEY), (row) => timers.push(row) < countMax);
  }
  return timers;
}

/** Puts a row with these runs, or none without any, in the place of the one that may be there, and its timer. */
function replaceRow(
  context: ApplyContext,
  logId: Uint8Array | null,
  key: Uint8Array,
  windowMs: number,
  runs: readonly Run[],
): void {
  const { transaction } = context;
  const before = transaction.get(key);
  if (before !== undefined) {
    const timer = duplicateTimerRow(decodeRow(before).dueMs, key);
    transaction.delete(timer);
    context.countLogTimers(-1);
    context.countEventBytes(-bytesOf(key, before));
  }
  if (runs.length === 0 || logId === null) {
    transaction.delete(key);
    return;
  }
  const dueMs = Math.min(...runs.map(({ tickMs }) => tickMs)) + windowMs;
  const row = encodeRow({ dueMs, runs });
  transaction.put(key, row);
  transaction.put(duplicateTimerRow(dueMs, key), logId);
  context.countLogTimers(1);
  context.countEventBytes(bytesOf(key, row));
}

/** Bytes that a row and its timer take. */
function bytesOf(key: Uint8Array, row: Uint8Array): number {
  return key.length + row.length + duplicateTimerRow(0, key).length + LOG_ID_BYTES;
}

function readRow(reader: StateReader, key: Uint8Array): Remembered | undefined {
  const bytes = reader.get(key);
  return bytes === undefined ? undefined : decodeRow(bytes);
}

function encodeRow({ dueMs, runs }: Remembered): Uint8Array {
  const writer = new RecordWriter().uint53(dueMs).uint32(runs.length);
  for (const { position, count, firstSequence, tickMs } of runs) {
    writer.uint32(position).uint32(count).uint53(firstSequence).uint53(tickMs);
  }
  return writer.finish();
}

function decodeRow(bytes: Uint8Array): Remembered {
  const reader = new RecordReader(bytes);
  const dueMs = reader.uint53();
  const runs: Run[] = [];
  for (let left = reader.uint32(); left > 0; left--) {
    const run = {
      position: reader.uint32(),
      count: reader.uint32(),
      firstSequence: reader.uint53(),
      tickMs: reader.uint53(),
    };
    invariant(run.position + run.count <= BATCH_EVENTS_MAX, "positions are those of a batch");
    runs.push(run);
  }
  reader.end();
  return { dueMs, runs };
}
