/**
 * A naive model of transactions, written from their contract: maps that are copied before each transaction, and put back
 * if it fails. Specs and the rules of the simulator compare the replicated state machine with it. Answers are words, so
 * that they can be compared.
 *
 * It does not know the sizes that transactions are limited to.
 */

import {
  type AppendEvents,
  type Condition,
  CoordinationError,
  type Guard,
  type Operator,
  type Outcome,
  type StoredKey,
  sequencesOf,
  type Transact,
  type TransactedOperation,
  type TransactedResult,
  type WatchedChange,
} from "../src/state/index.ts";
import { Refused } from "./lock-model.ts";

export interface TransactedModelKey {
  readonly value: string;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  /** A cluster tick; 0 = it does not expire. */
  readonly deadlineMs: number;
  readonly sessionId?: number;
}

/** Everything that a transaction may read or change. Names of keys are text, ids are hexadecimal digits. */
export interface TransactedState {
  revision: number;
  readonly keys: Map<string, TransactedModelKey>;
  /** The revision of the last change of a key, which need not exist any more. */
  readonly changedAt: Map<string, number>;
  readonly regions: Map<string, { bytes: Uint8Array; version: number }>;
  /** The event of sequence 1 comes first. */
  readonly logs: Map<string, { readonly payloads: string[]; readonly keys: Map<string, number> }>;
  /** Holds of locks, by token. */
  readonly holds: Map<number, { readonly lock: string; readonly subject: string; readonly isExclusive: boolean }>;
  /** Ids of live sessions; absent = there are none. */
  readonly sessions?: ReadonlySet<number>;
}

export interface TransactionModelLimits {
  /** Keys of the namespace. */
  readonly keysMax: number;
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const MS_PER_SECOND = 1_000;

export class TransactionModel {
  readonly #limits: TransactionModelLimits;
  state: TransactedState;
  tickMs = 1_000;
  /** The changes of the history before this revision are dropped. */
  compactRevision = 0;
  /** The changes of the last transaction, in order, in words. */
  changes: string[] = [];
  #before: TransactedState;
  #released: number[] = [];

  constructor(limits: TransactionModelLimits, state: Partial<TransactedState> = {}) {
    this.#limits = limits;
    const nothing = { keys: new Map(), changedAt: new Map(), regions: new Map(), logs: new Map(), holds: new Map() };
    this.state = { revision: 1, ...nothing, ...state };
    this.#before = this.state;
  }

  /** Runs the transaction of the subject. Returns its answer, or the reason of the refusal, in words. */
  transact(asked: Transact, subject: string): string {
    this.#before = structuredClone(this.state);
    this.changes = [];
    this.#released = [];
    try {
      if (asked.guard !== undefined && !this.isLive(asked.guard)) {
        throw new Refused("FENCED");
      }
      const words = this.#run(asked, subject);
      for (const token of this.#released) {
        this.state.holds.delete(token);
        this.#change(`released ${token}`);
      }
      return `${words} at ${this.state.revision}`;
    } catch (error) {
      if (!(error instanceof Refused)) {
        throw error;
      }
      this.state = this.#before;
      this.changes = [];
      return error.message;
    }
  }

  /** Whether the hold that the guard names is live, and excludes all others. */
  isLive({ lockName, rw, fencingToken }: Guard): boolean {
    const hold = this.state.holds.get(fencingToken);
    return hold !== undefined && hold.lock === lockOf(lockName, rw) && hold.isExclusive;
  }

  /** Puts a key, as a call of its own does. */
  put(key: string, value: string, ttlSeconds: number): void {
    this.#before = structuredClone(this.state);
    this.#put(key, value, this.#deadlineOf(ttlSeconds));
  }

  /** Removes a key, as a call of its own or its expiry does. */
  remove(key: string): void {
    this.#before = structuredClone(this.state);
    this.#remove(key, this.state.keys.get(key) as TransactedModelKey);
  }

