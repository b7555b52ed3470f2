/**
 * Clients of a simulated cluster that append to event logs and read them. They send single events and batches, with
 * keys that they repeat and that others use too. Their expected sequences are right or wrong, and some append under
 * holds of locks that are live or not. Sometimes a log is deleted, and another one takes its place.
 */

import {
  type AppendEvents,
  type ClientOperation,
  CoordinationError,
  describeLog,
  type Guard,
  type LogSettings,
  type Outcome,
  Payloads,
  readEvents,
  sequencesOf,
} from "../../src/state/index.ts";
import { type EventLogAnswer, type EventLogOperation, History, logCheck } from "../history/index.ts";
import { isRevocation } from "./access-rules.ts";
import { AGAIN_MS, CALLS_MAX, ClientGroup, type ClientGroupOptions, type ClientOf } from "./client-group.ts";
import type { EventLogRules } from "./event-log-rules.ts";
import type { EventLogPlan } from "./plan.ts";
import type { Process } from "./process.ts";
import type { RandomStream } from "./random.ts";
import { must } from "./rule-violation.ts";

export interface EventLogClientsOptions extends ClientGroupOptions {
  readonly rules: EventLogRules;
  readonly plan: EventLogPlan;
  /** A hold that a client has or had; undefined if there was none. */
  readonly guardOf: (random: RandomStream) => Guard | undefined;
}

/** A log that a client knows. */
interface KnownLog {
  readonly name: string;
  readonly logId: Uint8Array;
  /** Its last sequence in the newest answer. */
  lastSequence: number;
  /** Nothing of it is forgotten or removed during the run, so that the history of its clients can be judged. */
  readonly isWhole: boolean;
  isDeleted: boolean;
}

type EventLogClient = ClientOf<{ appends: number }>;

/** The outcome of a command after all of its calls; null = unknown. */
type Ended = Outcome | "not-executed" | null;

/** An acknowledged append. */
interface Acknowledged {
  readonly logId: Uint8Array;
  readonly sequences: readonly number[];
}

const BATCH_MAX = 6;
/** Number of keys that all clients share. */
const SHARED_KEYS = 12;
const LOGS = 2;
/** Share of the operations before which a client goes to another member. */
const LEAVE_SHARE = 0.15;
const READ = { eventsMax: 50, bytesMax: 10_000 };

export class EventLogClients extends ClientGroup<{ appends: number }, EventLogClientsOptions> {
  readonly #history: History<EventLogOperation, EventLogAnswer>;
  #logs: KnownLog[] = [];
  readonly #acknowledged: Acknowledged[] = [];
  /** Payloads of appends that no call can have executed. */
  readonly #refused: string[] = [];
  #creations = 0;

  constructor(options: EventLogClientsOptions) {
    super(options, LEAVE_SHARE);
    this.#history = new History(() => options.heap.nowMs);
  }

  protected override fresh() {
    return { appends: 0 };
  }

  protected override operate(client: EventLogClient): void {
    const process = this.begins(client);
    if (process === null) {
      return;
    }
    const { random } = client;
    const log = random.pick(this.#logs);
    if (log === undefined || (this.#logs.length < LOGS && random.chance(0.3))) {
      this.#create(client, process);
    } else if (random.chance(0.03)) {
      this.#delete(client, process, log);
    } else if (random.chance(0.25)) {
      this.#read(client, process, log);
    } else {
      this.#append(client, process, log);
    }
  }

  /** Throws a RuleViolation if no correct event logs could have given these answers. */
  check(): void {
    const { rules } = this.options;
    for (const { logId, sequences } of this.#acknowledged) {
      for (const sequence of sequences) {
        must(rules.payloadAt(logId, sequence) !== undefined, "I22 an acknowledged event is in its log", () => {
          return `${sequence} of ${logId.toHex()}`;
        });
      }
    }
    for (const payload of this.#refused) {
      must(!rules.hasStored(payload), "I12 an append that was certainly not executed is in no log", () => payload);
    }
    const wrong = logCheck(this.#history.operations);
    must(wrong.length === 0, "history: event logs could have answered so", () => wrong.join("\n"));
  }

  #create(client: EventLogClient, process: Process): void {
    this.#creations++;
    const isWhole = client.random.chance(0.5);
    const settings: LogSettings = {
      duplicateWindowSecs: isWhole ? null : client.random.whole(1, 5),
      retentionMaxAgeSecs: isWhole ? null : (client.random.pick([null, 3, 10]) ?? null),
      retentionMaxBytes: isWhole ? null : (client.random.pick([null, 60]) ?? null),
    };
    const name = `log-${this.#creations}`;
    this.#command(client, process, { kind: "create-log", name, namespace: "default", settings }, 1, (ended) => {
      const answer = answerOf(ended);
      if (answer?.kind === "create-log") {
        const { logId } = answer.log;
        this.#logs = [...this.#logs, { name, logId, lastSequence: 0, isWhole, isDeleted: false }].slice(-LOGS);
      }
    });
  }

