/**
 * Transactions: operations of a namespace as one change. All of them run at one revision, or none does.
 *
 * They run in order, and each sees what the ones before it have changed. A release is checked in its turn and takes
 * effect after the last operation, so that guards of the same transaction still see the hold; the next one in line
 * gets the lock at the next revision. An operation that is refused ends the transaction: nothing is changed, and the refusal
 * names the operation. A transaction may take many turns of the event loop. No reader sees it before it is complete.
 */

import { invariant } from "../../primitives/index.ts";
import {
  AnswerForms,
  type ApplyContext,
  allAtOnce,
  type ClientOperationKind,
  CoordinationError,
  type Field,
  type Hold,
  hashed,
  keyRow,
  type LockName,
  listOf,
  NO_USAGE,
  name,
  nullable,
  operationByContent,
  type Principal,
  type RecordReader,
  recordChanges,
  requireNamespace,
  type StateReader,
  type Steps,
  smallCount,
  tooLarge,
  type UsageCounts,
  VERSION_WITH_TRANSACTIONS,
} from "../core/index.ts";
import { appendEventsOperation, describeLog, logNotFound } from "../event-logs/index.ts";
import {
  deleteKeysOperation,
  incrementKeyOperation,
  listKeysOperation,
  putKeyOperation,
  readKeyOperation,
  removeKeyOperation,
  touchKeyOperation,
} from "../keys/index.ts";
import { checkGuard, endReleased, holdToRelease, optionalGuard, passOn, releaseLockOperation } from "../locks/index.ts";
import { readMemoryOperation, writeMemoryOperation } from "../memory/index.ts";
import { Conditions, condition } from "./conditions.ts";
import type { Transact, TransactedOperation, TransactedResult, TransactResult } from "./transaction-commands.ts";

/** Bytes of all rows that a transaction writes. A touch, or a byte of a region, makes members write a whole row again. */
const WRITTEN_BYTES_MAX = 32 * 1024 * 1024;
/** Rows that a touch counts as before it runs: it is not known how long its value is. */
const TOUCH_ROWS = 16;
/** Bytes of values in an answer: as much as clients allow a message to have by default. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024 - 64 * 1024;
/** Operations decoded between two pauses: about a millisecond of work. */
const STEP_DECODED = 256;
/** Operations that run between two pauses: less than a millisecond of work for most. */
const STEP_OPERATIONS = 16;

type TransactedKind = ClientOperationKind<TransactedOperation>;

const conditions = listOf(condition);
const operations = listOf<TransactedOperation>({
  write: (writer, operation) => {
    const { number, field } = transactedKindOf(operation);
    writer.uint8(number);
    field.write(writer, operation);
  },
  read: readOperation,
});
const results = listOf<TransactedResult>({
  write: (writer, result) => ANSWERS.write(writer, result),
  read: (reader) => ANSWERS.read(reader) as TransactedResult,
});

const transactField: Field<Transact> = {
  write: (writer, { namespace, guard, ...asked }) => {
    name.write(writer, namespace);
    optionalGuard.write(writer, guard);
    conditions.write(writer, asked.conditions);
    operations.write(writer, asked.success);
    operations.write(writer, asked.failure);
  },
  read: (reader) => allAtOnce(readTransact(reader)),
};

/** The same as `transactField.read`, in steps. */
function* readTransact(reader: RecordReader): Steps<Transact> {
  const namespace = name.read(reader);
  const guard = optionalGuard.read(reader);
  const all = conditions.read(reader);
  const success = yield* readOperations(reader);
  const failure = yield* readOperations(reader);
  const asked = { kind: "transact", namespace, conditions: all, success, failure } as const;
  return guard === undefined ? asked : { ...asked, guard };
}

/** The same as `operations.read`, in steps. */
function* readOperations(reader: RecordReader): Steps<readonly TransactedOperation[]> {
  const all: TransactedOperation[] = [];
  for (let left = reader.uint32(); left > 0; left--) {
    all.push(readOperation(reader));
    if (left % STEP_DECODED === 0) {
      yield;
    }
  }
  return all;
}

function readOperation(reader: RecordReader): TransactedOperation {
  const number = reader.uint8();
  const kind = BY_NUMBER.get(number);
  invariant(kind !== undefined, "transactions have operations of known kinds", () => String(number));
  return kind.field.read(reader);
}