  #run(asked: Transact, subject: string): string {
    const failed = asked.conditions.findIndex((condition) => !this.#isTrue(condition));
    const operations = failed === -1 ? asked.success : asked.failure;
    const results = operations.map((operation) => this.#operate(operation, subject));
    return `${failed === -1 ? "succeeded" : `failed at ${failed}`} [${results.join("; ")}]`;
  }

  #isTrue(condition: Condition): boolean {
    const { keys, logs, changedAt } = this.state;
    switch (condition.about) {
      case "key-number": {
        const key = keys.get(textOf(condition.key));
        const numbers = {
          exists: key === undefined ? 0 : 1,
          "mod-revision": key?.modRevision ?? 0,
          "create-revision": key?.createRevision ?? 0,
          version: key?.version ?? 0,
          session: key?.sessionId ?? 0,
        };
        return isInOrder(numbers[condition.of] - condition.number, condition.operator);
      }
      case "key-value": {
        const key = keys.get(textOf(condition.key));
        return key === undefined
          ? condition.operator === "!="
          : isInOrder(Buffer.compare(Buffer.from(key.value), condition.value), condition.operator);
      }
      case "prefix": {
        const { unchangedSince } = condition;
        const prefix = textOf(condition.prefix);
        // Its own changes do not count.
        const isUnchanged = [...changedAt].every(([key]) => {
          return !key.startsWith(prefix) || (this.#before.changedAt.get(key) ?? 0) <= unchangedSince;
        });
        return isUnchanged && unchangedSince >= this.compactRevision - 1;
      }
      case "hold":
        return this.isLive(condition);
      case "log": {
        const log = logs.get(condition.logId.toHex());
        if (log === undefined) {
          throw new Refused("LOG_NOT_FOUND");
        }
        return isInOrder(log.payloads.length - condition.lastSequence, condition.operator);
      }
      case "session":
        return this.state.sessions?.has(condition.sessionId) === true;
    }
  }

  #operate(operation: TransactedOperation, subject: string): string {
    const { keys, regions } = this.state;
    switch (operation.kind) {
      case "put-key": {
        const key = textOf(operation.key);
        const before = keys.get(key);
        requireRevision(operation.expectedModRevision, before);
        this.#put(key, textOf(operation.value), this.#deadlineOf(operation.ttlSeconds));
        return `put ${before === undefined} ${operation.returnPrevious ? wordsOf(key, before) : "-"}`;
      }
      case "remove-key": {
        const key = textOf(operation.key);
        const before = keys.get(key);
        if (before === undefined && !operation.mayBeMissing) {
          throw new Refused("KEY_NOT_FOUND");
        }
        requireRevision(operation.expectedModRevision, before);
        if (before !== undefined) {
          this.#remove(key, before);
        }
        return `removed ${before !== undefined} ${operation.returnPrevious ? wordsOf(key, before) : "-"}`;
      }
      case "delete-keys": {
        const gone = this.#keysFrom(textOf(operation.prefix));
        for (const [key, before] of gone) {
          this.#remove(key, before);
        }
        return `deleted ${gone.length}`;
      }
      case "touch-key": {
        const key = textOf(operation.key);
        const before = keys.get(key);
        if (before === undefined) {
          throw new Refused("KEY_NOT_FOUND");
        }
        const deadlineMs = this.#deadlineOf(operation.ttlSeconds);
        keys.set(key, { ...before, deadlineMs });
        return `touched until ${deadlineMs}`;
      }
      case "increment-key": {
        const key = textOf(operation.key);
        const before = keys.get(key);
        const sum = numberIn(before?.value ?? "0") + operation.delta;
        if (sum < INT64_MIN || sum > INT64_MAX) {
          throw new Refused("NUMBER_OVERFLOW");
        }
        this.#put(key, String(sum), before?.deadlineMs ?? this.#deadlineOf(operation.ttlSeconds));
        return `incremented to ${sum} ${before === undefined}`;
      }
      case "read-key": {
        const key = textOf(operation.key);
        return `read ${wordsOf(key, keys.get(key))}`;
      }
      case "list-keys": {
        const all = this.#keysFrom(textOf(operation.prefix)).filter(([key]) => isAbove(key, textOf(operation.after)));
        const page = all.slice(0, operation.entriesMax);
        const items = page.map(([key, one]) => wordsOf(key, operation.keysOnly ? { ...one, value: "" } : one));
        return `listed ${items.join(", ")} more ${all.length > page.length}`;
      }
      case "write-memory": {
        const region = this.#regionOf(operation.regionId);
        const { offset, data, expectedVersion } = operation;
        if (expectedVersion !== undefined && expectedVersion !== region.version) {
          throw new Refused("VERSION_MISMATCH");
        }
        requireWithin(region.bytes, offset, data.length);
        const bytes = region.bytes.slice();
        bytes.set(data, offset);
        regions.set(operation.regionId.toHex(), { bytes, version: region.version + 1 });
        this.#takeRevision();
        return `written ${region.version + 1}`;
      }
      case "read-memory": {
        const { bytes, version } = this.#regionOf(operation.regionId);
        requireWithin(bytes, operation.offset, operation.length);
        return `read ${bytes.slice(operation.offset, operation.offset + operation.length).toHex()} of ${version}`;
      }
      case "append-events":
        return this.#append(operation);
      case "release-lock": {
        const { name, rw, fencingToken } = operation;
        const hold = this.state.holds.get(fencingToken);
        const isOwn = hold?.lock === lockOf(name, rw) && hold.subject === subject;
        if (!isOwn || this.#released.includes(fencingToken)) {
          throw new Refused("NOT_LOCK_HOLDER");
        }
        this.#released.push(fencingToken);
        return "released";
      }
      case "transact":
        return this.#run(operation, subject);
    }
  }

