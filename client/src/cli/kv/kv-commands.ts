/** `quoinctl kv …` */

import { type Command, Option } from "commander";
import type { Client, KeyEntry, PreviousEntry } from "../../index.ts";
import {
  type GuardOptions,
  guardOf,
  guardOption,
  parseKeyArgument,
  parsePrefixArgument,
  readFileValue,
  readValue,
  rwGuardOption,
  textOption,
} from "../arguments/index.ts";
import { hasReason, InterruptedError, NotAsExpectedError, UsageError } from "../errors/index.ts";
import {
  entryDocument,
  historyDocument,
  type ProgressLine,
  previousDocument,
  type TableContent,
  withProgressLine,
} from "../output/index.ts";
import type { Session } from "../session/index.ts";
import { interruptible } from "../terminal/index.ts";
import {
  amountOf,
  amountThatIs,
  bytesDocument,
  displayValue,
  escapeControls,
  parseCount,
  parseDurationSeconds,
  parsePositiveCount,
} from "../text/index.ts";
import { addManyKeysCommands } from "./kv-many-commands.ts";
import { forEachOf } from "./many.ts";

/** Characters of a value that a table shows: with the other columns, they fit a usual terminal. */
const SHOWN_CHARACTERS = 60;

const AFTER_HELP = `
Examples:

  quoinctl kv put default/greeting hello --ttl 5m
  quoinctl kv put default/config --file config.json --if-revision 0
  quoinctl kv get default/config --raw
  quoinctl kv cas default/greeting --expect hello goodbye
  quoinctl kv touch default/greeting --ttl 5m
  quoinctl kv delete --prefix default/user/
  quoinctl kv list 'default/user/*' --keys-only`;

/** Adds the commands to their group. */
export function addKeyValueCommands(kv: Command, session: Session): void {
  kv.addHelpText("after", AFTER_HELP);
  addPut(kv, session);
  addGet(kv, session);
  addDelete(kv, session);
  addTouch(kv, session);
  addList(kv, session);
  addCompareAndSwap(kv, session);
  addManyKeysCommands(kv, session);
}

interface PutOptions extends GuardOptions {
  readonly file?: string;
  readonly text?: string;
  readonly ttl?: number;
  readonly ifRevision?: number;
  readonly prev?: boolean;
}

function addPut(kv: Command, session: Session): void {
  kv.command("put <NAMESPACE/KEY> [VALUE]")
    .description("write a key; without VALUE, or with -, the value is the standard input")
    .option("--file <FILE>", "take the value from a file")
    .addOption(textOption("the value"))
    .addOption(ttlOption())
    .addOption(guardOption())
    .addOption(rwGuardOption())
    .addOption(ifRevisionOption("write only if the key has this revision; 0 = if it does not exist"))
    .option("--prev", "also print the previous value")
    .action(async (target: string, argument: string | undefined, options: PutOptions) => {
      const { namespace, key } = parseKeyArgument(target);
      const value = await readValue(session.terminal, { argument, text: options.text, file: options.file });
      const result = await session.withClient((client) =>
        client.keyValue.put(namespace, key, value, {
          ttlSeconds: options.ttl,
          expectedModRevision: options.ifRevision,
          returnPrevious: options.prev,
          guard: guardOf(options),
        }),
      );
      await session.print({
        document: {
          namespace,
          key,
          created: result.created,
          mod_revision: result.modRevision,
          revision: result.revision,
          ...previousDocument(options.prev, result.previous),
        },
        shown: withPrevious(options.prev, result.previous, {
          columns: ["KEY", "CREATED", "MOD REVISION"],
          rows: [[escapeControls(target), String(result.created), String(result.modRevision)]],
        }),
      });
    });
}

function addGet(kv: Command, session: Session): void {
  kv.command("get <NAMESPACE/KEY>")
    .description("print the value of a key, or with -o json or yaml also its revisions")
    .option("--raw", "print the bytes of the value and nothing else, no line break either; also to a terminal")
    .action(async (target: string, options: { readonly raw?: boolean }) => {
      const { namespace, key } = parseKeyArgument(target);
      const result = await session.withClient((client) => client.keyValue.get(namespace, key));
      if (options.raw === true) {
        session.terminal.stdout.write(result.value);
        return;
      }
      await session.print({
        document: {
          namespace,
          key,
          ...bytesDocument("value", result.value),
          ...historyDocument(result),
          revision: result.revision,
        },
        shown: Buffer.concat([result.value, Buffer.from("\n")]),
      });
    });
}

interface DeleteOptions extends GuardOptions {
  readonly ifRevision?: number;
  readonly prev?: boolean;
  readonly prefix?: boolean;
}

