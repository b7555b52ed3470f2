/**
 * Deleted logs that have left rows: where these rows begin, and the namespace that they count toward until they are
 * erased.
 */

import {
  type ApplyContext,
  bytes,
  decodeRow,
  type EventLog,
  encodeRow,
  eventKeyRange,
  eventRow,
  logErasureRow,
  recordOf,
  type StateReader,
  text,
} from "../core/index.ts";

/**
 * The keys before which a deleted log has no rows left. A step that started at the first row that the log ever had
 * would pass every row deleted since: a store on disk keeps a tombstone of each for a while.
 */
export interface LogErasure {
  readonly events: Uint8Array;
  readonly keys: Uint8Array;
  readonly namespace: string;
}

const erasureFields = recordOf<LogErasure>({ events: bytes, keys: bytes, namespace: text });

/** Starts the erasure of a deleted log that had events. */
export function beginErasure(context: ApplyContext, log: EventLog): void {
  const { number, firstSequence } = log;
  writeErasure(context, logErasureRow(number), {
    events: eventRow(number, firstSequence),
    keys: eventKeyRange(number).from,
    namespace: log.namespace,
  });
  context.countLogErasures(1);
}

/** The erasure of the deleted log with this number; undefined if none of its rows is left. */
export function readErasure(reader: StateReader, logNumber: number): LogErasure | undefined {
  const bytes = reader.get(logErasureRow(logNumber));
  return bytes === undefined ? undefined : decodeErasure(bytes);
}

export function writeErasure({ transaction }: ApplyContext, key: Uint8Array, erasure: LogErasure): void {
  transaction.put(key, encodeRow(erasureFields, erasure));
}

export function decodeErasure(row: Uint8Array): LogErasure {
  return decodeRow(erasureFields, row);
}
