/** What a transaction asks and answers. */

import type { AppendEvents, AppendEventsResult } from "../event-logs/index.ts";
import type {
  DeleteKeys,
  DeleteKeysResult,
  IncrementKey,
  IncrementKeyResult,
  ListKeys,
  ListKeysResult,
  PutKey,
  PutKeyResult,
  ReadKey,
  ReadKeyResult,
  RemoveKey,
  RemoveKeyResult,
  TouchKey,
  TouchKeyResult,
} from "../keys/index.ts";
import type { Guard, ReleaseLock, ReleaseLockResult } from "../locks/index.ts";
import type { ReadMemory, ReadMemoryResult, WriteMemory, WriteMemoryResult } from "../memory/index.ts";
import type { Condition } from "./conditions.ts";

declare module "../core/results.ts" {
  interface StoredResults {
    readonly transact: TransactResult;
  }
}

/** Several operations as one change, if all conditions are true, else others. */
export interface Transact {
  readonly kind: "transact";
  readonly namespace: string;
  readonly conditions: readonly Condition[];
  /** What runs if all conditions are true, in this order. All operations are in the same namespace. */
  readonly success: readonly TransactedOperation[];
  /** What runs else. */
  readonly failure: readonly TransactedOperation[];
  /** The hold that must be live for the whole transaction. */
  readonly guard?: Guard;
}

/** An operation within a transaction. */
export type TransactedOperation =
  | PutKey
  | RemoveKey
  | TouchKey
  | ReadKey
  | ListKeys
  | IncrementKey
  | DeleteKeys
  | WriteMemory
  | ReadMemory
  | AppendEvents
  | ReleaseLock
  | Transact;

export type TransactedResult =
  | PutKeyResult
  | RemoveKeyResult
  | TouchKeyResult
  | ReadKeyResult
  | ListKeysResult
  | IncrementKeyResult
  | DeleteKeysResult
  | WriteMemoryResult
  | ReadMemoryResult
  | AppendEventsResult
  | ReleaseLockResult
  | TransactResult;

export interface TransactResult {
  readonly kind: "transact";
  /** Position of the first condition that was not true; null = all were, and `success` has run. */
  readonly failedCondition: number | null;
  /** One for each operation that has run, in order. */
  readonly results: readonly TransactedResult[];
  readonly revision: number;
}