export const transactOperation: ClientOperationKind<Transact> = operationByContent<Transact, TransactResult>({
  kind: "transact",
  number: 80,
  // One that only reads needs no more than its reads.
  accessOf: (operation) => (isReadOnly(operation) ? "read" : "write"),
  since: VERSION_WITH_TRANSACTIONS,
  usageOf: (result) => ({ ...sumOfUsage(result.results), requests: 1 }),
  fields: transactField,
  division: { read: readTransact, isHidden: true },
  grows: ({ success, failure }) => success.some(isGrowing) || failure.some(isGrowing),
  rows: (reader, { conditions: all, success, failure }) =>
    all.length + Math.max(rowsOf(reader, success), rowsOf(reader, failure)),
  answer: {
    number: 80,
    fields: { failedCondition: nullable(smallCount), results },
    withoutValues: (answer) => ({ ...answer, results: answer.results.map(withoutValues) }),
  },
  apply: applyTransact,
});

const KINDS = [
  putKeyOperation,
  removeKeyOperation,
  touchKeyOperation,
  readKeyOperation,
  listKeysOperation,
  incrementKeyOperation,
  deleteKeysOperation,
  writeMemoryOperation,
  readMemoryOperation,
  appendEventsOperation,
  releaseLockOperation,
  transactOperation,
] as unknown as readonly TransactedKind[];
const BY_KIND: ReadonlyMap<string, TransactedKind> = new Map(KINDS.map((kind) => [kind.kind, kind]));
const BY_NUMBER: ReadonlyMap<number, TransactedKind> = new Map(KINDS.map((kind) => [kind.number, kind]));
const ANSWERS = new AnswerForms(KINDS.flatMap(({ answer }) => (answer === null ? [] : [answer])));
const USAGE_COUNTS = Object.keys(NO_USAGE) as readonly (keyof UsageCounts)[];
const READS: ReadonlySet<TransactedOperation["kind"]> = new Set(["read-key", "list-keys", "read-memory"]);

function transactedKindOf({ kind }: TransactedOperation): TransactedKind {
  return BY_KIND.get(kind) as TransactedKind;
}

function isGrowing(operation: TransactedOperation): boolean {
  return transactedKindOf(operation).grows(operation);
}

/** Whether nothing in it changes anything. */
function isReadOnly({ success, failure }: Transact): boolean {
  return [success, failure].every((operations) =>
    operations.every((operation) =>
      operation.kind === "transact" ? isReadOnly(operation) : READS.has(operation.kind),
    ),
  );
}

function rowsOf(reader: StateReader, operations: readonly TransactedOperation[]): number {
  const rowsOfOne = (operation: TransactedOperation): number =>
    operation.kind === "touch-key" ? TOUCH_ROWS : transactedKindOf(operation).rows(reader, operation);
  return operations.reduce((sum, operation) => sum + 1 + rowsOfOne(operation), 0);
}

function withoutValues(result: TransactedResult): TransactedResult {
  return ANSWERS.withoutValues(result) as TransactedResult;
}

/** What the operations count as; the transaction is one request. */
function sumOfUsage(all: readonly TransactedResult[]): UsageCounts {
  const sum: { -readonly [Count in keyof UsageCounts]: number } = { ...NO_USAGE };
  for (const result of all) {
    const usage = (BY_KIND.get(result.kind) as TransactedKind).usage(result);
    for (const count of USAGE_COUNTS) {
      sum[count] += usage[count];
    }
  }
  return sum;
}

function* applyTransact(context: ApplyContext, command: Transact, principal: Principal): Steps<TransactResult> {
  const { namespace, guard } = command;
  requireNamespace(context.transaction, namespace);
  checkGuard(context.transaction, namespace, guard);
  const run = new Run(context, namespace, principal);
  const result = yield* context.atOneRevision(namespace, run.whole(command), recordChanges);
  yield* run.passOn();
  return result;
}

/** One transaction while it runs. */
class Run {
  readonly #context: ApplyContext;
  readonly #namespace: string;
  readonly #principal: Principal;
  readonly #conditions: Conditions;
  /** Holds that end with the transaction. */
  readonly #released: { readonly lock: LockName; readonly hold: Hold }[] = [];
  #operations = 0;
  #answerBytes = 0;

  constructor(context: ApplyContext, namespace: string, principal: Principal) {
    this.#context = context;
    this.#namespace = namespace;
    this.#principal = principal;
    this.#conditions = new Conditions(context, namespace);
  }

