/**
 * Transactions: several operations on one namespace as one change. All of them take effect at one revision, or none.
 *
 * A builder collects conditions and operations, and `commit` sends them as one operation of the client. Attempts have
 * one request id, so the transaction runs once, also if an answer is lost.
 */

import { serviceDefinitions, type TransactRequest } from "@quoin/proto";
import {
  execute,
  type GuardedOptions,
  guardedRules,
  guardField,
  type OperationContext,
  unaryMethod,
} from "../calls/index.ts";
import { badField, optionsCheck, textField } from "../options/index.ts";
import type { Failed, Succeeded, TransactionCondition, TransactionOperation } from "./operations.ts";
import { branchResult, CONDITION, OPERATION } from "./transaction-wire.ts";
import { messageOf } from "./wire-form.ts";

const transactMethod = unaryMethod(serviceDefinitions.TransactionService.transact);
const checkCommit = optionsCheck<GuardedOptions>(guardedRules);

type Operations = readonly TransactionOperation[];

/** What every answer has. */
interface Committed {
  /**
   * True: the values in the results are undefined. This happens only if an earlier attempt has run the transaction, and
   * its answer was larger than 4 KiB.
   */
  readonly valuesOmitted: boolean;
  /** Revision of the transaction. If it has changed nothing, the revision at which it has read. */
  readonly revision: number;
}

/** Answer of commit. Without conditions, the operations of `then` have run. */
export type TransactionResult<
  Then extends Operations,
  Else extends Operations = [],
  IsConditional extends boolean = true,
> = Committed & (Succeeded<Then> | (IsConditional extends true ? Failed<Else> : never));

interface Parts {
  readonly conditions: readonly TransactionCondition[];
  readonly success: Operations;
  readonly failure: Operations;
}

/** A transaction before it is sent. Each method returns a new one. */
export class Transaction<
  Then extends Operations = [],
  Else extends Operations = [],
  IsConditional extends boolean = false,
> {
  readonly namespace: string;
  readonly #context: OperationContext;
  readonly #parts: Parts;

  constructor(
    context: OperationContext,
    namespace: string,
    parts: Parts = { conditions: [], success: [], failure: [] },
  ) {
    this.#context = context;
    this.namespace = textField("namespace", namespace);
    this.#parts = parts;
  }

  /** Adds conditions. All of them must be true for the operations of `then` to run. Errors call them `compare`. */
  if(...conditions: readonly TransactionCondition[]): Transaction<Then, Else, true> {
    return this.#with({ conditions: [...this.#parts.conditions, ...conditions] });
  }

  /** Adds operations that run, in this order, if all conditions are true. Errors call them `success`. */
  // biome-ignore lint/suspicious/noThenProperty: who awaits a transaction gets an error that names `commit`
  then<const Added extends Operations>(...operations: Added): Transaction<[...Then, ...Added], Else, IsConditional> {
    if (operations.some((operation) => typeof operation === "function")) {
      throw badField("success", "must have operations; to send the transaction, await commit()");
    }
    return this.#with({ success: [...this.#parts.success, ...operations] });
  }

  /** Adds operations that run, in this order, if a condition is not true. Errors call them `failure`. */
  else<const Added extends Operations>(...operations: Added): Transaction<Then, [...Else, ...Added], IsConditional> {
    return this.#with({ failure: [...this.#parts.failure, ...operations] });
  }

  /**
   * Runs the transaction. At most 10,000 operations and 10,000 conditions, and 4 MiB in all. A condition that is not
   * true is no error. The error of an operation is that of the whole, and its detail `operation` names the operation,
   * such as `success[3]`.
   *
   * @throws QuoinError those of the operations; ABORTED / FENCED; FAILED_PRECONDITION / NOT_A_NUMBER; OUT_OF_RANGE /
   * NUMBER_OVERFLOW; INVALID_ARGUMENT / TOO_LARGE if more than 10,000 keys or 8 MiB would change, or if the answer has
   * more than about 4 MiB; NOT_FOUND / NAMESPACE_NOT_FOUND.
   */
  async commit(options: GuardedOptions = {}): Promise<TransactionResult<Then, Else, IsConditional>> {
    checkCommit(options, "transaction.commit");
    const { conditions, success, failure } = this.#parts;
    const request: TransactRequest = {
      namespace: this.namespace,
      compare: conditions.map((condition, at) => messageOf(CONDITION, condition, `compare[${at}]`)),
      success: success.map((operation, at) => messageOf(OPERATION, operation, `success[${at}]`)),
      failure: failure.map((operation, at) => messageOf(OPERATION, operation, `failure[${at}]`)),
      guard: guardField(options.guard),
    };
    const { valuesOmitted, revision, ...branch } = (await execute(this.#context, transactMethod, request, options))
      .message;
    const result = { ...branchResult(branch, valuesOmitted), valuesOmitted, revision: Number(revision) };
    return result as unknown as TransactionResult<Then, Else, IsConditional>;
  }

  #with<Changed extends Transaction<Operations, Operations, boolean>>(parts: Partial<Parts>): Changed {
    const changed = new Transaction(this.#context, this.namespace, { ...this.#parts, ...parts });
    return changed as unknown as Changed;
  }
}