function addDelete(kv: Command, session: Session): void {
  kv.command("delete <NAMESPACE/KEY>")
    .description("remove a key, or with --prefix many")
    .addOption(guardOption())
    .addOption(rwGuardOption())
    .addOption(ifRevisionOption("remove only if the key has this revision"))
    .addOption(new Option("--prev", "also print the last value").conflicts("prefix"))
    .addOption(
      new Option(
        "--prefix",
        "remove all keys that start with this text, one by one: others may change meanwhile",
      ).conflicts("ifRevision"),
    )
    .action(async (target: string, options: DeleteOptions) => {
      if (options.prefix === true) {
        await deleteAll(session, target, options);
        return;
      }
      const { namespace, key } = parseKeyArgument(target);
      const result = await session
        .withClient((client) =>
          client.keyValue.delete(namespace, key, {
            expectedModRevision: options.ifRevision,
            returnPrevious: options.prev,
            guard: guardOf(options),
          }),
        )
        .catch((error: unknown) => {
          if (/[*/]$/.test(key)) {
            session.note("to remove all keys that start with a text, use --prefix");
          }
          throw error;
        });
      await session.print({
        document: {
          namespace,
          key,
          deleted: result.deleted,
          revision: result.revision,
          ...previousDocument(options.prev, result.previous),
        },
        shown: withPrevious(options.prev, result.previous, {
          columns: ["KEY", "DELETED", "REVISION"],
          rows: [[escapeControls(target), String(result.deleted), String(result.revision)]],
        }),
      });
    });
}

async function deleteAll(session: Session, target: string, options: DeleteOptions): Promise<void> {
  const { namespace, prefix } = parsePrefixArgument(target);
  if (prefix === "" && !target.endsWith("/*")) {
    throw new UsageError(`to remove all keys of ${namespace}, write '${namespace}/*'`);
  }
  let deleted = 0;
  const remove = async (client: Client, line: ProgressLine, signal: AbortSignal): Promise<void> => {
    const removeOne = async ({ key }: KeyEntry): Promise<void> => {
      try {
        await client.keyValue.delete(namespace, key, { guard: guardOf(options) });
        deleted += 1;
        line.showOften(() => `${amountOf(deleted, "key")} deleted`);
      } catch (error) {
        // Another client was faster, or the key has expired.
        if (!hasReason(error, "KEY_NOT_FOUND")) {
          throw error;
        }
      }
    };
    for await (const { items } of client.keyValue.pages(namespace, { prefix, keysOnly: true, signal })) {
      await forEachOf(items, removeOne, signal);
    }
  };
  try {
    await interruptible(session.terminal, (signal) =>
      withProgressLine(session, (line) => session.withClient((client) => remove(client, line, signal))),
    );
  } catch (error) {
    if (deleted > 0 || error instanceof InterruptedError) {
      session.warn(`${amountThatIs(deleted, "key")} deleted${deleted === 0 ? "" : ", the others are not"}`);
    }
    throw error;
  }
  await session.print({
    document: { namespace, prefix, deleted },
    shown: { columns: ["DELETED"], rows: [[String(deleted)]] },
  });
}

interface TouchOptions extends GuardOptions {
  readonly ttl: number;
  readonly ifRevision?: number;
}

function addTouch(kv: Command, session: Session): void {
  kv.command("touch <NAMESPACE/KEY>")
    .description("give a key a new time to live, and change nothing else")
    .addOption(
      new Option("--ttl <DURATION>", "let the key expire after this time, such as 90, 90s, 5m or 1h; none = never")
        .argParser((text) => (text === "none" ? 0 : parseDurationSeconds(text)))
        .makeOptionMandatory(),
    )
    .addOption(guardOption())
    .addOption(rwGuardOption())
    .addOption(ifRevisionOption("touch only if the key has this revision"))
    .action(async (target: string, options: TouchOptions) => {
      const { namespace, key } = parseKeyArgument(target);
      const { expiresInMs, modRevision, revision } = await session.withClient((client) =>
        client.keyValue.touch(namespace, key, options.ttl, {
          expectedModRevision: options.ifRevision,
          guard: guardOf(options),
        }),
      );
      await session.print({
        document: { namespace, key, mod_revision: modRevision, expires_in_ms: expiresInMs, revision },
        shown: {
          columns: ["KEY", "EXPIRES IN", "MOD REVISION"],
          rows: [[escapeControls(target), shownLife(expiresInMs), String(modRevision)]],
        },
      });
    });
}

interface ListOptions {
  readonly keysOnly?: boolean;
  readonly limit?: number;
  readonly pageSize?: number;
}

function addList(kv: Command, session: Session): void {
  kv.command("list <NAMESPACE[/PREFIX]>")
    .description("list the keys that start with a prefix, in the order of their bytes")
    .option("--keys-only", "leave out the values")
    .addOption(new Option("--limit <N>", "stop after this many keys (default: all)").argParser(parsePositiveCount))
    .addOption(new Option("--page-size <N>", "keys per request, 1 to 1,000").argParser(parsePositiveCount))
    .action(async (target: string, options: ListOptions) => {
      const { namespace, prefix } = parsePrefixArgument(target);
      const keysOnly = options.keysOnly === true;
      const { items, revision } = await readList(session, namespace, prefix, options);
      await session.print({
        document: {
          namespace,
          prefix,
          items: items.map((item) => (keysOnly ? { key: item.key, ...historyDocument(item) } : entryDocument(item))),
          revision,
        },
        shown: listTable(items, keysOnly),
      });
    });
}