  *whole(command: Transact): Steps<TransactResult> {
    const result = yield* this.#branch(command, "");
    for (const { lock, hold } of this.#released) {
      endReleased(this.#context, lock, hold);
    }
    return { ...result, revision: this.#context.revision };
  }

  /** Grants the released locks to the requests that are next. */
  *passOn(): Steps<void> {
    for (const { lock } of this.#released) {
      passOn(this.#context, lock);
      yield;
    }
  }

  /** @param path of the transaction in the request, for refusals: empty, or it ends with a dot. */
  *#branch(command: Transact, path: string): Steps<TransactResult> {
    const failedCondition = yield* this.#failedCondition(command, path);
    const [branch, operations] = failedCondition === null ? ["success", command.success] : ["failure", command.failure];
    const all: TransactedResult[] = [];
    for (const [at, operation] of operations.entries()) {
      if (at % STEP_OPERATIONS === 0) {
        this.#readAhead(operations.slice(at, at + STEP_OPERATIONS));
      }
      const place = `${path}${branch}[${at}]`;
      try {
        const result = yield* this.#operation(operation, place);
        this.#countAnswer(result);
        this.#requireWritten();
        all.push(result);
      } catch (error) {
        throw operation.kind === "transact" ? error : placed(error, place);
      }
      this.#operations++;
      if (this.#operations % STEP_OPERATIONS === 0) {
        yield;
      }
    }
    return { kind: "transact", failedCondition, results: all, revision: this.#context.revision };
  }

  #readAhead(operations: readonly TransactedOperation[]): void {
    const keys = operations.flatMap((operation) => ("key" in operation ? [operation.key] : []));
    if (keys.length > 1) {
      this.#context.transaction.readAhead(keys.map((key) => hashed(keyRow(this.#namespace, key))));
    }
  }

  *#failedCondition({ conditions: all }: Transact, path: string): Steps<number | null> {
    for (const [at, one] of all.entries()) {
      try {
        if (!(yield* this.#conditions.isTrue(one, this.#context.revision))) {
          return at;
        }
      } catch (error) {
        throw placed(error, `${path}compare[${at}]`);
      }
      if ((at + 1) % STEP_OPERATIONS === 0) {
        yield;
      }
    }
    return null;
  }

  *#operation(operation: TransactedOperation, place: string): Steps<TransactedResult> {
    const context = this.#context;
    switch (operation.kind) {
      case "transact":
        return yield* this.#branch(operation, `${place}.transaction.`);
      case "release-lock":
        this.#release(holdToRelease(context, operation, this.#principal));
        return { kind: "release-lock", revision: context.revision };
      case "append-events":
        if (describeLog(context.transaction, operation.logId).namespace !== this.#namespace) {
          throw logNotFound(operation.logId);
        }
    }
    const applied = transactedKindOf(operation).apply(context, operation, this.#principal);
    return ("kind" in applied ? applied : yield* applied) as TransactedResult;
  }

  #release(released: { readonly lock: LockName; readonly hold: Hold }): void {
    const { lock, hold } = released;
    const isSame = (other: typeof released): boolean =>
      other.hold.token === hold.token && other.lock.name === lock.name && other.lock.rw === lock.rw;
    if (this.#released.some(isSame)) {
      throw new CoordinationError("NOT_LOCK_HOLDER", `the transaction releases hold ${hold.token} already`);
    }
    this.#released.push(released);
  }

  #countAnswer(result: TransactedResult): void {
    this.#answerBytes += valueBytesOf(result);
    if (this.#answerBytes > ANSWER_BYTES_MAX) {
      const what = `the answer of the transaction has more than ${ANSWER_BYTES_MAX} bytes of values; read less in it`;
      throw tooLarge(what, ANSWER_BYTES_MAX);
    }
  }

  #requireWritten(): void {
    if (this.#context.transaction.savepointBytes > WRITTEN_BYTES_MAX) {
      throw tooLarge(
        `the transaction writes more than ${WRITTEN_BYTES_MAX} bytes of rows; divide it`,
        WRITTEN_BYTES_MAX,
      );
    }
  }
}

/** Bytes of keys and values in the answer. */
function valueBytesOf(result: TransactedResult): number {
  switch (result.kind) {
    case "put-key":
    case "remove-key":
      return sizeOf(result.previous);
    case "read-key":
      return sizeOf(result.current);
    case "list-keys":
      return result.keys.reduce((sum, key) => sum + sizeOf(key), 0);
    case "read-memory":
      return result.data.length;
    default:
      return 0;
  }
}

function sizeOf(key: { readonly key: Uint8Array; readonly value: Uint8Array } | null): number {
  return key === null ? 0 : key.key.length + key.value.length;
}

/** The refusal with the place of what was refused; any other error as it is. */
function placed(error: unknown, place: string): unknown {
  if (!(error instanceof CoordinationError)) {
    return error;
  }
  const details = new Map([...error.details, ["operation", place]]);
  return new CoordinationError(error.reason, `${place}: ${error.message}`, { details });
}