  /** The last log stays known after its deletion, and takes no more events. */
  #delete(client: EventLogClient, process: Process, log: KnownLog): void {
    log.isDeleted = true;
    this.#command(client, process, { kind: "delete-log", logId: log.logId }, 1, () => {
      const isKept = client.random.chance(0.3);
      this.#logs = this.#logs.filter((one) => one !== log || isKept);
    });
  }

  #append(client: EventLogClient, process: Process, log: KnownLog): void {
    const { random, id } = client;
    client.appends++;
    const isBatch = random.chance(0.35);
    const count = isBatch ? random.whole(1, BATCH_MAX) : 1;
    const name = `${id}-${client.appends}`;
    const own = isBatch || random.chance(0.6) ? `c${name}` : null;
    const idempotencyKey = random.chance(0.4) ? `k${random.below(SHARED_KEYS)}` : own;
    const texts = Array.from({ length: count }, (_, at) => `${name}.${at}`);
    const last = BigInt(log.lastSequence);
    const expectedSequence = random.chance(0.35) ? random.pick([last, last, last + 1n, 2n ** 53n + last]) : undefined;
    const guard = random.chance(0.3) ? this.options.guardOf(random) : undefined;
    const operation: AppendEvents = {
      kind: "append-events",
      logId: log.logId,
      payloads: Payloads.of(texts.map((text) => Buffer.from(text))),
      isBatch,
      idempotencyKey,
      expectedSequence,
      ...(guard === undefined ? {} : { guard: { ...guard, namespace: "default" } }),
    };
    const open = log.isWhole ? this.#history.begin(`e${id}`, appendOperationOf(log, operation, texts)) : null;
    // Without a key, a repeated call could be executed twice.
    const callsMax = idempotencyKey === null ? 1 : CALLS_MAX;
    this.#command(
      client,
      process,
      operation,
      1,
      (ended) => {
        const answer = answerOf(ended);
        if (answer?.kind === "append-events") {
          log.lastSequence = Math.max(log.lastSequence, answer.lastSequence);
          this.#acknowledged.push({ logId: log.logId, sequences: [...sequencesOf(answer.runs)] });
        }
        if (ended === "not-executed") {
          this.#refused.push(...texts);
        }
        const told = appendAnswerOf(ended);
        if (told?.kind === "conflict") {
          log.lastSequence = Math.max(log.lastSequence, told.lastSequence);
        }
        if (told !== null) {
          open?.end({ kind: "ok", answer: told });
        } else {
          open?.end({ kind: ended === null ? "unknown" : "not-executed" });
        }
      },
      callsMax,
    );
  }

  #read(client: EventLogClient, process: Process, log: KnownLog): void {
    const { calls, accounts } = this.options;
    const fromSequence = client.random.chance(0.5) ? 1 : Math.max(1, log.lastSequence - 5);
    const operation = { kind: "read", log: log.name, fromSequence } as const;
    const open = log.isWhole ? this.#history.begin(`e${client.id}`, operation) : null;
    const what = `read from ${fromSequence} of ${log.name}`;
    const admission = accounts.beginRead(client.principal, what);
    calls.call<CoordinationError | EventLogAnswer>(
      process,
      what,
      this.limitMs(client.random),
      (deadlineMs, done) => {
        process.replica.readBarrier(deadlineMs, (error) => {
          done(error ?? admission(process) ?? readAnswer(process, log, fromSequence));
        });
      },
      (answer) => {
        if (answer === null || (answer instanceof CoordinationError && answer.reason !== "LOG_NOT_FOUND")) {
          this.otherFailures += isRevocation(answer) ? 0 : 1;
          client.home = null;
        }
        if (answer === null || answer instanceof CoordinationError) {
          open?.end({ kind: "not-executed" });
        } else {
          open?.end({ kind: "ok", answer });
        }
        client.isBusy = false;
      },
    );
  }

  /**
   * Sends the command, again if its outcome is unknown; `onEnd` gets the outcome of all calls together. An earlier call
   * may have been executed, or may still be on its way: so most refusals do not decide the outcome.
   */
  #command(
    client: EventLogClient,
    process: Process,
    operation: ClientOperation,
    count: number,
    onEnd: (ended: Ended) => void,
    callsMax = 1,
    isUncertain = false,
  ): void {
    const { accounts, calls, heap, trace } = this.options;
    const name = `${operation.kind} of e${client.id}`;
    const end = (ended: Ended): void => {
      onEnd(ended);
      client.isBusy = false;
    };
    const limitMs = this.limitMs(client.random);
    trace.record(
      process.memberId,
      "is asked to",
      [Math.round(limitMs)],
      () => `${name} within ${Math.round(limitMs)} ms`,
    );
    const onAnswered = accounts.beginChange(client.principal, name);
    const command = { principal: client.principal, request: null, operation };
    calls.call<{ readonly error: CoordinationError | null; readonly outcome: Outcome | null }>(
      process,
      name,
      limitMs,
      (deadlineMs, done) => {
        process.replica.propose(command, deadlineMs, (error, outcome) => done({ error, outcome }));
      },
      (answer) => {
        const word = answer?.error?.reason ?? (answer === null ? "lost" : "done");
        trace.record(process.memberId, "has answered", [word.length], () => `${name}: ${word}`);
        if (answer?.outcome != null) {
          onAnswered(answer.outcome.answer);
        }
        if (isRevocation(answer?.outcome?.answer)) {
          end(isUncertain ? null : "not-executed");
          return;
        }
        if (answer?.outcome != null) {
          end(isUncertain && !isFinal(operation, answer.outcome) ? null : answer.outcome);
          return;
        }
        this.otherFailures++;
        client.home = null;
        const isUnknown = isUncertain || answer?.error?.outcome !== "not-executed";
        if (count >= callsMax || this.isStopped) {
          end(isUnknown ? null : "not-executed");
          return;
        }
        heap.after(client.random.exponential(AGAIN_MS), () => {
          const next = this.processFor(client);
          if (next === null) {
            end(isUnknown ? null : "not-executed");
          } else {
            this.#command(client, next, operation, count + 1, onEnd, callsMax, isUnknown);
          }
        });
      },
    );
  }
}

