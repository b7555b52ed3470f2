/** `quoinctl txn` */

import type { Guard } from "../../index.ts";
import { GUARD_OPTIONS, guardOf, option, parseNamespaceArgument, readValue } from "../arguments/index.ts";
import { EXIT_CODES, UsageError } from "../errors/index.ts";
import { firstCommand, type Session } from "../session/index.ts";
import { decodeText } from "../text/index.ts";
import { readTransaction } from "./txn-json.ts";
import { resultDocument, rowsOf } from "./txn-result.ts";
import { parseTransaction } from "./txn-text.ts";

/** More than any request: base64 and names make JSON longer. */
const TEXT_BYTES_MAX = 16 * 1_024 * 1_024;

const AFTER_HELP = `
The text has three parts, with an empty line between them: conditions, operations that run if all of them are true, and
operations that run else. Without conditions, the text begins with an empty line. A condition compares mod, create,
version or value of a key by =, !=, < or >. An operation is put KEY VALUE [--ttl 5m], get KEY, get PREFIX --prefix, del
KEY, del PREFIX --prefix, or increment KEY [DELTA]:

  mod("config/color") > "0"

  put config/color "dark blue"
  increment config/changes

  get config/color

A text that begins with { is the request in JSON, with all conditions and operations of the interface:

  {"compare": [{"key": {"key": "job", "exists": false}}],
   "success": [{"put": {"key": "job", "value_text": "mine"}}]}

All of it takes effect as one change, or nothing does. If a condition is not true, the exit code is 4. Examples:

  quoinctl txn default --file change.txt
  quoinctl txn default -o json < request.json`;

/** The command. */
export const TRANSACTION = firstCommand("<NAMESPACE>", {
  options: {
    file: option("<FILE>", "take the transaction from a file (default: the standard input)"),
    ...GUARD_OPTIONS,
  },
  help: AFTER_HELP,
  run: async (session, target, options) => {
    const namespace = parseNamespaceArgument(target);
    const text = await readText(session, options.file);
    const isJson = text.trimStart().startsWith("{");
    const read = isJson ? readTransaction(text, namespace) : { ...parseTransaction(text), guard: undefined };
    const { compare, success, failure, conditions } = read;
    // The SDK checks the guard of the text.
    const guard = guardOf(options) ?? (read.guard as Guard | undefined);
    const result = await session.withClient((client) =>
      client
        .transaction(namespace)
        .if(...compare)
        .then(...success)
        .else(...failure)
        .commit({ guard }),
    );
    const { valuesOmitted, revision } = result;
    session.note(
      result.succeeded
        ? `done at revision ${revision}`
        : `${conditions[result.failedCompare] ?? `compare[${result.failedCompare}]`} is not true`,
    );
    await session.print({
      document: {
        namespace,
        ...resultDocument(result, success, failure),
        ...(valuesOmitted ? { values_omitted: true } : {}),
        revision,
      },
      shown: { columns: ["OPERATION", "ON", "RESULT"], rows: rowsOf(result, success, failure) },
    });
    if (!result.succeeded) {
      session.exitCode = EXIT_CODES.notAsExpected;
    }
  },
});

async function readText(session: Session, file: string | undefined): Promise<string> {
  if (file === undefined && session.terminal.stdin.isTTY === true) {
    throw new UsageError("there is no transaction", "give it on the standard input, or name a file with --file");
  }
  const bytes = await readValue(session.terminal, { argument: undefined, text: undefined, file }, TEXT_BYTES_MAX);
  const text = decodeText(bytes);
  if (text === undefined) {
    throw new UsageError("the transaction is not UTF-8");
  }
  return text;
}
