/** Transactions for the entries of the tables: requests with some of their fields, and what they have done. */

import { type NestedTransactionResult, TransactRequest, type TransactResponse } from "@quoin/proto";
import { expect } from "chai";
import { transact } from "./operations.ts";
import type { Reason } from "./reasons.ts";
import type { RefusalDetails, TestContext } from "./test-context.ts";

/** The fields that matter; all others have their defaults. */
export type TransactFields = Parameters<typeof TransactRequest.fromPartial>[0];
export type OperationFields = NonNullable<TransactFields["success"]>[number];
export type CompareFields = NonNullable<TransactFields["compare"]>[number];

/** The request with these fields, in the namespace of the run unless they have another one. */
export function transaction({ namespace }: TestContext, fields: TransactFields): TransactRequest {
  return TransactRequest.fromPartial({ namespace, ...fields });
}

/** Runs the operations at the member under test, without comparisons. The call must succeed. */
export function committed(
  context: TestContext,
  success: OperationFields[],
  fields: TransactFields = {},
): Promise<TransactResponse> {
  return context.ask(transact, transaction(context, { success, ...fields }));
}

/**
 * Requires that the member refuses the transaction for the reason, and that the refusal names this operation or
 * comparison; undefined = none.
 */
export async function refusesTransaction(
  context: TestContext,
  fields: TransactFields,
  reason: Reason,
  operation?: string,
  details: RefusalDetails = {},
): Promise<ReadonlyMap<string, string>> {
  const answer = await context.refuses(transact, transaction(context, fields), reason, details);
  const metadata = answer.details?.metadata ?? new Map();
  expect(metadata.get("operation"), answer.message).to.equal(operation);
  return metadata;
}

/** The results, each with the one field that it has. */
export function resultsOf({ results }: Pick<NestedTransactionResult, "results">): object[] {
  return results.map((result) => Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined)));
}