  #append({ logId, payloads, idempotencyKey, isBatch, expectedSequence }: AppendEvents): string {
    const log = this.state.logs.get(logId.toHex());
    if (log === undefined) {
      throw new Refused("LOG_NOT_FOUND");
    }
    const events = [...payloads].map((payload, at) => {
      const key = isBatch ? `${idempotencyKey}:${at}` : idempotencyKey;
      return { payload: textOf(payload), key, known: key === null ? undefined : log.keys.get(key) };
    });
    const last = log.payloads.length;
    const isNew = events.some(({ known }) => known === undefined);
    if (isNew && expectedSequence !== undefined && expectedSequence !== BigInt(last)) {
      throw new Refused("SEQUENCE_CONFLICT");
    }
    const sequences = events.map(({ payload, key, known }) => {
      const sequence = known ?? log.payloads.push(payload);
      if (key !== null) {
        log.keys.set(key, sequence);
      }
      return sequence;
    });
    return `appended ${sequences.join()} last ${Math.max(...sequences)}`;
  }

  #put(key: string, value: string, deadlineMs: number): void {
    const { keys, changedAt } = this.state;
    const before = keys.get(key);
    if (before === undefined && keys.size >= this.#limits.keysMax) {
      throw new Refused("QUOTA");
    }
    const revision = this.#change(`put ${key}=${value}, before ${before?.value ?? "nothing"}`);
    const createRevision = before?.createRevision ?? revision;
    keys.set(key, { value, createRevision, modRevision: revision, version: (before?.version ?? 0) + 1, deadlineMs });
    changedAt.set(key, revision);
  }

  #remove(key: string, { value }: TransactedModelKey): void {
    this.state.keys.delete(key);
    this.state.changedAt.set(key, this.#change(`delete ${key}, before ${value}`));
  }

  #change(words: string): number {
    this.changes.push(words);
    return this.#takeRevision();
  }

  /** All changes are at one revision. */
  #takeRevision(): number {
    this.state.revision = this.#before.revision + 1;
    return this.state.revision;
  }

  #regionOf(regionId: Uint8Array): { readonly bytes: Uint8Array; readonly version: number } {
    const region = this.state.regions.get(regionId.toHex());
    if (region === undefined) {
      throw new Refused("REGION_NOT_FOUND");
    }
    return region;
  }

  /** The keys with the prefix, in the order of their bytes. */
  #keysFrom(prefix: string): [string, TransactedModelKey][] {
    const found = [...this.state.keys].filter(([key]) => key.startsWith(prefix));
    return found.sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  }

  #deadlineOf(ttlSeconds: number): number {
    return ttlSeconds === 0 ? 0 : this.tickMs + ttlSeconds * MS_PER_SECOND;
  }
}

