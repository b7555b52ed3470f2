/** Commands about event logs: client operations, and the steps by which the cluster keeps logs small. */

import { invariant, readUint32, writeUint32 } from "../../primitives/index.ts";
import {
  allAtOnce,
  type Field,
  fixedBytes,
  type LogSettings,
  optional,
  type RecordReader,
  type RecordWriter,
  readOptionalCount,
  recordOf,
  type Steps,
  text,
  writeOptionalCount,
} from "../core/index.ts";
import { GUARD, type Guard } from "../locks/index.ts";
import { Payloads } from "./payloads.ts";

/** Bytes of a log id, which is a UUID. */
export const LOG_ID_BYTES = 16;
/** Events of one batch, which apply takes in steps (S44). With the length of each, 10 MiB of them fit into an entry. */
export const BATCH_EVENTS_MAX = 1_000_000;

export interface CreateLog {
  readonly kind: "create-log";
  readonly name: string;
  /** Callers with access to it see the log; the log's name is unique within it. */
  readonly namespace: string;
  readonly settings: LogSettings;
}

export interface UpdateLogSettings {
  readonly kind: "update-log-settings";
  readonly logId: Uint8Array;
  /** Absent fields stay as they are. */
  readonly changes: Partial<LogSettings>;
}

export interface DeleteLog {
  readonly kind: "delete-log";
  readonly logId: Uint8Array;
}

/** The hold that must be live for the append, and the namespace of its lock. */
export interface LogGuard extends Guard {
  readonly namespace: string;
}

export interface AppendEvents {
  readonly kind: "append-events";
  readonly logId: Uint8Array;
  /** At least one. The events of a batch, also of a batch of one, have the keys `{idempotencyKey}:{position}`. */
  readonly payloads: Payloads;
  readonly isBatch: boolean;
  /** At most 1,024 bytes of UTF-8, including the position; null = no deduplication. A batch always has one. */
  readonly idempotencyKey: string | null;
  /**
   * The last sequence that the log must have; 0 = the log never had an event, undefined = any. Up to 2^63 − 1, exactly.
   * No log has a sequence above 2^53 − 1, so a greater number matches none (S9).
   */
  readonly expectedSequence: bigint | undefined;
  readonly guard?: LogGuard;
}

/** Forgets keys of events whose window has ended; checks at most this many rows. */
export interface PruneEventKeys {
  readonly kind: "prune-duplicates";
  readonly countMax: number;
}

/** Removes events that are too old or too many for their log: at most this many rows. */
export interface ApplyRetention {
  readonly kind: "apply-retention";
  readonly rowsMax: number;
}

/** Erases the rows that deleted logs have left: at most this many. */
export interface EraseLogs {
  readonly kind: "erase-logs";
  readonly rowsMax: number;
}

const SETTINGS = ["duplicateWindowSecs", "retentionMaxAgeSecs", "retentionMaxBytes"] as const;
const HALF_BITS = 32n;
const HALF_MASK = 0xffff_ffffn;
const SEQUENCE_BYTES = 8;

export const logId = fixedBytes(LOG_ID_BYTES);
export const logSettings: Field<LogSettings> = { write: writeSettings, read: readSettings };
export const logChanges: Field<Partial<LogSettings>> = { write: writeChanges, read: readChanges };
/** An append, as one field, because it is read in steps. */
export const appendField: Field<AppendEvents> = {
  write: writeAppendEvents,
  read: (reader) => allAtOnce(readAppendEvents(reader)),
};
const optionalLogGuard = optional(recordOf<LogGuard>({ ...GUARD, namespace: text }));

export function writeSettings(writer: RecordWriter, settings: LogSettings): void {
  for (const name of SETTINGS) {
    writeOptionalCount(writer, settings[name] ?? undefined);
  }
}

export function readSettings(reader: RecordReader): LogSettings {
  return {
    duplicateWindowSecs: readOptionalCount(reader) ?? null,
    retentionMaxAgeSecs: readOptionalCount(reader) ?? null,
    retentionMaxBytes: readOptionalCount(reader) ?? null,
  };
}

function writeChanges(writer: RecordWriter, changes: Partial<LogSettings>): void {
  for (const name of SETTINGS) {
    const value = changes[name];
    writer.boolean(value !== undefined);
    writeOptionalCount(writer, value ?? undefined);
  }
}

function readChanges(reader: RecordReader): Partial<LogSettings> {
  const changes: { -readonly [Name in keyof LogSettings]?: number | null } = {};
  for (const name of SETTINGS) {
    const isPresent = reader.boolean();
    const value = readOptionalCount(reader) ?? null;
    invariant(isPresent || value === null, "fields that are absent are empty");
    if (isPresent) {
      changes[name] = value;
    }
  }
  return changes;
}

function writeAppendEvents(writer: RecordWriter, operation: AppendEvents): void {
  const { logId, payloads, isBatch, idempotencyKey, expectedSequence, guard } = operation;
  writer.fixed(logId, LOG_ID_BYTES).boolean(isBatch);
  writer.boolean(idempotencyKey !== null).text(idempotencyKey ?? "");
  writer.boolean(expectedSequence !== undefined).fixed(sequenceBytes(expectedSequence ?? 0n), SEQUENCE_BYTES);
  optionalLogGuard.write(writer, guard);
  payloads.write(writer);
}

/** Reads an append after its kind, in steps: a batch takes longer than one turn of the event loop should. */
export function* readAppendEvents(reader: RecordReader): Steps<AppendEvents> {
  const logId = reader.fixed(LOG_ID_BYTES);
  const isBatch = reader.boolean();
  const hasKey = reader.boolean();
  const key = reader.text();
  invariant(hasKey || key === "", "fields that are absent are empty");
  const isExpected = reader.boolean();
  const sequence = sequenceOf(reader.fixed(SEQUENCE_BYTES));
  invariant(isExpected || sequence === 0n, "fields that are absent are empty");
  const guard = optionalLogGuard.read(reader);
  const payloads = yield* Payloads.readInSteps(reader);
  const { count } = payloads;
  invariant(
    isBatch ? count >= 1 && count <= BATCH_EVENTS_MAX && hasKey : count === 1,
    "an append has its events",
    () => {
      return `${count}`;
    },
  );
  return {
    kind: "append-events",
    logId,
    payloads,
    isBatch,
    idempotencyKey: hasKey ? key : null,
    expectedSequence: isExpected ? sequence : undefined,
    ...(guard === undefined ? {} : { guard }),
  };
}

function sequenceBytes(sequence: bigint): Uint8Array {
  const bytes = new Uint8Array(SEQUENCE_BYTES);
  writeUint32(bytes, 0, Number(sequence >> HALF_BITS));
  writeUint32(bytes, 4, Number(sequence & HALF_MASK));
  return bytes;
}

function sequenceOf(bytes: Uint8Array): bigint {
  return (BigInt(readUint32(bytes, 0)) << HALF_BITS) | BigInt(readUint32(bytes, 4));
}
