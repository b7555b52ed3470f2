/**
 * Optimistic transactions: a function reads, decides and writes, and runs again if another client was faster.
 *
 * Reads go to the service, and are remembered with their revisions. Writes are kept until the function ends. Then one
 * transaction compares what was read, and writes. So what takes effect is as if nothing else had happened between the
 * first read and the commit. The reads of a run may have different revisions: a run that has seen a mixture is not
 * committed.
 */

import { type GuardedOptions, guardedRulesWithoutRequestId, type OperationContext } from "../calls/index.ts";
import { isQuoinError, QuoinError } from "../errors/index.ts";
import type { KeyValueClient } from "../kv/index.ts";
import { badField, bytesField, callback, optionsCheck, textField, whole32 } from "../options/index.ts";
import { allPages } from "../pages/index.ts";
import { backoffMs } from "../transport/index.ts";
import type { PutFields, TransactionCondition, TransactionOperation } from "./operations.ts";
import { Transaction } from "./transaction.ts";

/** Options of transact. */
export interface TransactOptions extends Omit<GuardedOptions, "requestId"> {
  /** The most runs of the function, at least 1. Default 10. */
  readonly maxAttempts?: number | undefined;
  /** How long all runs together may take, in milliseconds, more than 0. Default 5,000. */
  readonly timeoutMs?: number | undefined;
}

/** A key of a list. */
export interface TransactionEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

const ATTEMPTS_DEFAULT = 10;
const PAGE_SIZE = 1_000;

const checkOptions = optionsCheck<TransactOptions>({ ...guardedRulesWithoutRequestId, maxAttempts: whole32 });

/** Runs functions as optimistic transactions. */
export class OptimisticRunner {
  readonly #context: OperationContext;
  readonly #keyValue: KeyValueClient;

  constructor(context: OperationContext, keyValue: KeyValueClient) {
    this.#context = context;
    this.#keyValue = keyValue;
  }

