/** Commands about event logs: client operations, and the steps by which the cluster keeps logs small. */

import { invariant } from "../../primitives/index.ts";
import type { EventLog, SequenceRuns } from "../core/index.ts";
import {
  allAtOnce,
  type Field,
  fixedBytes,
  flag,
  type LogSettings,
  nullInstead,
  optional,
  optionalCount,
  orEmpty,
  type RecordReader,
  recordOf,
  type Steps,
  text,
  uint64,
} from "../core/index.ts";
import { GUARD, type Guard } from "../locks/index.ts";
import { Payloads } from "./payloads.ts";

declare module "../core/results.ts" {
  interface StoredResults {
    readonly "create-log": CreateLogResult;
    readonly "update-log-settings": UpdateLogSettingsResult;
    readonly "delete-log": DeleteLogResult;
    readonly "append-events": AppendEventsResult;
  }
}

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
  /** Of all events in order, including those stored before; see `sequencesOf`. */
  readonly runs: SequenceRuns;
  /** The greatest sequence. */
  readonly lastSequence: number;
  /** Events newly stored, and bytes of their payloads. */
  readonly appendedEvents: number;
  readonly appendedBytes: number;
  readonly revision: number;
}

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
  /** At most 1,024 bytes of UTF-8, including the position; null = none. A batch always has one. */
  readonly idempotencyKey: string | null;
  /**
   * The last sequence that the log must have; 0 = the log never had an event, undefined = any. 0 to 2^63 − 1, exactly.
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

export const logId = fixedBytes(LOG_ID_BYTES);
const setting = nullInstead(optionalCount);
export const logSettings = recordOf<LogSettings>({
  duplicateWindowSecs: setting,
  retentionMaxAgeSecs: setting,
  retentionMaxBytes: setting,
});
/** Null is a setting, too: only one that stays as it is has no value. */
const change: Field<number | null | undefined> = { ...orEmpty(setting, null), mayBeLeftOut: true };
export const logChanges = recordOf<Partial<LogSettings>>({
  duplicateWindowSecs: change,
  retentionMaxAgeSecs: change,
  retentionMaxBytes: change,
});
/** An append without its payloads, which are read in steps. */
const appendHead = recordOf<Omit<AppendEvents, "payloads">, Pick<AppendEvents, "kind">>(
  {
    logId,
    isBatch: flag,
    idempotencyKey: nullInstead(orEmpty(text, "")),
    expectedSequence: orEmpty(uint64, 0n),
    guard: optional(recordOf<LogGuard>({ ...GUARD, namespace: text })),
  },
  { kind: "append-events" },
);
export const appendField: Field<AppendEvents> = {
  write: (writer, operation) => {
    appendHead.write(writer, operation);
    operation.payloads.write(writer);
  },
  read: (reader) => allAtOnce(readAppendEvents(reader)),
};

/** Reads an append after its kind, in steps: a batch takes longer than one turn of the event loop should. */
export function* readAppendEvents(reader: RecordReader): Steps<AppendEvents> {
  const head = appendHead.read(reader);
  const payloads = yield* Payloads.readInSteps(reader);
  const { count } = payloads;
  const isWhole = head.isBatch ? count >= 1 && count <= BATCH_EVENTS_MAX && head.idempotencyKey !== null : count === 1;
  invariant(isWhole, "an append has its events", () => `${count}`);
  return { ...head, payloads };
}
