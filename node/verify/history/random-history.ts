/**
 * Random concurrent histories that are correct by construction: one real sequence of keys executes each operation at a
 * moment between its start and its end.
 */

import type { KeyAnswer, KeyOperation, OperationOutcome, RecordedOperation } from "./history.ts";
import { execute, type KeyState } from "./key-model.ts";
import { isWrite, shownBy, valueWrittenBy } from "./shown-revisions.ts";

export interface RandomHistoryOptions {
  readonly clients: number;
  readonly keys: number;
  readonly operationsPerClient: number;
  /** Percentage of operations whose answer is lost. */
  readonly unknownPercent: number;
  /** Percentage of writes of values with a TTL. */
  readonly ttlPercent?: number;
}

interface Planned {
  readonly id: number;
  readonly client: string;
  readonly key: string;
  readonly startMs: number;
  /** The time of execution; infinity = never. */
  readonly atMs: number;
  readonly endMs: number;
  readonly outcome: OperationOutcome["kind"];
  /** The TTL if it writes a value; null = none. */
  readonly ttlMs: number | null;
  /** When the cluster notices the expiry; infinity = never. */
  readonly expiryMs: number;
  /** Whether the answer shows the content before. */
  readonly returnsPrevious: boolean;
  operation: KeyOperation | null;
  answer: KeyAnswer | null;
}

type Content = { readonly value: string; readonly modRevision: number };

const NOT_EXECUTED_PERCENT = 3;
/** Longest duration of an operation, and longest pause of a client between two, in units of time. */
const DURATION_MAX = 40;
const GAP_MAX = 10;
/** How long after its start an operation of unknown outcome may be executed. */
const LATE_MAX = 600;
const TTL_MAX = 60;
/** How long a key may outlive its TTL. */
export const RANDOM_EXPIRY_LATE_MS = 20;

/** @param random whole numbers in [0, bound). */
export function randomHistory(random: (bound: number) => number, options: RandomHistoryOptions): RecordedOperation[] {
  const plans = plan(random, options);
  const life = new HistoryExecution(random);
  const moments = plans.flatMap((planned) => [
    { ms: planned.startMs, happen: () => life.start(planned) },
    { ms: planned.atMs, happen: () => life.execute(planned) },
    { ms: planned.expiryMs, happen: () => life.expire(planned) },
    { ms: planned.endMs, happen: () => life.end(planned) },
  ]);
  moments.sort((a, b) => a.ms - b.ms);
  for (const { ms, happen } of moments) {
    if (Number.isFinite(ms)) {
      happen();
    }
  }
  return plans.map(({ id, client, startMs, endMs, outcome, operation, answer }) => ({
    id,
    client,
    operation: operation as KeyOperation,
    startMs,
    endMs,
    outcome: outcome === "ok" ? { kind: "ok", answer: answer as KeyAnswer } : { kind: outcome },
  }));
}

function plan(random: (bound: number) => number, options: RandomHistoryOptions): Planned[] {
  const plans: Omit<Planned, "id">[] = [];
  for (let client = 0; client < options.clients; client++) {
    let nowMs = random(GAP_MAX);
    for (let count = 0; count < options.operationsPerClient; count++) {
      const startMs = nowMs;
      const durationMs = 2 + random(DURATION_MAX);
      const dice = random(100);
      const outcome =
        dice < options.unknownPercent
          ? "unknown"
          : dice < options.unknownPercent + NOT_EXECUTED_PERCENT
            ? "not-executed"
            : "ok";
      const atMs = momentOf(random, outcome, startMs, durationMs);
      const ttlMs = random(100) < (options.ttlPercent ?? 0) ? 1 + random(TTL_MAX) : null;
      plans.push({
        client: `client-${client}`,
        key: `key-${random(options.keys)}`,
        startMs,
        atMs,
        endMs: outcome === "unknown" ? Number.POSITIVE_INFINITY : startMs + durationMs,
        outcome,
        ttlMs,
        expiryMs: ttlMs === null ? Number.POSITIVE_INFINITY : atMs + ttlMs + random(RANDOM_EXPIRY_LATE_MS - 1),
        returnsPrevious: random(4) === 0,
        operation: null,
        answer: null,
      });
      nowMs += durationMs + random(GAP_MAX);
    }
  }
  // No two events share a moment, so their order is certain.
  return plans
    .sort((a, b) => a.startMs - b.startMs)
    .map((planned, id) => {
      const shareMs = (id + 1) / (plans.length + 2);
      // An expiry falls between the moments of other events.
      const expiryMs = planned.expiryMs + shareMs + 1 / (2 * plans.length + 4);
      return { ...planned, id, atMs: planned.atMs + shareMs, expiryMs };
    });
}

