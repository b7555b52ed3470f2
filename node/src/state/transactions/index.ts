export type {
  Condition,
  HoldCondition,
  KeyNumber,
  KeyNumberCondition,
  KeyValueCondition,
  LogCondition,
  Operator,
  PrefixCondition,
} from "./conditions.ts";
export { transactOperation } from "./transact.ts";
export type { Transact, TransactedOperation, TransactedResult, TransactResult } from "./transaction-commands.ts";