  /** Runs the function until its reads hold at the commit; see `Client.transact`. */
  async run<Value>(
    namespace: string,
    work: (transaction: OptimisticTransaction) => Promise<Value> | Value,
    options: TransactOptions,
  ): Promise<Value> {
    checkOptions(options, "transact");
    callback(work, "work");
    const { maxAttempts = ATTEMPTS_DEFAULT, timeoutMs = this.#context.timeoutMs, ...call } = options;
    if (maxAttempts < 1) {
      throw badField("maxAttempts", `must be 1 or more, not ${maxAttempts}`);
    }
    const deadlineMs = this.#context.runtime.monotonicMs() + timeoutMs;
    const parts = { context: this.#context, keyValue: this.#keyValue, namespace, deadlineMs, call };
    for (let attempt = 1; ; attempt += 1) {
      const transaction = new OptimisticTransaction(parts);
      const value = await work(transaction);
      const changed = await transaction[COMMIT]();
      if (changed === undefined) {
        return value;
      }
      const pauseMs = backoffMs(attempt, this.#context.runtime.random());
      if (attempt >= maxAttempts || pauseMs >= deadlineMs - this.#context.runtime.monotonicMs()) {
        throw conflict(attempt, changed);
      }
      await this.#pause(pauseMs, options.signal);
    }
  }

  /** Ends early when the client is closed: the next operation then fails for that reason. */
  async #pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { runtime, pool } = this.#context;
    try {
      await runtime.sleep(durationMs, signal === undefined ? pool.closing : AbortSignal.any([signal, pool.closing]));
    } catch (thrown) {
      if (signal?.aborted === true) {
        const cause: unknown = signal.reason;
        const message = "the transaction was cancelled";
        throw new QuoinError({ code: "CANCELLED", outcome: "not-executed", message, cause });
      }
      if (!pool.closed) {
        throw thrown;
      }
    }
  }
}

/** Commits the writes. Only the runner has this name. */
const COMMIT = Symbol("commit");

interface RunParts {
  readonly context: OperationContext;
  readonly keyValue: KeyValueClient;
  readonly namespace: string;
  readonly deadlineMs: number;
  readonly call: Omit<TransactOptions, "timeoutMs" | "maxAttempts">;
}

/** The values of keys. */
type Values = ReadonlyMap<string, Uint8Array>;

/** One run of the function: it reads, and collects writes. Afterwards it can do neither. */
export class OptimisticTransaction {
  readonly #parts: RunParts;
  readonly #keys = new Map<string, Promise<Uint8Array | undefined>>();
  readonly #prefixes = new Map<string, Promise<Values>>();
  /** What the read keys and prefixes were. Reads that have failed have no place here. */
  readonly #conditions: TransactionCondition[] = [];
  /** The last write of each key. */
  readonly #writes = new Map<string, TransactionOperation>();
  readonly #appends: TransactionOperation[] = [];
  #isOver = false;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /**
   * The value of a key; undefined = it does not exist. A key that this run has written has the written value. A key is
   * read once: later reads in the same run have the same value.
   */
  async get(key: string): Promise<Uint8Array | undefined> {
    this.#assertRunning();
    textField("key", key);
    const written = this.#writes.get(key);
    if (written !== undefined) {
      return writtenValue(written);
    }
    let read = this.#keys.get(key);
    if (read === undefined) {
      read = this.#readKey(key);
      this.#keys.set(key, read);
    }
    return read;
  }

  /**
   * All keys with a prefix, in the order of their UTF-8 bytes, with the writes of this run. The transaction is not
   * committed if another client changes, creates or deletes any key with the prefix. So list few keys that seldom
   * change: what the service cannot tell, after 4,000 changes of the cluster, counts as changed.
   */
  async list(prefix: string): Promise<readonly TransactionEntry[]> {
    this.#assertRunning();
    textField("prefix", prefix);
    let read = this.#prefixes.get(prefix);
    if (read === undefined) {
      read = this.#readPrefix(prefix);
      this.#prefixes.set(prefix, read);
    }
    const values = new Map(await read);
    for (const [key, operation] of this.#writes) {
      const value = writtenValue(operation);
      if (value === undefined) {
        values.delete(key);
      } else if (key.startsWith(prefix)) {
        values.set(key, value);
      }
    }
    return [...values].map(([key, value]) => ({ key, value })).sort(byBytes);
  }

  /** Creates or overwrites a key at the commit. A later write of the same key replaces this one. */
  put(key: string, value: string | Uint8Array, options: Pick<PutFields, "ttlSeconds" | "sessionId"> = {}): void {
    this.#assertRunning();
    // A copy: the caller may use its bytes again.
    const bytes = bytesField("value", value).slice();
    this.#writes.set(textField("key", key), { put: { ...options, key, value: bytes } });
  }

  /** Deletes a key at the commit. One that does not exist is no error. */
  delete(key: string): void {
    this.#assertRunning();
    this.#writes.set(textField("key", key), { delete: { key, missingOk: true } });
  }

  /**
   * Appends an event to a log of the namespace at the commit.
   *
   * @param logId the id, not the name.
   * @param options `key`: the idempotency key of the event; default: none.
   */
  append(logId: string, payload: string | Uint8Array, options: { readonly key?: string | undefined } = {}): void {
    this.#assertRunning();
    const payloads = [bytesField("payload", payload).slice()];
    this.#appends.push({ append: { logId: textField("logId", logId), payloads, idempotencyKey: options.key } });
  }

  /** What another client has changed; undefined = nothing, and the writes have taken effect. */
  async [COMMIT](): Promise<TransactionCondition | undefined> {
    this.#isOver = true;
    const operations = [...this.#writes.values(), ...this.#appends];
    if (this.#conditions.length === 0 && operations.length === 0) {
      return undefined;
    }
    const { context, namespace, call } = this.#parts;
    const transaction = new Transaction(context, namespace).if(...this.#conditions).then(...operations);
    const { failedCompare } = await transaction.commit({ ...call, timeoutMs: this.#remainingMs() });
    return failedCompare === undefined ? undefined : this.#conditions[failedCompare];
  }

  #assertRunning(): void {
    if (this.#isOver) {
      throw badField("transaction", "has ended: await everything in the function");
    }
  }

  #remainingMs(): number {
    const remainingMs = this.#parts.deadlineMs - this.#parts.context.runtime.monotonicMs();
    if (remainingMs <= 0) {
      const message = "no time was left for the transaction";
      throw new QuoinError({ code: "DEADLINE_EXCEEDED", reason: "DEADLINE", outcome: "not-executed", message });
    }
    return remainingMs;
  }

  async #readKey(key: string): Promise<Uint8Array | undefined> {
    for (const [prefix, listed] of this.#prefixes) {
      if (key.startsWith(prefix)) {
        // The condition on the prefix holds for the key, too.
        return (await listed).get(key);
      }
    }
    const { keyValue, namespace } = this.#parts;
    const read = await keyValue.get(namespace, key, this.#readOptions()).catch((error: unknown) => {
      if (isQuoinError(error, "KEY_NOT_FOUND")) {
        return undefined;
      }
      throw error;
    });
    this.#conditions.push({ key: { key, modRevision: read?.modRevision ?? 0 } });
    return read?.value;
  }

  async #readPrefix(prefix: string): Promise<Values> {
    const { keyValue, namespace } = this.#parts;
    const values = new Map<string, Uint8Array>();
    let unchangedSince: number | undefined;
    for await (const { items, revision } of allPages((pageToken) =>
      keyValue.list(namespace, { ...this.#readOptions(), prefix, pageSize: PAGE_SIZE, pageToken }),
    )) {
      // A change between two pages shows at the commit.
      unchangedSince ??= revision;
      for (const { key, value } of items) {
        values.set(key, value);
      }
    }
    this.#conditions.push({ prefix: { prefix, unchangedSince: unchangedSince as number } });
    return values;
  }

  #readOptions(): { timeoutMs: number; signal: AbortSignal | undefined; traceparent: string | undefined } {
    const { signal, traceparent } = this.#parts.call;
    return { timeoutMs: this.#remainingMs(), signal, traceparent };
  }
}

/** The value that a write gives to its key; undefined = it deletes it. */
function writtenValue({ put }: TransactionOperation): Uint8Array | undefined {
  return put === undefined ? undefined : bytesField("value", put.value);
}

function byBytes(one: TransactionEntry, other: TransactionEntry): number {
  return Buffer.compare(Buffer.from(one.key), Buffer.from(other.key));
}

function conflict(attempts: number, { key, prefix }: TransactionCondition): QuoinError {
  const changed = key === undefined ? `keys with the prefix ${prefix?.prefix}` : `the key ${key.key}`;
  const message = `other clients changed ${changed} in the last of ${attempts} attempts of the transaction`;
  const details = new Map([["attempts", String(attempts)]]);
  return new QuoinError({ code: "ABORTED", reason: "TRANSACTION_CONFLICT", outcome: "not-executed", message, details });
}
