export { type BatchOptions, type BatchPart, type BatchWrite, writeBatch } from "./batch.ts";
export type {
  AppendFields,
  BranchResult,
  Comparison,
  DeleteFields,
  Failed,
  IncrementFields,
  KeyCondition,
  ListFields,
  LogCondition,
  NestedFields,
  OperationFields,
  OperationResults,
  PrefixCondition,
  PutFields,
  ResultOf,
  ResultsOf,
  Succeeded,
  TransactedEntry,
  TransactionCondition,
  TransactionOperation,
  WriteMemoryFields,
} from "./operations.ts";
export {
  OptimisticRunner,
  type OptimisticTransaction,
  type TransactionEntry,
  type TransactOptions,
} from "./optimistic-transaction.ts";
export { Transaction, type TransactionResult } from "./transaction.ts";