function momentOf(
  random: (bound: number) => number,
  outcome: OperationOutcome["kind"],
  startMs: number,
  durationMs: number,
): number {
  switch (outcome) {
    case "ok":
      return startMs + random(durationMs - 1);
    case "not-executed":
      return Number.POSITIVE_INFINITY;
    case "unknown":
      return random(2) === 0 ? Number.POSITIVE_INFINITY : startMs + random(LATE_MAX);
  }
}

/** The keys themselves, and what the clients know of them. */
class HistoryExecution {
  readonly #random: (bound: number) => number;
  readonly #states = new Map<string, KeyState>();
  readonly #learned = new Map<string, Content>();
  #revision = 1;

  constructor(random: (bound: number) => number) {
    this.#random = random;
  }

  /** The client chooses its request by what it knows now. */
  start(planned: Planned): void {
    const { key, id, ttlMs } = planned;
    const value = `value-${id}`;
    const life = ttlMs === null ? {} : { ttlMs };
    const dice = this.#random(10);
    if (dice < 4) {
      planned.operation = { kind: "get", key };
    } else if (dice < 7) {
      planned.operation = { kind: "put", key, value, ...life };
    } else if (dice < 8) {
      planned.operation = { kind: "delete", key };
    } else {
      planned.operation = { kind: "compare-and-swap", key, newValue: value, ...life, ...this.#expectation(key) };
    }
  }

  execute(planned: Planned): void {
    const operation = planned.operation as KeyOperation;
    const before = this.#states.get(operation.key) ?? null;
    const after = execute(before, operation, this.#revision + 1);
    if (after !== before) {
      this.#revision++;
      this.#states.set(operation.key, after);
    }
    planned.answer = answerOf(operation, before, after, this.#revision, planned.returnsPrevious);
  }

  /** Ends the value that the operation wrote, if it is still there. */
  expire({ operation }: Planned): void {
    const value = operation === null ? null : valueWrittenBy(operation);
    if (operation !== null && value !== null && this.#states.get(operation.key)?.value === value) {
      this.#revision++;
      this.#states.set(operation.key, null);
    }
  }

  end({ operation, answer, outcome }: Planned): void {
    if (operation === null || answer === null || outcome !== "ok") {
      return;
    }
    const shown = shownBy(answer);
    if (shown !== null) {
      this.#learned.set(operation.key, { value: shown.value, modRevision: shown.modRevision });
    } else if (isWrite(answer) && "revision" in answer && operation.kind === "put") {
      this.#learned.set(operation.key, { value: operation.value, modRevision: answer.revision });
    }
  }

  #expectation(key: string): { readonly expectedValue?: string; readonly expectedModRevision?: number } {
    const learned = this.#learned.get(key);
    const dice = this.#random(4);
    if (learned === undefined || dice === 0) {
      return this.#random(2) === 0 ? {} : { expectedModRevision: 0 };
    }
    return dice === 1
      ? { expectedValue: learned.value }
      : dice === 2
        ? { expectedModRevision: learned.modRevision }
        : { expectedValue: learned.value, expectedModRevision: learned.modRevision };
  }
}

function answerOf(
  operation: KeyOperation,
  before: KeyState,
  after: KeyState,
  revision: number,
  returnsPrevious: boolean,
): KeyAnswer {
  switch (operation.kind) {
    case "get":
      return before === null ? { kind: "absent" } : { kind: "found", ...before, revision };
    case "put":
      return { kind: "put", created: before === null, revision, ...(returnsPrevious ? { previous: before } : {}) };
    case "delete":
      if (before === null) {
        return { kind: "absent" };
      }
      return { kind: "deleted", revision, ...(returnsPrevious ? { previous: before } : {}) };
    case "compare-and-swap": {
      if (after !== before) {
        return { kind: "swapped", revision };
      }
      const current = before === null ? null : { value: before.value, modRevision: before.modRevision };
      return { kind: "not-swapped", current, revision };
    }
  }
}
