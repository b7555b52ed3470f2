/**
 * Transactions in JSON: a TransactRequest, as members take it over HTTP. Names may be those of the contract or in lower
 * camel case, numbers may be texts, and bytes are base64, or text in a field with `_text` or `Text` behind its name.
 */

import type { TransactionCondition, TransactionOperation } from "../../index.ts";
import { UsageError } from "../errors/index.ts";
import type { TransactionParts } from "./txn-text.ts";

/** The fields of bytes, in all messages of a transaction. */
const BYTES: ReadonlySet<string> = new Set(["value", "data", "payloads"]);
/** The fields that are texts. All other texts that are whole numbers are numbers. */
const TEXTS: ReadonlySet<string> = new Set([
  "namespace",
  "key",
  "prefix",
  "startAfter",
  "lockName",
  "logId",
  "regionId",
  "idempotencyKey",
  "operator",
]);
const INTEGER = /^-?[0-9]+$/;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Reads a transaction. The SDK checks its fields.
 *
 * @throws UsageError if it is no JSON, has another namespace, or bytes that are not base64.
 */
export function readTransaction(text: string, namespace: string): TransactionParts & { readonly guard: unknown } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`the transaction is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { namespace: named = namespace, compare, success, failure, guard, ...others } = converted(json, "") as Fields;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new UsageError(`the transaction has no ${unknown}; it has namespace, compare, success, failure and guard`);
  }
  if (named !== namespace) {
    throw new UsageError(`the transaction names the namespace ${String(named)}, and the command ${namespace}`);
  }
  return {
    compare: listOf<TransactionCondition>("compare", compare),
    success: listOf<TransactionOperation>("success", success),
    failure: listOf<TransactionOperation>("failure", failure),
    conditions: [],
    guard,
  };
}

type Fields = Readonly<Record<string, unknown>>;

function listOf<Element>(name: string, list: unknown = []): readonly Element[] {
  if (!Array.isArray(list)) {
    throw new UsageError(`${name} must be a list`);
  }
  return list;
}

/** The value of a field in the form of the SDK. */
function converted(value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    return value.map((element) => converted(element, name));
  }
  if (value === null) {
    return undefined;
  }
  if (typeof value === "string" && BYTES.has(name)) {
    return BASE64.test(value) ? Buffer.from(value, "base64") : refuse(`${name} must be base64; a text is ${name}_text`);
  }
  if (typeof value === "string" && !TEXTS.has(name) && INTEGER.test(value)) {
    return Number(value);
  }
  if (typeof value !== "object") {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([field, content]) => {
      const camel = field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const bytes = camel.replace(/Text$/, "");
      // A text is its UTF-8 form.
      return bytes !== camel && BYTES.has(bytes) ? [bytes, content] : [camel, converted(content, camel)];
    }),
  );
}

function refuse(message: string): never {
  throw new UsageError(message);
}
