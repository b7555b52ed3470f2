/** The messages of conditions and operations, and the results in an answer. */

import {
  Compare_Operator,
  type CompareKey,
  type CompareLog,
  type Compare as CompareMessage,
  type ComparePrefix,
  type Guard as GuardMessage,
  type NestedTransactionResult,
  type TransactionOperation as OperationMessage,
  type TransactionResult as ResultMessage,
} from "@quoin/proto";
import { type Guard, toPlain } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { oneOf } from "../options/index.ts";
import type {
  ComparedKey,
  Comparison,
  ConditionFields,
  KeyExpectation,
  LogCondition,
  OperationFields,
  PrefixCondition,
  TransactionOperation,
} from "./operations.ts";
import {
  BYTES,
  COUNT,
  COUNT_32,
  FLAG,
  type FormsOf,
  listForm,
  messageForm,
  OPTIONAL_BYTES,
  OPTIONAL_COUNT,
  OPTIONAL_FLAG,
  oneOfForm,
  SUMMAND,
  TEXT,
  type WireForm,
} from "./wire-form.ts";

const OPERATOR: WireForm<Comparison, Compare_Operator> = {
  rule: oneOf("EQUAL", "NOT_EQUAL", "LESS", "GREATER"),
  toWire: (given = "EQUAL") => Compare_Operator[given],
};

const HOLD = messageForm<Guard, GuardMessage>({ lockName: TEXT, fencingToken: COUNT, rw: FLAG }, [
  "lockName",
  "fencingToken",
]);

/** Of what is expected of a key, exactly one field must be given, which the service checks. */
type AnyKeyCondition = ComparedKey & { readonly [Name in keyof KeyExpectation]?: KeyExpectation[Name] | undefined };

/** A condition. */
export const CONDITION = oneOfForm<ConditionFields, CompareMessage>({
  key: messageForm<AnyKeyCondition, CompareKey>(
    {
      key: TEXT,
      operator: OPERATOR,
      exists: OPTIONAL_FLAG,
      value: OPTIONAL_BYTES,
      modRevision: OPTIONAL_COUNT,
      createRevision: OPTIONAL_COUNT,
      version: OPTIONAL_COUNT,
      sessionId: OPTIONAL_COUNT,
    },
    ["key"],
  ),
  prefix: messageForm<PrefixCondition, ComparePrefix>({ prefix: TEXT, unchangedSince: COUNT }, [
    "prefix",
    "unchangedSince",
  ]),
  hold: HOLD,
  log: messageForm<LogCondition, CompareLog>({ logId: TEXT, operator: OPERATOR, lastSequence: COUNT }, [
    "logId",
    "lastSequence",
  ]),
  sessionId: COUNT,
});

type Messages = { readonly [Name in keyof OperationFields]: Exclude<OperationMessage[Name], undefined> };

function fieldsOf<Name extends keyof OperationFields>(
  forms: FormsOf<OperationFields[Name], Messages[Name]>,
  required: readonly (keyof OperationFields[Name] & string)[],
): WireForm<OperationFields[Name], Messages[Name]> {
  return messageForm(forms, required);
}

/** An operation. */
export const OPERATION: WireForm<TransactionOperation, OperationMessage> = oneOfForm<OperationFields, OperationMessage>(
  {
    put: fieldsOf<"put">(
      {
        key: TEXT,
        value: BYTES,
        ttlSeconds: COUNT,
        expectedModRevision: OPTIONAL_COUNT,
        returnPrevious: FLAG,
        sessionId: COUNT,
      },
      ["key", "value"],
    ),
    delete: fieldsOf<"delete">(
      { key: TEXT, expectedModRevision: OPTIONAL_COUNT, returnPrevious: FLAG, missingOk: FLAG },
      ["key"],
    ),
    deletePrefix: fieldsOf<"deletePrefix">({ prefix: TEXT }, ["prefix"]),
    touch: fieldsOf<"touch">({ key: TEXT, ttlSeconds: COUNT }, ["key", "ttlSeconds"]),
    increment: fieldsOf<"increment">({ key: TEXT, delta: SUMMAND, ttlSeconds: COUNT }, ["key", "delta"]),
    get: fieldsOf<"get">({ key: TEXT }, ["key"]),
    list: fieldsOf<"list">({ prefix: TEXT, limit: COUNT_32, startAfter: TEXT, keysOnly: FLAG }, ["prefix"]),
    writeMemory: fieldsOf<"writeMemory">(
      { regionId: TEXT, offset: COUNT, data: BYTES, expectedVersion: OPTIONAL_COUNT },
      ["regionId", "offset", "data"],
    ),
    readMemory: fieldsOf<"readMemory">({ regionId: TEXT, offset: COUNT, length: COUNT }, [
      "regionId",
      "offset",
      "length",
    ]),
    append: fieldsOf<"append">(
      { logId: TEXT, payloads: listForm(BYTES), idempotencyKey: TEXT, expectedSequence: OPTIONAL_COUNT },
      ["logId", "payloads"],
    ),
    release: HOLD,
    // Transactions contain operations, which may be transactions.
    transaction: { rule: (value, path) => NESTED.rule(value, path), toWire: (given) => NESTED.toWire(given) },
  },
);

const NESTED = fieldsOf<"transaction">(
  { compare: listForm(CONDITION), success: listForm(OPERATION), failure: listForm(OPERATION) },
  [],
);

/** What a transaction has done, in the form of the SDK; the caller knows the type by its operations. */
export function branchResult(
  { succeeded, failedCompare, results }: NestedTransactionResult,
  valuesOmitted: boolean,
): object {
  return { succeeded, failedCompare, results: results.map((result) => operationResult(result, valuesOmitted)) };
}

function operationResult(message: ResultMessage, valuesOmitted: boolean): unknown {
  if (message.transaction !== undefined) {
    return branchResult(message.transaction, valuesOmitted);
  }
  // A sum may be too large for a number.
  if (message.increment !== undefined) {
    return message.increment;
  }
  const result = Object.values(message).find((value) => value !== undefined);
  if (result === undefined) {
    throw new QuoinError({ code: "INTERNAL", message: "the answer has no result for an operation" });
  }
  const plain: unknown = toPlain(result);
  return valuesOmitted ? withoutBytes(plain) : plain;
}

/** The result with omitted values as undefined, so that callers do not read them as empty ones. */
function withoutBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return undefined;
  }
  if (Array.isArray(value)) {
    return value.map(withoutBytes);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([name, content]) => [name, withoutBytes(content)]));
}
