/**
 * The rules of event logs: a model in plain maps follows the log of the cluster. Every event log is compared with it
 * after each command that may have touched the event log.
 */

import {
  type AppendEvents,
  type ClientOperation,
  CoordinationError,
  checkGuard,
  describeLog,
  type Result,
  readEvents,
  type StateReader,
  sequencesOf,
} from "../../src/state/index.ts";
import { isRevocation } from "./access-rules.ts";
import type { ExecutedCommand, ExecutionObserver } from "./live-execution.ts";
import { must } from "./rule-violation.ts";
import { type Executed, executedIn, firstAnswerOf } from "./transacted.ts";

interface Stored {
  readonly sequence: number;
  readonly tickMs: number;
}

interface ModelEvent extends Stored {
  readonly payload: string;
}

interface ModelLog {
  readonly logId: Uint8Array;
  readonly windowMs: number;
  readonly ageMs: number;
  readonly bytesMax: number;
  lastSequence: number;
  /** Events that are kept. */
  events: ModelEvent[];
  /** When and where the event of a key was last stored. */
  readonly keys: Map<string, Stored>;
}

type Command = Pick<ExecutedCommand, "command">["command"];

const MS_PER_SECOND = 1_000;
const HOUR_SECS = 3_600;
const ALL = { eventsMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER };

export class EventLogRules implements ExecutionObserver {
  /** By ids in hexadecimal digits. */
  readonly #logs = new Map<string, ModelLog>();
  /** Every payload that was ever stored, by log and sequence. */
  readonly #stored = new Map<string, string>();
  readonly #payloads = new Set<string>();
  /** Whether the hold that guards the command is live, right before the execution. */
  #isGuarded = true;
  #appends = 0;
  #duplicates = 0;
  #conflicts = 0;
  #removed = 0;

  /** Numbers of appends that have stored something, of events that were stored before, and of conflicts. */
  get appends(): number {
    return this.#appends;
  }

  get duplicates(): number {
    return this.#duplicates;
  }

  get conflicts(): number {
    return this.#conflicts;
  }

  /** Events that retention has removed. */
  get removed(): number {
    return this.#removed;
  }

  /** Whether the payload was ever stored, in any log. */
  hasStored(payload: string): boolean {
    return this.#payloads.has(payload);
  }

  /** The payload that was stored there, whether or not it is still kept. */
  payloadAt(logId: Uint8Array, sequence: number): string | undefined {
    return this.#stored.get(`${logId.toHex()} ${sequence}`);
  }

  before({ operation }: Command, state: StateReader): void {
    const guard = operation.kind === "append-events" ? operation.guard : undefined;
    this.#isGuarded = true;
    try {
      checkGuard(state, guard?.namespace ?? "", guard);
    } catch {
      this.#isGuarded = false;
    }
  }

  after(executed: ExecutedCommand, state: StateReader): void {
    const { index, tickMs, command, outcome } = executed;
    const { operation } = command;
    switch (operation.kind) {
      case "append-events":
        this.#afterAppend(index, tickMs, operation, outcome?.answer, state);
        return;
      case "transact":
        this.#afterTransaction(index, tickMs, executedIn(operation, firstAnswerOf(outcome)), state);
        return;
      case "create-log":
      case "delete-log":
        this.#afterChange(operation, outcome?.answer);
        return;
      case "prune-duplicates":
      case "apply-retention":
      case "erase-logs":
        for (const log of this.#logs.values()) {
          this.#checkKept(index, tickMs, log, state);
        }
        return;
      default:
        return;
    }
  }

