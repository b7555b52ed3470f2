/** The results of a transaction: for people as rows, for programs with the names of the contract. */

import type { BranchResult, OperationResults, TransactedEntry, TransactionOperation } from "../../index.ts";
import { amountOf, bytesDocument, displayValue, snakeCase } from "../text/index.ts";

/** A transaction whose operations are only known when it runs. */
export type AnyResult = BranchResult<readonly TransactionOperation[], readonly TransactionOperation[]>;

/** Characters of a value that a table shows. */
const SHOWN_CHARACTERS = 60;

const SHOWN: { readonly [Name in keyof OperationResults]: (result: OperationResults[Name]) => string } = {
  put: ({ created }) => (created ? "created" : "overwritten"),
  delete: ({ deleted }) => (deleted ? "deleted" : "did not exist"),
  deletePrefix: ({ deletedKeys }) => `${amountOf(deletedKeys, "key")} deleted`,
  touch: ({ expiresInMs }) => (expiresInMs === 0 ? "does not expire" : `expires in ${Math.ceil(expiresInMs / 1_000)}s`),
  increment: ({ value }) => String(value),
  get: ({ kv }) => (kv === undefined ? "does not exist" : shownValue(kv.value)),
  list: ({ items, more }) => `${amountOf(items.length, "key")}${more ? " and more" : ""}`,
  writeMemory: ({ version }) => `version ${version}`,
  readMemory: ({ data }) => shownValue(data),
  append: ({ lastSequence }) => `sequence ${lastSequence}`,
  release: () => "released",
};

/** A row for each operation that has run, and for each key of a list: the operation, what it is about, its result. */
export function rowsOf(
  result: AnyResult,
  success: readonly TransactionOperation[] = [],
  failure: readonly TransactionOperation[] = [],
): readonly (readonly string[])[] {
  const operations = result.succeeded ? success : failure;
  return result.results.flatMap((one, at) => {
    const [[name, fields] = ["", {}]] = Object.entries(operations[at] ?? {});
    if ("results" in one) {
      const { success: inner, failure: other } = fields as NonNullable<TransactionOperation["transaction"]>;
      return rowsOf(one, inner, other);
    }
    const show = SHOWN[name as keyof OperationResults] as (shown: object) => string;
    const row = [snakeCase(name).replaceAll("_", " "), targetOf(fields), show(one)];
    const items = "items" in one ? one.items : [];
    return [row, ...items.map((item) => ["", ...entryRow(item)])];
  });
}

/** What an operation is about. */
function targetOf(fields: {
  readonly key?: string;
  readonly prefix?: string;
  readonly logId?: string;
  readonly regionId?: string;
  readonly lockName?: string;
}): string {
  const { key, prefix, logId, regionId, lockName } = fields;
  return key ?? prefix ?? logId ?? regionId ?? lockName ?? "";
}

function entryRow({ key, value }: TransactedEntry): readonly string[] {
  return [key, shownValue(value)];
}

/** A value in a table; undefined = the service no longer keeps it. */
function shownValue(value: Uint8Array | undefined): string {
  return value === undefined ? "(not kept)" : displayValue(value, SHOWN_CHARACTERS);
}

/** The document of a result. */
export function resultDocument(
  { succeeded, failedCompare, results }: AnyResult,
  success: readonly TransactionOperation[] = [],
  failure: readonly TransactionOperation[] = [],
): object {
  const operations = succeeded ? success : failure;
  return {
    succeeded,
    ...(failedCompare === undefined ? {} : { failed_compare: failedCompare }),
    results: results.map((result, at) => {
      const [[name, fields] = ["", {}]] = Object.entries(operations[at] ?? {});
      if ("results" in result) {
        const inner = fields as NonNullable<TransactionOperation["transaction"]>;
        return { transaction: resultDocument(result, inner.success, inner.failure) };
      }
      return { [snakeCase(name)]: documentOf(result) };
    }),
  };
}

/** With the names of the contract. Sums are texts: they may be more than a number of JSON holds exactly. */
function documentOf(value: unknown): unknown {
  if (typeof value === "bigint") {
    return String(value);
  }
  if (Array.isArray(value)) {
    return value.map(documentOf);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const fields = Object.entries(value).flatMap(([name, content]): [string, unknown][] => {
    if (content === undefined) {
      return [];
    }
    return content instanceof Uint8Array
      ? Object.entries(bytesDocument(snakeCase(name), content))
      : [[snakeCase(name), documentOf(content)]];
  });
  return Object.fromEntries(fields);
}
