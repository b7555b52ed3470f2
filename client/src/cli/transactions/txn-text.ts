/**
 * Transactions as text, in the form that etcdctl reads: conditions, an empty line, operations if all of them are true,
 * an empty line, and operations if one is not.
 */

import type { Comparison, TransactionCondition, TransactionOperation } from "../../index.ts";
import { UsageError } from "../errors/index.ts";
import { parseDurationSeconds, parsePositiveCount, parseSummand } from "../text/index.ts";

/** The parts of a transaction. */
export interface TransactionParts {
  readonly compare: readonly TransactionCondition[];
  readonly success: readonly TransactionOperation[];
  readonly failure: readonly TransactionOperation[];
  /** The conditions as they were written; none if that was JSON. */
  readonly conditions: readonly string[];
}

/** A text in double quotes with the escapes of JSON, a text in single quotes as it is, or a word without quotes. */
const WORD = String.raw`"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'()]+`;
const WORDS = new RegExp(String.raw`\s*(${WORD})(?:\s+|$)`, "y");
const CONDITION = new RegExp(String.raw`^([a-z]+)\s*\(\s*(${WORD})\s*\)\s*(!=|=|<|>)\s*(${WORD})$`);

const OPERATORS: ReadonlyMap<string, Comparison> = new Map([
  ["=", "EQUAL"],
  ["!=", "NOT_EQUAL"],
  ["<", "LESS"],
  [">", "GREATER"],
]);

type KeyNumber = "modRevision" | "createRevision" | "version";

/** What a condition compares, also by its short name. */
const NUMBERS: ReadonlyMap<string, KeyNumber> = new Map([
  ["mod", "modRevision"],
  ["m", "modRevision"],
  ["create", "createRevision"],
  ["c", "createRevision"],
  ["version", "version"],
  ["ver", "version"],
]);
const VALUES: ReadonlySet<string> = new Set(["value", "val"]);

/** What an operation is made of: its arguments, and its options by name; a flag has an empty text. */
type Make = (args: readonly [string, string?], options: ReadonlyMap<string, string>) => TransactionOperation;

interface OperationForm {
  readonly usage: string;
  /** The least and the most arguments. */
  readonly args: readonly [number, number];
  readonly options: readonly string[];
  readonly make: Make;
}

const VALUE_OPTIONS: ReadonlySet<string> = new Set(["--ttl", "--limit"]);
const OPERATIONS: ReadonlyMap<string, OperationForm> = new Map<string, OperationForm>([
  [
    "put",
    {
      usage: "put KEY VALUE [--ttl 5m]",
      args: [2, 2],
      options: ["--ttl"],
      make: ([key, value = ""], options) => ({
        put: { key, value, ttlSeconds: parsed(options, "--ttl", parseDurationSeconds) },
      }),
    },
  ],
  [
    "get",
    {
      usage: "get KEY, or get PREFIX --prefix [--limit N] [--keys-only]",
      args: [1, 1],
      options: ["--prefix", "--limit", "--keys-only"],
      make: ([name], options) =>
        options.has("--prefix")
          ? {
              list: {
                prefix: name,
                limit: parsed(options, "--limit", parsePositiveCount),
                keysOnly: options.has("--keys-only"),
              },
            }
          : { get: { key: name } },
    },
  ],
  [
    "del",
    {
      usage: "del KEY, or del PREFIX --prefix",
      args: [1, 1],
      options: ["--prefix"],
      make: ([name], options) =>
        options.has("--prefix") ? { deletePrefix: { prefix: name } } : { delete: { key: name, missingOk: true } },
    },
  ],
  [
    "increment",
    {
      usage: "increment KEY [DELTA]",
      args: [1, 2],
      options: [],
      make: ([key, delta = "1"]) => ({ increment: { key, delta: parseSummand(delta) } }),
    },
  ],
]);

/** @throws UsageError that names the line. */
export function parseTransaction(text: string): TransactionParts {
  const compare: TransactionCondition[] = [];
  const conditions: string[] = [];
  const branches: readonly [TransactionOperation[], TransactionOperation[]] = [[], []];
  let part = 0;
  for (const [at, line] of text.trimEnd().split("\n").entries()) {
    const content = line.trim();
    try {
      if (content === "") {
        part += 1;
      } else if (part === 0) {
        compare.push(parseCondition(content));
        conditions.push(content);
      } else {
        const branch = branches[part - 1] ?? refuse("the parts are conditions, operations, and operations else");
        branch.push(parseOperation(content));
      }
    } catch (error) {
      throw new UsageError(`line ${at + 1}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const [success, failure] = branches;
  if (compare.length === 0 && failure.length > 0) {
    throw new UsageError(
      "there are no conditions, so the operations after the second empty line would never run",
      "without conditions, begin the text with one empty line",
    );
  }
  return { compare, success, failure, conditions };
}

function parseCondition(line: string): TransactionCondition {
  const [, what = "", key = "", sign = "", expected = ""] = CONDITION.exec(line) ?? [];
  const number = NUMBERS.get(what);
  const compared = { key: unquoted(key), operator: OPERATORS.get(sign) };
  const value = unquoted(expected);
  if (VALUES.has(what)) {
    return { key: { ...compared, value } };
  }
  if (number === undefined) {
    return refuse(
      'a condition is such as mod("key") > "0"; the others are create, version and value, with =, !=, < and >',
    );
  }
  if (!/^[0-9]+$/.test(value)) {
    return refuse(`${what} is compared with a whole number, not with ${JSON.stringify(value)}`);
  }
  const count = Number(value);
  switch (number) {
    case "modRevision":
      return { key: { ...compared, modRevision: count } };
    case "createRevision":
      return { key: { ...compared, createRevision: count } };
    case "version":
      return { key: { ...compared, version: count } };
  }
}

function parseOperation(line: string): TransactionOperation {
  const [name = "", ...words] = wordsOf(line);
  const form = OPERATIONS.get(name);
  if (form === undefined) {
    return refuse(`an operation is one of ${[...OPERATIONS.keys()].join(", ")}; in JSON there are others`);
  }
  const args: string[] = [];
  const options = new Map<string, string>();
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, option, given] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (option === undefined) {
      args.push(unquoted(word));
    } else if (form.options.includes(option)) {
      options.set(option, unquoted(given ?? (VALUE_OPTIONS.has(option) ? (words.shift() ?? refuse(form.usage)) : "")));
    } else {
      return refuse(`there is no ${option}: ${form.usage}`);
    }
  }
  const [least, most] = form.args;
  if (args.length < least || args.length > most) {
    return refuse(`give ${form.usage}`);
  }
  return form.make(args as [string, string?], options);
}

/** The words of a line, with their quotes. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  WORDS.lastIndex = 0;
  while (WORDS.lastIndex < line.length) {
    const [, word] = WORDS.exec(line) ?? refuse("a quotation mark or a parenthesis is in the wrong place");
    words.push(word as string);
  }
  return words;
}

function unquoted(word: string): string {
  if (word.startsWith("'")) {
    return word.slice(1, -1);
  }
  if (!word.startsWith('"')) {
    return word;
  }
  try {
    return JSON.parse(word);
  } catch {
    return refuse(`${word} has an escape that JSON does not know`);
  }
}

function parsed<Value>(options: ReadonlyMap<string, string>, name: string, parse: (text: string) => Value) {
  const text = options.get(name);
  return text === undefined ? undefined : parse(text);
}

function refuse(message: string): never {
  throw new Error(message);
}