  #afterChange(
    operation: Extract<ClientOperation, { readonly kind: "create-log" | "delete-log" }>,
    answer: Result | CoordinationError | undefined,
  ): void {
    if (answer === undefined || answer instanceof CoordinationError) {
      return;
    }
    if (operation.kind === "delete-log") {
      this.#logs.delete(operation.logId.toHex());
    } else if (answer.kind === "create-log") {
      const { logId } = answer.log;
      const { duplicateWindowSecs, retentionMaxAgeSecs, retentionMaxBytes } = operation.settings;
      this.#logs.set(logId.toHex(), {
        logId,
        windowMs: (duplicateWindowSecs ?? HOUR_SECS) * MS_PER_SECOND,
        ageMs: (retentionMaxAgeSecs ?? Infinity) * MS_PER_SECOND,
        bytesMax: retentionMaxBytes ?? Infinity,
        lastSequence: 0,
        events: [],
        keys: new Map(),
      });
    }
  }

  /** Appends of a transaction, which happen together. */
  #afterTransaction(index: number, tickMs: number, executed: readonly Executed[], state: StateReader): void {
    const logs = new Set<ModelLog>();
    for (const { operation, answer } of executed) {
      if (
        operation.kind === "append-events" &&
        answer !== null &&
        "kind" in answer &&
        answer.kind === "append-events"
      ) {
        const log = this.#logs.get(operation.logId.toHex());
        const what = (): string => `entry ${index}: append of ${operation.idempotencyKey} in a transaction`;
        must(log !== undefined, "a log that was deleted takes nothing", what);
        this.#append(tickMs, log, operation, [...sequencesOf(answer.runs)], what);
        logs.add(log);
      }
    }
    for (const log of logs) {
      this.#checkKept(index, tickMs, log, state);
    }
  }

  #afterAppend(
    index: number,
    tickMs: number,
    operation: AppendEvents,
    answer: Result | CoordinationError | undefined,
    state: StateReader,
  ): void {
    const log = this.#logs.get(operation.logId.toHex());
    const what = (): string => `entry ${index}: append of ${operation.idempotencyKey}`;
    if (answer instanceof CoordinationError && !isRevocation(answer)) {
      this.#checkRefusal(tickMs, log, operation, answer, what);
    } else if (!(answer instanceof CoordinationError)) {
      must(log !== undefined, "a log that was deleted takes nothing", what);
      must(answer?.kind === "append-events", "appends are answered as such", what);
      const sequences = [...sequencesOf(answer.runs)];
      this.#append(tickMs, log, operation, sequences, what);
      must(answer.lastSequence === Math.max(...sequences), "S6 the last sequence is the greatest", what);
    }
    if (log !== undefined) {
      this.#checkKept(index, tickMs, log, state);
    }
  }

  #append(
    tickMs: number,
    log: ModelLog,
    operation: AppendEvents,
    sequences: readonly number[],
    what: () => string,
  ): void {
    const { expectedSequence } = operation;
    const { lastSequence } = log;
    const known = knownOf(log, operation, tickMs);
    for (const [at, payload] of [...operation.payloads].entries()) {
      const before = known[at];
      const sequence = sequences[at] as number;
      if (before !== undefined) {
        this.#duplicates++;
        must(sequence === before, "S4 a key in its window has its first sequence", what);
        continue;
      }
      must(sequence === log.lastSequence + 1, "sequences are dense, and batches stand together", () => {
        return `${what()}: ${sequence} after ${log.lastSequence}`;
      });
      const text = textOf(payload);
      log.lastSequence = sequence;
      log.events.push({ sequence, tickMs, payload: text });
      this.#stored.set(`${log.logId.toHex()} ${sequence}`, text);
      this.#payloads.add(text);
      const key = keyOf(operation, at);
      if (key !== null && log.windowMs > 0) {
        log.keys.set(key, { sequence, tickMs });
      }
    }
    if (log.lastSequence > lastSequence) {
      this.#appends++;
      const isExpected = expectedSequence === undefined || expectedSequence === BigInt(lastSequence);
      must(isExpected, "S9 what is stored comes after the expected sequence", what);
      must(this.#isGuarded, "P53 a guarded append counts only while its hold is live", what);
    }
  }

  #checkRefusal(
    tickMs: number,
    log: ModelLog | undefined,
    operation: AppendEvents,
    { reason }: CoordinationError,
    what: () => string,
  ): void {
    const isNew = log === undefined || knownOf(log, operation, tickMs).includes(undefined);
    must(isNew, "S1 what was stored before is not refused", () => `${what()}: ${reason}`);
    must(reason !== "LOG_NOT_FOUND" || log === undefined, "a log is there until it is deleted", what);
    must(reason !== "FENCED" || !this.#isGuarded, "P53 a guarded append counts while its hold is live", what);
    if (reason === "SEQUENCE_CONFLICT") {
      this.#conflicts++;
      const isOther = operation.expectedSequence !== BigInt(log?.lastSequence ?? 0);
      must(isOther, "S9 an append with the right sequence meets no conflict", what);
    }
  }

  /** The log holds what the model holds, except for what retention was allowed to remove since. */
  #checkKept(index: number, tickMs: number, log: ModelLog, state: StateReader): void {
    const stored = describeLog(state, log.logId);
    while (log.events[0] !== undefined && log.events[0].sequence < stored.firstSequence) {
      const [gone] = log.events;
      const isTooOld = tickMs > gone.tickMs + log.ageMs;
      must(isTooOld || sizeOf(log.events) > log.bytesMax, "S21 events are kept as long as their log says", () => {
        return `entry ${index}: ${gone.sequence} at ${tickMs}, stored at ${gone.tickMs}`;
      });
      log.events.shift();
      this.#removed++;
    }
    const last = log.events.at(-1)?.sequence ?? log.lastSequence;
    const isSame = stored.lastSequence === log.lastSequence && last === log.lastSequence;
    must(isSame && stored.sizeBytes === sizeOf(log.events), "a log says the truth of itself", () => {
      return `entry ${index}: ${stored.firstSequence}..${stored.lastSequence}, ${stored.sizeBytes} bytes`;
    });
    const events = readEvents(state, stored, 0, ALL);
    const isRead = events.every(({ sequence, payload }, at) => {
      const event = log.events[at];
      return event?.sequence === sequence && event.payload === textOf(payload);
    });
    must(isRead && events.length === log.events.length, "S2 a log holds what was accepted, and nothing else", () => {
      return `entry ${index}: ${events.length} events, not ${log.events.length}`;
    });
  }
}

/** For each event, the sequence under which its key is remembered. */
function knownOf(log: ModelLog, operation: AppendEvents, tickMs: number): (number | undefined)[] {
  return Array.from(operation.payloads, (_, at) => {
    const stored = log.keys.get(keyOf(operation, at) ?? "");
    return stored !== undefined && tickMs <= stored.tickMs + log.windowMs ? stored.sequence : undefined;
  });
}

function keyOf({ idempotencyKey, isBatch }: AppendEvents, at: number): string | null {
  return isBatch ? `${idempotencyKey}:${at}` : idempotencyKey;
}

function sizeOf(events: readonly ModelEvent[]): number {
  return events.reduce((sum, { payload }) => sum + payload.length, 0);
}

function textOf(payload: Uint8Array): string {
  return Buffer.from(payload).toString();
}
