/**
 * The rows of event logs: one for each log, and the rows of its events.
 *
 * Events of one append share rows of about 64 KiB; a larger event has its own row. A batch of a million events is a
 * thousand rows. The key of a row is the sequence of its last event, so a scan from any sequence begins with the row
 * that holds it.
 */

import { invariant } from "../../primitives/index.ts";
import {
  type ApplyContext,
  count,
  decodeRow,
  type EventLog,
  encodeRow,
  eventRow,
  logNameRow,
  logRow,
  RecordReader,
  RecordWriter,
  recordOf,
  type SequenceRuns,
  type StateReader,
  type Steps,
  text,
} from "../core/index.ts";
import { logId as logIdField, logSettings } from "./log-commands.ts";
import { Payloads } from "./payloads.ts";
import { PositionRuns } from "./position-runs.ts";

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
  /** Positions of the events in their batch, one for each event; null without a batch. */
  readonly positions: PositionRuns | null;
  /** At least one. */
  readonly payloads: Payloads;
}

/** Events of one append to store. */
export interface NewEvents extends Omit<EventChunk, "positions" | "firstSequence"> {
  readonly isBatch: boolean;
  /** Which payloads to store, and their sequences, which are consecutive. */
  readonly stored: SequenceRuns;
}

/** A row of events is complete at this many bytes of payloads, or at this many events. */
const CHUNK_BYTES = 64 * 1024;
const CHUNK_EVENTS = 1_024;
const LOG_FIELDS = {
  number: count,
  name: text,
  namespace: text,
  settings: logSettings,
  createdAtMs: count,
  createdBy: text,
  lastSequence: count,
  firstSequence: count,
  sizeBytes: count,
  oldestTickMs: count,
  retentionDueMs: count,
} as const;
/** The key of the row has the id. */
const logFields = recordOf<Omit<EventLog, "logId">>(LOG_FIELDS);
/** A log in an answer. */
export const logInAnswer = recordOf<EventLog>({ logId: logIdField, ...LOG_FIELDS });
const NO_POSITIONS = new PositionRuns(new Uint32Array(0));

export function readLog(reader: StateReader, logId: Uint8Array): EventLog | undefined {
  const bytes = reader.get(logRow(logId));
  return bytes === undefined ? undefined : { logId, ...decodeRow(logFields, bytes) };
}

/** The id of the live log of this name in the namespace. */
export function readLogId(reader: StateReader, namespace: string, name: string): Uint8Array | undefined {
  return reader.get(logNameRow(namespace, name));
}

export function writeLog({ transaction }: ApplyContext, log: EventLog): void {
  transaction.put(logRow(log.logId), encodeRow(logFields, log));
}

/** How many events the log keeps. */
export function eventCountOf({ firstSequence, lastSequence }: EventLog): number {
  return lastSequence - firstSequence + 1;
}

/** The key of the event at this position of a batch. */
export function derivedKey(base: string, position: number): string {
  return `${base}:${position}`;
}

/** Stores events under the next sequences, in rows of limited size. */
export function* writeEvents(context: ApplyContext, log: EventLog, events: NewEvents): Steps<void> {
  const { tickMs, wallMs, idempotencyKey, isBatch, payloads } = events;
  const rows = new RowDivider(events);
  for (let at = rows.next(); at !== null; at = rows.next()) {
    const { firstSequence, positions } = at;
    const chunk = { firstSequence, tickMs, wallMs, idempotencyKey, payloads: payloads.pick(positions) };
    writeChunk(context, log, { ...chunk, positions: isBatch ? positions : null });
    yield;
  }
}

/** Divides new events into rows. */
class RowDivider {
  readonly #payloads: Payloads;
  readonly #stored: SequenceRuns;
  #run = 0;
  /** Events of the run that already have rows. */
  #taken = 0;

  constructor({ payloads, stored }: NewEvents) {
    this.#payloads = payloads;
    this.#stored = stored;
  }

  /** The positions of the next row, and the sequence of the first of them; null if there is none. */
  next(): { readonly firstSequence: number; readonly positions: PositionRuns } | null {
    const stored = this.#stored;
    if (this.#run === stored.length) {
      return null;
    }
    const firstSequence = stored.firstSequenceOf(this.#run) + this.#taken;
    const numbers: number[] = [];
    let [count, bytes] = [0, 0];
    while (this.#run < stored.length) {
      const position = stored.positionOf(this.#run) + this.#taken;
      const left = stored.countOf(this.#run) - this.#taken;
      const fitting = this.#fitting(position, Math.min(left, CHUNK_EVENTS - count), { isFirst: count === 0, bytes });
      if (fitting > 0) {
        numbers.push(position, fitting);
        bytes += this.#payloads.bytesOf(position, position + fitting);
        count += fitting;
      }
      if (fitting < left) {
        this.#taken += fitting;
        break;
      }
      this.#run++;
      this.#taken = 0;
    }
    return { firstSequence, positions: new PositionRuns(new Uint32Array(numbers)) };
  }

  /** How many events from a position on fit into the row, at most `countMax`. */
  #fitting(position: number, countMax: number, row: { readonly isFirst: boolean; readonly bytes: number }): number {
    let fitting = row.isFirst ? 1 : 0;
    const bytesLeft = CHUNK_BYTES - row.bytes;
    if (this.#payloads.bytesOf(position, position + countMax) <= bytesLeft) {
      return countMax;
    }
    while (fitting < countMax && this.#payloads.bytesOf(position, position + fitting + 1) <= bytesLeft) {
      fitting++;
    }
    return fitting;
  }
}

/** Stores one row of events. No row with the same last sequence may exist. */
export function writeChunk(context: ApplyContext, log: EventLog, chunk: EventChunk): void {
  const key = eventRow(log.number, chunk.firstSequence + chunk.payloads.count - 1);
  const row = encodeChunk(chunk);
  context.transaction.put(key, row);
  context.countEventBytesIn(log.namespace, key.length + row.length);
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

function encodeChunk({ firstSequence, tickMs, wallMs, idempotencyKey, positions, payloads }: EventChunk): Uint8Array {
  const writer = new RecordWriter().uint53(firstSequence).uint53(tickMs).uint53(wallMs);
  writer.boolean(idempotencyKey !== null).text(idempotencyKey ?? "");
  writer.boolean(positions !== null);
  (positions ?? NO_POSITIONS).write(writer);
  payloads.write(writer);
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
  const positions = PositionRuns.read(reader);
  const payloads = Payloads.read(reader);
  invariant(payloads.count > 0, "a row of events has one");
  reader.end();
  return {
    firstSequence,
    tickMs,
    wallMs,
    idempotencyKey: hasKey ? key : null,
    positions: isBatch ? positions : null,
    payloads,
  };
}