function answerOf(ended: Ended) {
  return ended === null || ended === "not-executed" || ended.answer instanceof CoordinationError ? null : ended.answer;
}

/**
 * Whether no other call with the same key can have another outcome, earlier or later: a hold that has ended stays so,
 * and so does a sequence that was passed.
 */
function isFinal(operation: ClientOperation, { answer }: Outcome): boolean {
  if (!(answer instanceof CoordinationError)) {
    return true;
  }
  const expected = operation.kind === "append-events" ? operation.expectedSequence : undefined;
  const isPassed = expected !== undefined && BigInt(answer.details.get("last_sequence") ?? 0) > expected;
  return answer.reason === "FENCED" || (answer.reason === "SEQUENCE_CONFLICT" && isPassed);
}

function appendOperationOf({ name }: KnownLog, operation: AppendEvents, texts: readonly string[]): EventLogOperation {
  const { idempotencyKey, isBatch, expectedSequence } = operation;
  const events = texts.map((payload, at) => ({ key: isBatch ? `${idempotencyKey}:${at}` : idempotencyKey, payload }));
  const expected = expectedSequence === undefined ? {} : { expectedSequence: String(expectedSequence) };
  return { kind: "append", log: name, events, ...expected };
}

/** What the outcome shows of the log; null for a refusal that shows nothing of it. */
function appendAnswerOf(ended: Ended): EventLogAnswer | null {
  if (ended === null || ended === "not-executed") {
    return null;
  }
  const { answer, replayed } = ended;
  if (answer instanceof CoordinationError) {
    const lastSequence = Number(answer.details.get("last_sequence"));
    return answer.reason === "SEQUENCE_CONFLICT" ? { kind: "conflict", lastSequence } : null;
  }
  return answer.kind === "append-events"
    ? { kind: "appended", sequences: [...sequencesOf(answer.runs)], replayed: replayed === "yes" }
    : null;
}

function readAnswer(
  { replica: { state } }: Process,
  { logId }: KnownLog,
  fromSequence: number,
): EventLogAnswer | CoordinationError {
  try {
    const log = describeLog(state, logId);
    const events = readEvents(state, log, fromSequence, READ).map(({ sequence, idempotencyKey, payload }) => {
      return { sequence, key: idempotencyKey, payload: Buffer.from(payload).toString() };
    });
    return { kind: "events", events, lastSequence: log.lastSequence };
  } catch (error) {
    if (error instanceof CoordinationError) {
      return error;
    }
    throw error;
  }
}
