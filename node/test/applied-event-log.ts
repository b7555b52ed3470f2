/**
 * An event log in an AppliedLog. Specs append to it as clients do, and get the outcome of each append in a word. It is
 * trimmed as a leader does it.
 */

import {
  type AppendEvents,
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  describeLog,
  type EventLog,
  hasDueEventKeys,
  hasDueRetention,
  type LogEvent,
  type LogSettings,
  type Outcome,
  Payloads,
  type Principal,
  readEvents,
  sequencesOf,
} from "../src/state/index.ts";
import { AppliedLog, OWNER } from "./applied-log.ts";

/** No settings: the cluster's window of duplicates, and no limits. */
export const NO_SETTINGS: LogSettings = {
  duplicateWindowSecs: null,
  retentionMaxAgeSecs: null,
  retentionMaxBytes: null,
};
const ALL = { eventsMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER };

/** The outcome of an append, in words: the sequences of its events, or the reason of the refusal. */
export function appended({ answer, replayed }: Outcome): string {
  if (answer instanceof CoordinationError) {
    return answer.reason;
  }
  if (answer.kind !== "append-events") {
    return answer.kind;
  }
  return `${replayed === "yes" ? "again " : ""}${[...sequencesOf(answer.runs)].join(" ")}`;
}

export class AppliedEventLog {
  readonly log: AppliedLog;
  readonly logId: Uint8Array;

  constructor(
    settings: Partial<LogSettings> = {},
    { log = new AppliedLog(DEFAULT_STATE_LIMITS), name = "events", namespace = "default" } = {},
  ) {
    this.log = log;
    const { logId } = log.result<"create-log">({
      kind: "create-log",
      name,
      namespace,
      settings: { ...NO_SETTINGS, ...settings },
    }).log;
    this.logId = logId;
  }

  operation(payloads: readonly string[], changes: Partial<AppendEvents> = {}): AppendEvents {
    return {
      kind: "append-events",
      logId: this.logId,
      payloads: Payloads.of(payloads.map((one) => Buffer.from(one))),
      isBatch: false,
      idempotencyKey: null,
      expectedSequence: undefined,
      ...changes,
    };
  }

  append(payload: string, changes: Partial<AppendEvents> = {}, principal: Principal = OWNER): string {
    return appended(this.log.execute(this.operation([payload], changes), { principal }));
  }

  appendBatch(base: string, payloads: readonly string[], changes: Partial<AppendEvents> = {}): string {
    return appended(this.log.execute(this.operation(payloads, { isBatch: true, idempotencyKey: base, ...changes })));
  }

  change(changes: Partial<LogSettings>): void {
    this.log.result<"update-log-settings">({ kind: "update-log-settings", logId: this.logId, changes });
  }

  /** Lets time pass, and does what a leader does with expired things. */
  pass(milliseconds: number): void {
    this.log.tickMs += milliseconds;
    while (hasDueEventKeys(this.log.store, this.log.tickMs)) {
      this.log.lead({ kind: "prune-duplicates", countMax: 3 });
    }
    while (hasDueRetention(this.log.store, this.log.tickMs)) {
      this.log.lead({ kind: "apply-retention", rowsMax: 3 });
    }
  }

  get stored(): EventLog {
    return describeLog(this.log.store, this.logId);
  }

  get events(): readonly LogEvent[] {
    return readEvents(this.log.store, this.stored, 0, ALL);
  }

  /** The kept events, as `sequence payload`. */
  get texts(): string[] {
    return this.events.map(({ sequence, payload }) => `${sequence} ${Buffer.from(payload).toString()}`);
  }
}
