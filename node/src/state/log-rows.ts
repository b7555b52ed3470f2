/**
 * The rows of event logs: one for each log, and those of its events.
 *
 * Events of one append stand together in rows of some 64 KiB: a batch of ten thousand is few rows. A row is found by the
 * sequence of its last event, so a scan from any sequence on begins with the row that holds it.
 */

import { invariant } from "../raft/index.ts";
import type { ApplyContext } from "./apply-context.ts";
import { type LogSettings, readSettings, writeSettings } from "./log-commands.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { eventRow, logNameRow, logRow } from "./rows.ts";
import type { StateReader } from "./store.ts";

/** An event log as it is stored, without its events. */
export interface EventLog {
  /** 16 bytes of a UUID. */
  readonly logId: Uint8Array;
  /** Index of the entry that created it: its rows stand under this number, which no other log ever has. */
  readonly number: number;
  readonly name: string;
  readonly namespace: string | null;
  readonly settings: LogSettings;
  /** Unix time in milliseconds, and the id of the user. */
  readonly createdAtMs: number;
  readonly createdBy: string;
  /** Sequence of the last event that was ever appended, 0 = none was. */
  readonly lastSequence: number;
  /** Sequence of the oldest event that is kept; the next one if none is. */
  readonly firstSequence: number;
  /** Bytes of the payloads that are kept. */
  readonly sizeBytes: number;
  /** Cluster tick at which the oldest event that is kept was appended, in milliseconds; 0 if none is. */
  readonly oldestTickMs: number;
  /** Cluster tick, in milliseconds, after which events are to be removed; 0 = never, as things are. */
  readonly retentionDueMs: number;
}

export interface LogEvent {
  readonly sequence: number;
  /** Unix time in milliseconds. */
  readonly timestampMs: number;
  readonly idempotencyKey: string | null;
  readonly payload: Uint8Array;
}

/** Events of one append with consecutive sequences. */
export interface EventChunk {
  readonly firstSequence: number;
  /** Cluster tick and wall clock of the append, in milliseconds. */
  readonly tickMs: number;
  readonly wallMs: number;
  /** The key of the only event, or the base of the keys of a batch. */
  readonly idempotencyKey: string | null;
  /** Positions of the events in their batch; null if they are of none. */
  readonly positions: readonly number[] | null;
  /** At least one. */
  readonly payloads: readonly Uint8Array[];
}

/** A row of events is closed when its payloads have so many bytes, or when it has so many events. */
const CHUNK_BYTES = 64 * 1024;
const CHUNK_EVENTS = 1_024;

export function readLog(reader: StateReader, logId: Uint8Array): EventLog | undefined {
  const bytes = reader.get(logRow(logId));
  return bytes === undefined ? undefined : decodeLog(logId, bytes);
}

/** The id of the live log of this name. */
export function readLogId(reader: StateReader, name: string): Uint8Array | undefined {
  return reader.get(logNameRow(name));
}

export function writeLog({ transaction }: ApplyContext, log: EventLog): void {
  transaction.put(logRow(log.logId), encodeLog(log));
}

/** Events that the log keeps. */
export function eventCountOf({ firstSequence, lastSequence }: EventLog): number {
  return lastSequence - firstSequence + 1;
}

/** The key of the event at this position of a batch. */
export function derivedKey(base: string, position: number): string {
  return `${base}:${position}`;
}

/** Stores events with the next sequences, in rows of some bytes each. */
export function writeEvents(context: ApplyContext, log: EventLog, events: EventChunk): void {
  const { payloads, positions } = events;
  for (let from = 0; from < payloads.length; ) {
    let to = from + 1;
    let bytes = (payloads[from] as Uint8Array).length;
    while (to < payloads.length && to - from < CHUNK_EVENTS) {
      bytes += (payloads[to] as Uint8Array).length;
      if (bytes > CHUNK_BYTES) {
        break;
      }
      to++;
    }
    writeChunk(context, log, {
      ...events,
      firstSequence: events.firstSequence + from,
      positions: positions?.slice(from, to) ?? null,
      payloads: payloads.slice(from, to),
    });
    from = to;
  }
}

/** Stores one row of events; one with the same last sequence must not be there. */
export function writeChunk(context: ApplyContext, log: EventLog, chunk: EventChunk): void {
  const key = eventRow(log.number, chunk.firstSequence + chunk.payloads.length - 1);
  const row = encodeChunk(chunk);
  context.transaction.put(key, row);
  context.countEventBytes(key.length + row.length);
}

/** Calls `visit` for the rows of events that end at the sequence or later, ascending, until it returns false. */
export function scanChunks(
  reader: StateReader,
  logNumber: number,
  fromSequence: number,
  visit: (chunk: EventChunk, key: Uint8Array, rowBytes: number) => boolean,
): void {
  reader.scan(eventRow(logNumber, fromSequence), eventRow(logNumber + 1, 0), ({ key, value }) => {
    return visit(decodeChunk(value), key, key.length + value.length);
  });
}

function encodeLog(log: EventLog): Uint8Array {
  const writer = new RecordWriter().uint53(log.number).text(log.name);
  writer.boolean(log.namespace !== null).text(log.namespace ?? "");
  writeSettings(writer, log.settings);
  return writer
    .uint53(log.createdAtMs)
    .text(log.createdBy)
    .uint53(log.lastSequence)
    .uint53(log.firstSequence)
    .uint53(log.sizeBytes)
    .uint53(log.oldestTickMs)
    .uint53(log.retentionDueMs)
    .finish();
}

function decodeLog(logId: Uint8Array, bytes: Uint8Array): EventLog {
  const reader = new RecordReader(bytes);
  const number = reader.uint53();
  const name = reader.text();
  const hasNamespace = reader.boolean();
  const namespace = reader.text();
  const log = {
    ...{ logId, number, name, namespace: hasNamespace ? namespace : null },
    settings: readSettings(reader),
    createdAtMs: reader.uint53(),
    createdBy: reader.text(),
    lastSequence: reader.uint53(),
    firstSequence: reader.uint53(),
    sizeBytes: reader.uint53(),
    oldestTickMs: reader.uint53(),
    retentionDueMs: reader.uint53(),
  };
  reader.end();
  return log;
}

function encodeChunk({ firstSequence, tickMs, wallMs, idempotencyKey, positions, payloads }: EventChunk): Uint8Array {
  const writer = new RecordWriter().uint53(firstSequence).uint53(tickMs).uint53(wallMs);
  writer.boolean(idempotencyKey !== null).text(idempotencyKey ?? "");
  writer.boolean(positions !== null).uint32(payloads.length);
  for (const position of positions ?? []) {
    writer.uint32(position);
  }
  for (const payload of payloads) {
    writer.bytes(payload);
  }
  return writer.finish();
}

function decodeChunk(bytes: Uint8Array): EventChunk {
  const reader = new RecordReader(bytes);
  const firstSequence = reader.uint53();
  const tickMs = reader.uint53();
  const wallMs = reader.uint53();
  const hasKey = reader.boolean();
  const key = reader.text();
  const isBatch = reader.boolean();
  const count = reader.uint32();
  invariant(count > 0, "a row of events has one");
  const positions: number[] = [];
  for (let left = isBatch ? count : 0; left > 0; left--) {
    positions.push(reader.uint32());
  }
  const payloads: Uint8Array[] = [];
  for (let left = count; left > 0; left--) {
    payloads.push(reader.bytes());
  }
  reader.end();
  return {
    ...{ firstSequence, tickMs, wallMs, idempotencyKey: hasKey ? key : null },
    ...{ positions: isBatch ? positions : null, payloads },
  };
}
