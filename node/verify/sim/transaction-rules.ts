/**
 * The rules of transactions: a naive model executes each of them on what there was before. The answer, the history and
 * everything that a transaction may change must be as in the model, also after one that has failed.
 */

import {
  type Command,
  CoordinationError,
  compactRevisionOf,
  DEFAULT_NAMESPACE,
  describeLock,
  describeLog,
  describeMemory,
  type LockName,
  listKeys,
  readEvents,
  readMemory,
  type StateReader,
  scanHistory,
  type Transact,
} from "../../src/state/index.ts";
import { changeWords, lockOf, type TransactedState, TransactionModel, transactionWords } from "../../test/index.ts";
import { isRevocation } from "./access-rules.ts";
import type { ExecutedCommand, ExecutionObserver } from "./live-execution.ts";
import type { LockRules } from "./lock-rules.ts";
import { must } from "./rule-violation.ts";
import { conditionsIn, operationsIn } from "./transacted.ts";
import type { WatchRules } from "./watch-rules.ts";

/** All keys of transactions have it, in the default namespace, and no other key. */
export const TRANSACTED_PREFIX = "txn-";

const ALL = { entriesMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER, keysOnly: false };
const ALL_EVENTS = { eventsMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER };
const UNLIMITED = { keysMax: Number.POSITIVE_INFINITY };

export class TransactionRules implements ExecutionObserver {
  readonly #locks: Pick<LockRules, "changed">;
  readonly #watches: Pick<WatchRules, "changedAt">;
  /** What there was before the present command; null if it is no transaction. */
  #before: (Partial<TransactedState> & { readonly compactRevision: number }) | null = null;
  #succeeded = 0;
  #failed = 0;
  #refused = 0;

  /**
   * @param locks must see each command first.
   * @param watches must see each command afterwards.
   */
  constructor(locks: Pick<LockRules, "changed">, watches: Pick<WatchRules, "changedAt">) {
    this.#locks = locks;
    this.#watches = watches;
  }

  /** Transactions whose comparisons were true, those of which one was false, and those that were refused. */
  get succeeded(): number {
    return this.#succeeded;
  }

  get failed(): number {
    return this.#failed;
  }

  get refused(): number {
    return this.#refused;
  }

  before({ operation }: Command, state: StateReader): void {
    if (operation.kind === "transact") {
      const changedAt = new Map(this.#watches.changedAt(DEFAULT_NAMESPACE));
      const compactRevision = compactRevisionOf(state, DEFAULT_NAMESPACE);
      this.#before = { ...stateOf(operation, state), changedAt, compactRevision };
    } else {
      this.#before = null;
    }
  }

  after(executed: ExecutedCommand, state: StateReader): void {
    const { index, tickMs, revision, revisionAfter, command, outcome } = executed;
    const { operation, principal } = command;
    if (this.#before === null || operation.kind !== "transact" || principal === null || outcome?.replayed !== "no") {
      return;
    }
    if (isRevocation(outcome.answer)) {
      return;
    }
    const { compactRevision, ...before } = this.#before;
    const model = new TransactionModel(UNLIMITED, { ...before, revision });
    model.tickMs = tickMs;
    model.compactRevision = compactRevision;
    const wanted = model.transact(operation, principal.subject);
    const words = transactionWords(outcome);
    must(words === wanted, "a transaction answers as its operations do, one after the other", () => {
      return `entry ${index}: ${words} instead of ${wanted}`;
    });
    const granted = this.#locks.changed.reduce((sum, one) => sum + one.granted.length, 0);
    must(
      revisionAfter - granted === model.state.revision,
      "a transaction has one revision, if it changes anything",
      () => {
        return `entry ${index}: ${revisionAfter} after ${revision}, with ${granted} grants`;
      },
    );
    const kept = model.changes.length === 0 ? [] : keptAt(state, revision + 1);
    must(
      kept.join("; ") === model.changes.join("; "),
      "S37 the history has the changes of a transaction in one row",
      () => {
        return `entry ${index}: ${kept.join("; ")} instead of ${model.changes.join("; ")}`;
      },
    );
    const [there, expected] = [stateOf(operation, state), model.state].map(contentOf);
    const isRefused = outcome.answer instanceof CoordinationError;
    const rule = isRefused ? "a transaction that fails changes nothing" : "a transaction changes what it says";
    must(there === expected, rule, () => `entry ${index}, ${words}: ${there} instead of ${expected}`);
    this.#count(outcome.answer);
  }

  #count(answer: NonNullable<ExecutedCommand["outcome"]>["answer"]): void {
    if (answer instanceof CoordinationError) {
      this.#refused++;
    } else if (answer.kind === "transact" && answer.failedCondition === null) {
      this.#succeeded++;
    } else {
      this.#failed++;
    }
  }
}

