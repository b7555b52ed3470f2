/**
 * TransactionService: several operations as one change.
 *
 * The request becomes one operation of the state, which decides everything that depends on the state.
 */

import type {
  KeyValue,
  NestedTransaction,
  NestedTransactionResult,
  TransactionOperation,
  TransactionResult,
  TransactRequest,
  TransactResponse,
} from "@quoin/proto";
import { type StoredKey, type TransactedResult, type TransactResult, transactOperation } from "../../state/index.ts";
import type { Call, Reply } from "./call.ts";
import { runMessages } from "./event-log-methods.ts";
import type { Executor } from "./executor.ts";
import { keyValue } from "./key-value-methods.ts";
import { remainingMs } from "./remaining-time.ts";
import { transactField } from "./transaction-fields.ts";

export class TransactionMethods {
  readonly #executor: Executor;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  transact(call: Call, request: TransactRequest, reply: Reply<TransactResponse>): void {
    this.#executor.submit(
      call,
      transactOperation,
      { access: isReadOnly(request) ? "read" : "write", namespace: request.namespace },
      () => transactField(request),
      (result, tickMs, isWhole) => ({
        ...resultMessage(result, tickMs),
        valuesOmitted: !isWhole,
        revision: BigInt(result.revision),
      }),
      reply,
    );
  }
}

/** Whether the request contains only reads. Its fields are not checked yet. */
function isReadOnly({ success, failure }: NestedTransaction): boolean {
  return [success, failure].every((operations) => operations.every(isRead));
}

function isRead({ get, list, readMemory, transaction, ...others }: TransactionOperation): boolean {
  const changes = Object.values(others).some((operation) => operation !== undefined);
  return !changes && (transaction === undefined || isReadOnly(transaction));
}

function resultMessage({ failedCondition, results }: TransactResult, tickMs: number): NestedTransactionResult {
  return {
    succeeded: failedCondition === null,
    failedCompare: failedCondition ?? undefined,
    results: results.map((result) => operationResult(result, tickMs)),
  };
}

function operationResult(result: TransactedResult, tickMs: number): TransactionResult {
  switch (result.kind) {
    case "put-key":
      return { put: { created: result.created, previous: optionalKeyValue(result.previous, tickMs) } };
    case "remove-key":
      return { delete: { deleted: result.removed, previous: optionalKeyValue(result.previous, tickMs) } };
    case "delete-keys":
      return { deletePrefix: { deletedKeys: BigInt(result.deletedKeys) } };
    case "touch-key":
      return { touch: { expiresInMs: remainingMs(result.deadlineMs, tickMs) } };
    case "increment-key":
      return { increment: { value: result.value, created: result.created } };
    case "read-key":
      return { get: { kv: optionalKeyValue(result.current, tickMs) } };
    case "list-keys":
      return { list: { items: result.keys.map((key) => keyValue(key, tickMs)), more: result.more } };
    case "write-memory":
      return { writeMemory: { version: BigInt(result.version) } };
    case "read-memory":
      return { readMemory: { data: result.data, version: BigInt(result.version) } };
    case "append-events":
      return { append: { runs: runMessages(result.runs), lastSequence: BigInt(result.lastSequence) } };
    case "release-lock":
      return { release: {} };
    case "transact":
      return { transaction: resultMessage(result, tickMs) };
  }
}

function optionalKeyValue(stored: StoredKey | null, tickMs: number): KeyValue | undefined {
  return stored === null ? undefined : keyValue(stored, tickMs);
}