/** The name of a lock among those of both kinds. */
export function lockOf(name: string, rw: boolean): string {
  return `${rw ? "read-write" : "exclusive"} ${name}`;
}

/** The state machine's answer to a transaction in the words of the model. */
export function transactionWords({ answer }: Outcome): string {
  if (answer instanceof CoordinationError) {
    return answer.reason;
  }
  return answer.kind === "transact" ? `${resultWords(answer)} at ${answer.revision}` : answer.kind;
}

/** A change of the history in the words of the model. */
export function changeWords(change: WatchedChange): string {
  if (change.about === "lock") {
    return `${change.kind} ${change.token}`;
  }
  const { kind, current, previous } = change;
  const [name, value] = [textOf(current.key), textOf(current.value)];
  const before = `before ${previous === null ? "nothing" : textOf(previous.value)}`;
  return kind === "put" ? `put ${name}=${value}, ${before}` : `${kind} ${name}, ${before}`;
}

function resultWords(result: TransactedResult): string {
  switch (result.kind) {
    case "put-key":
      return `put ${result.created} ${previousWords(result.previous)}`;
    case "remove-key":
      return `removed ${result.removed} ${previousWords(result.previous)}`;
    case "delete-keys":
      return `deleted ${result.deletedKeys}`;
    case "touch-key":
      return `touched until ${result.deadlineMs}`;
    case "increment-key":
      return `incremented to ${result.value} ${result.created}`;
    case "read-key":
      return `read ${storedWords(result.current)}`;
    case "list-keys":
      return `listed ${result.keys.map(storedWords).join(", ")} more ${result.more}`;
    case "write-memory":
      return `written ${result.version}`;
    case "read-memory":
      return `read ${result.data.toHex()} of ${result.version}`;
    case "append-events":
      return `appended ${[...sequencesOf(result.runs)].join()} last ${result.lastSequence}`;
    case "release-lock":
      return "released";
    case "transact": {
      const { failedCondition, results } = result;
      const how = failedCondition === null ? "succeeded" : `failed at ${failedCondition}`;
      return `${how} [${results.map(resultWords).join("; ")}]`;
    }
  }
}

/** A previous key that was not requested looks like one that did not exist. */
function previousWords(previous: StoredKey | null): string {
  return previous === null ? "-" : storedWords(previous);
}

function storedWords(stored: StoredKey | null): string {
  return stored === null ? "-" : wordsOf(textOf(stored.key), { ...stored, value: textOf(stored.value) });
}

function wordsOf(name: string, key: TransactedModelKey | undefined): string {
  if (key === undefined) {
    return "-";
  }
  const { value, createRevision, modRevision, version, deadlineMs } = key;
  return `${name}=${value}@${modRevision} of ${createRevision} v${version} until ${deadlineMs}`;
}

function requireRevision(expected: number | undefined, key: TransactedModelKey | undefined): void {
  if (expected !== undefined && expected !== (key?.modRevision ?? 0)) {
    throw new Refused("REVISION_MISMATCH");
  }
}

function requireWithin(bytes: Uint8Array, offset: number, length: number): void {
  if (offset + length > bytes.length) {
    throw new Refused("MEMORY_BOUNDS");
  }
}

/** Raises NOT_A_NUMBER unless the text is the one way to write the number. */
function numberIn(value: string): bigint {
  const number = /^-?[0-9]+$/.test(value) ? BigInt(value) : null;
  if (number === null || String(number) !== value || number < INT64_MIN || number > INT64_MAX) {
    throw new Refused("NOT_A_NUMBER");
  }
  return number;
}

function isInOrder(order: number, operator: Operator): boolean {
  return { "=": order === 0, "!=": order !== 0, "<": order < 0, ">": order > 0 }[operator];
}

function isAbove(key: string, other: string): boolean {
  return Buffer.compare(Buffer.from(key), Buffer.from(other)) > 0;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
