/** What a command has done: a transaction has done several things, any other command one. */

import type {
  Command,
  Condition,
  CoordinationError,
  Outcome,
  Result,
  Transact,
  TransactedOperation,
  TransactResult,
} from "../../src/state/index.ts";

/** An executed operation and its result. */
export interface Executed {
  readonly operation: Command["operation"] | TransactedOperation;
  readonly answer: Result | CoordinationError | null;
}

/** The operations that the transaction has executed, in their order, with those of nested transactions in their place. */
export function executedIn(operation: Command["operation"], answer: Outcome["answer"] | null): readonly Executed[] {
  if (operation.kind !== "transact") {
    return [{ operation, answer }];
  }
  return answer !== null && "kind" in answer && answer.kind === "transact" ? partsOf(operation, answer) : [];
}

/** The answer of the execution; null for a retry. */
export function firstAnswerOf(outcome: Outcome | null): Outcome["answer"] | null {
  return outcome?.replayed === "no" ? outcome.answer : null;
}

/** All operations of a transaction that may be executed. */
export function operationsIn({ success, failure }: Transact): readonly TransactedOperation[] {
  return [...success, ...failure].flatMap((one) => (one.kind === "transact" ? operationsIn(one) : [one]));
}

/** All conditions of a transaction, with those of nested transactions. */
export function conditionsIn({ conditions, success, failure }: Transact): readonly Condition[] {
  return [
    ...conditions,
    ...[...success, ...failure].flatMap((one) => (one.kind === "transact" ? conditionsIn(one) : [])),
  ];
}

function partsOf({ success, failure }: Transact, { failedCondition, results }: TransactResult): Executed[] {
  const operations = failedCondition === null ? success : failure;
  return operations.flatMap((operation, at) => {
    const answer = results[at] ?? null;
    return operation.kind === "transact" && answer?.kind === "transact"
      ? partsOf(operation, answer)
      : [{ operation, answer }];
  });
}