async function readList(
  session: Session,
  namespace: string,
  prefix: string,
  { keysOnly, limit = Number.POSITIVE_INFINITY, pageSize }: ListOptions,
): Promise<{ readonly items: readonly KeyEntry[]; readonly revision: number | undefined }> {
  return session.withClient(async (client) => {
    const items: KeyEntry[] = [];
    let revision: number | undefined;
    for await (const page of client.keyValue.pages(namespace, { prefix, keysOnly, pageSize })) {
      revision ??= page.revision;
      items.push(...page.items);
      if (items.length >= limit) {
        break;
      }
    }
    return { items: items.slice(0, limit), revision };
  });
}

function listTable(items: readonly KeyEntry[], keysOnly: boolean): TableContent {
  const history = (item: KeyEntry) => [String(item.modRevision), String(item.version), shownLife(item.expiresInMs)];
  const columns = ["MOD REVISION", "VERSION", "EXPIRES IN"];
  if (keysOnly) {
    return { columns: ["KEY", ...columns], rows: items.map((item) => [escapeControls(item.key), ...history(item)]) };
  }
  return {
    columns: ["KEY", ...columns, "VALUE"],
    rows: items.map((item) => [escapeControls(item.key), ...history(item), displayValue(item.value, SHOWN_CHARACTERS)]),
  };
}

interface CompareAndSwapOptions extends GuardOptions {
  readonly file?: string;
  readonly text?: string;
  readonly expect?: string;
  readonly expectFile?: string;
  readonly ifRevision?: number;
  readonly absent?: boolean;
  readonly ttl?: number;
}

function addCompareAndSwap(kv: Command, session: Session): void {
  kv.command("cas <NAMESPACE/KEY> [NEW]")
    .description(
      "write a key if it is as expected, else print its value and end with exit code 4; without NEW, or with -, the new value is the standard input",
    )
    .addOption(new Option("--expect <VALUE>", "the key must have this value").conflicts(["expectFile", "absent"]))
    .addOption(new Option("--expect-file <FILE>", "the key must have the value in this file").conflicts("absent"))
    .addOption(ifRevisionOption("the key must have this revision; 0 = it must not exist").conflicts("absent"))
    .option("--absent", "the key must not exist")
    .option("--file <FILE>", "take the new value from a file")
    .addOption(textOption("the new value"))
    .addOption(ttlOption())
    .addOption(guardOption())
    .addOption(rwGuardOption())
    .action(async (target: string, argument: string | undefined, options: CompareAndSwapOptions) => {
      const { namespace, key } = parseKeyArgument(target);
      const { expect, expectFile, ifRevision, absent } = options;
      if (expect === undefined && expectFile === undefined && ifRevision === undefined && absent !== true) {
        throw new UsageError("name the expectation: --expect, --expect-file, --if-revision or --absent");
      }
      const expectedValue = expectFile === undefined ? expect : await readFileValue(expectFile);
      const newValue = await readValue(session.terminal, { argument, text: options.text, file: options.file });
      const result = await session.withClient((client) =>
        client.keyValue.compareAndSwap(namespace, key, newValue, {
          expectedValue,
          expectedModRevision: ifRevision,
          ttlSeconds: options.ttl,
          guard: guardOf(options),
        }),
      );
      const { success, currentExists, currentValue, currentValueOmitted, modRevision, revision } = result;
      await session.print({
        document: {
          namespace,
          key,
          success,
          current_exists: currentExists,
          ...(currentValue === undefined ? {} : bytesDocument("current_value", currentValue)),
          ...(currentValueOmitted ? { current_value_omitted: true } : {}),
          mod_revision: modRevision,
          revision,
        },
        shown: {
          columns: ["KEY", "SUCCESS", "MOD REVISION", "CURRENT VALUE"],
          rows: [
            [
              escapeControls(target),
              String(success),
              currentExists ? String(modRevision) : "-",
              currentExists ? shownValue(currentValue) : "-",
            ],
          ],
        },
      });
      if (!success) {
        throw new NotAsExpectedError(`${target} is not as expected`);
      }
    });
}

function shownLife(expiresInMs: number): string {
  return expiresInMs === 0 ? "-" : `${Math.ceil(expiresInMs / 1_000)}s`;
}

function ttlOption(): Option {
  return new Option("--ttl <DURATION>", "let the key expire after this time, such as 90, 90s, 5m or 1h").argParser(
    parseDurationSeconds,
  );
}

function ifRevisionOption(description: string): Option {
  return new Option("--if-revision <N>", description).argParser(parseCount);
}

function withPrevious(
  asked: boolean | undefined,
  previous: PreviousEntry | undefined,
  table: TableContent,
): TableContent {
  if (asked !== true) {
    return table;
  }
  const shown = previous === undefined ? "-" : shownValue(previous.value);
  return { columns: [...table.columns, "PREVIOUS"], rows: table.rows.map((row) => [...row, shown]) };
}

/** A value in a table; undefined = the service no longer keeps it. */
function shownValue(value: Uint8Array | undefined): string {
  return value === undefined ? "(not kept)" : displayValue(value, SHOWN_CHARACTERS);
}
