/**
 * Progress of the state: the row that every batch contains, so that effects and applied index are never separate (P42).
 */

import { invariant } from "../../primitives/index.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { PROGRESS_ROW } from "./rows.ts";
import type { StateReader } from "./store.ts";

/** Levels at the last counted mutation of a bucket, in bytes. */
export interface UsageLevels {
  readonly bytesStored: number;
  readonly memoryBytes: number;
}

export interface Progress {
  /** Index and term of the last applied entry. */
  readonly appliedIndex: number;
  readonly appliedTerm: number;
  /** Greatest cluster tick and wall clock of the applied entries, in milliseconds. */
  readonly tickMs: number;
  readonly wallMs: number;
  /** The number of visible changes. */
  readonly revision: number;
  /** Running digest of all changes. */
  readonly digest: number;
  /** Bytes of keys, values and stored answers, for the quota. */
  readonly dataBytes: number;
  /** Keys with a deadline, and stored answers. While there are any, or timers of locks, the clock must advance. */
  readonly expiringKeys: number;
  readonly storedAnswers: number;
  /** Holds, waits and delays of locks with a deadline. */
  readonly lockTimers: number;
  /** Event logs, and bytes of their events and remembered keys, for their quotas. */
  readonly logs: number;
  readonly eventBytes: number;
  /** Timers of logs: for remembered keys, and for events that are too old or too many. */
  readonly logTimers: number;
  /** Deleted logs that have left rows behind. */
  readonly logErasures: number;
  /** Totals for operators; nothing depends on them. */
  readonly totals: Totals;
}

export interface Totals {
  readonly keys: number;
  readonly lockHolds: number;
  readonly lockWaits: number;
  readonly memoryRegions: number;
  /** Sizes of all regions, written or not. */
  readonly memoryBytes: number;
  /** While there are any, the clock must advance. */
  readonly sessions: number;
}

/** Nothing applied. */
const NO_PROGRESS: Progress = {
  appliedIndex: 0,
  appliedTerm: 0,
  tickMs: 0,
  wallMs: 0,
  revision: 0,
  digest: 0,
  dataBytes: 0,
  expiringKeys: 0,
  storedAnswers: 0,
  lockTimers: 0,
  logs: 0,
  eventBytes: 0,
  logTimers: 0,
  logErasures: 0,
  totals: { keys: 0, lockHolds: 0, lockWaits: 0, memoryRegions: 0, memoryBytes: 0, sessions: 0 },
};

const FORMAT = 1;
/** The same with a number of sessions at the end; for a state that has any. */
const FORMAT_WITH_SESSIONS = 2;

export function encodeProgress(progress: Progress): Uint8Array {
  const { sessions } = progress.totals;
  const writer = new RecordWriter()
    .uint8(sessions === 0 ? FORMAT : FORMAT_WITH_SESSIONS)
    .uint53(progress.appliedIndex)
    .uint53(progress.appliedTerm)
    .uint53(progress.tickMs)
    .uint53(progress.wallMs)
    .uint53(progress.revision)
    .uint32(progress.digest)
    .uint53(progress.dataBytes)
    .uint53(progress.expiringKeys)
    .uint53(progress.storedAnswers)
    .uint53(progress.lockTimers)
    .uint53(progress.logs)
    .uint53(progress.eventBytes)
    .uint53(progress.logTimers)
    .uint53(progress.logErasures)
    .uint53(progress.totals.keys)
    .uint53(progress.totals.lockHolds)
    .uint53(progress.totals.lockWaits)
    .uint53(progress.totals.memoryRegions)
    .uint53(progress.totals.memoryBytes);
  return (sessions === 0 ? writer : writer.uint53(sessions)).finish();
}

/** Progress of the state in this store. */
export function readProgress(reader: StateReader): Progress {
  const bytes = reader.get(PROGRESS_ROW);
  return bytes === undefined ? NO_PROGRESS : decodeProgress(bytes);
}

function decodeProgress(bytes: Uint8Array): Progress {
  const reader = new RecordReader(bytes);
  const format = reader.uint8();
  invariant(format === FORMAT || format === FORMAT_WITH_SESSIONS, "the state has a known format", () => String(format));
  const progress = {
    appliedIndex: reader.uint53(),
    appliedTerm: reader.uint53(),
    tickMs: reader.uint53(),
    wallMs: reader.uint53(),
    revision: reader.uint53(),
    digest: reader.uint32(),
    dataBytes: reader.uint53(),
    expiringKeys: reader.uint53(),
    storedAnswers: reader.uint53(),
    lockTimers: reader.uint53(),
    logs: reader.uint53(),
    eventBytes: reader.uint53(),
    logTimers: reader.uint53(),
    logErasures: reader.uint53(),
    totals: {
      keys: reader.uint53(),
      lockHolds: reader.uint53(),
      lockWaits: reader.uint53(),
      memoryRegions: reader.uint53(),
      memoryBytes: reader.uint53(),
      sessions: format === FORMAT ? 0 : reader.uint53(),
    },
  };
  reader.end();
  return progress;
}