/** The changes of the revision in the history, in words. */
function keptAt(state: StateReader, revision: number): readonly string[] {
  const kept: string[] = [];
  scanHistory(state, revision, revision, ({ changes }) => kept.push(...changes.map(changeWords)) > 0);
  return kept;
}

type Content = Pick<TransactedState, "keys" | "regions" | "logs" | "holds">;

/** Everything that the transaction may read or change. */
function stateOf(operation: Transact, state: StateReader): Content {
  const content: Content = { keys: new Map(), regions: new Map(), logs: new Map(), holds: new Map() };
  for (const { key, value, ...rest } of listKeys(
    state,
    DEFAULT_NAMESPACE,
    Buffer.from(TRANSACTED_PREFIX),
    undefined,
    ALL,
  ).keys) {
    content.keys.set(textOf(key), { value: textOf(value), ...rest });
  }
  for (const one of operationsIn(operation)) {
    if (one.kind === "append-events") {
      addLog(content, state, one.logId);
    } else if (one.kind === "write-memory" || one.kind === "read-memory") {
      addRegion(content, state, one.regionId);
    } else if (one.kind === "release-lock") {
      addLock(content, state, one);
    }
  }
  const guards = operation.guard === undefined ? [] : [operation.guard];
  for (const condition of conditionsIn(operation)) {
    if (condition.about === "log") {
      addLog(content, state, condition.logId);
    } else if (condition.about === "hold") {
      guards.push(condition);
    }
  }
  for (const { lockName, rw } of guards) {
    addLock(content, state, { namespace: DEFAULT_NAMESPACE, name: lockName, rw });
  }
  return content;
}

function addLog({ logs }: Content, state: StateReader, logId: Uint8Array): void {
  const events = readEvents(state, describeLog(state, logId), 0, ALL_EVENTS);
  const keyed = events.filter(({ idempotencyKey }) => idempotencyKey !== null);
  logs.set(logId.toHex(), {
    payloads: events.map(({ payload }) => textOf(payload)),
    keys: new Map(keyed.map(({ idempotencyKey, sequence }) => [String(idempotencyKey), sequence])),
  });
}

function addRegion({ regions }: Content, state: StateReader, regionId: Uint8Array): void {
  const { sizeBytes } = describeMemory(state, DEFAULT_NAMESPACE, regionId);
  const { region, data } = readMemory(state, DEFAULT_NAMESPACE, regionId, 0, sizeBytes);
  regions.set(regionId.toHex(), { bytes: data, version: region.version });
}

function addLock({ holds }: Content, state: StateReader, name: LockName): void {
  for (const { token, subject, mode } of describeLock(state, name).holds) {
    holds.set(token, { lock: lockOf(name.name, name.rw), subject, isExclusive: mode !== "read" });
  }
}

/** In words, without holds: another caller may have got a lock that was released. */
function contentOf({ keys, regions, logs }: Content): string {
  const sorted = [...keys].sort(([one], [other]) => (one < other ? -1 : 1));
  const bytes = [...regions].map(([id, region]) => [id, region.bytes.toHex(), region.version]);
  return JSON.stringify([sorted, bytes, [...logs].map(([id, { payloads }]) => [id, payloads])]);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
