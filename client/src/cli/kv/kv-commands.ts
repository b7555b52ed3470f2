/** `quoinctl kv …` */

import type { KeyEntry, PreviousEntry } from "../../index.ts";
import {
  flag,
  GUARD_OPTIONS,
  guardOf,
  option,
  parseKeyArgument,
  parsePrefixArgument,
  readFileValue,
  readValue,
  textOption,
} from "../arguments/index.ts";
import { NotAsExpectedError, UsageError } from "../errors/index.ts";
import { entryDocument, historyDocument, previousDocument, type TableContent } from "../output/index.ts";
import { command, commandGroup, itemsOf } from "../session/index.ts";
import { bytesDocument, displayValue, parseCount, parseDurationSeconds, parsePositiveCount } from "../text/index.ts";
import { deleteAll } from "./kv-delete-many.ts";
import { INCREMENT } from "./kv-increment-command.ts";
import { MANY_KEYS_COMMANDS } from "./kv-many-commands.ts";

/** Characters of a value that a table shows: with the other columns, they fit a usual terminal. */
const SHOWN_CHARACTERS = 60;

const AFTER_HELP = `
Examples:

  quoinctl kv put default/greeting hello --ttl 5m
  quoinctl kv put default/services/web/1 10.0.0.1 --session 17
  quoinctl kv put default/config --file config.json --if-revision 0
  quoinctl kv get default/config --raw
  quoinctl kv cas default/greeting --expect hello goodbye
  quoinctl kv touch default/greeting --ttl 5m
  quoinctl kv delete --prefix default/user/
  quoinctl kv list 'default/user/*' --keys-only`;

const TTL_OPTION = option(
  "<DURATION>",
  "let the key expire after this time, such as 90, 90s, 5m or 1h",
  parseDurationSeconds,
);

const SESSION_OPTION = option(
  "<ID>",
  "let the key end with this session of yours, such as $QUOIN_SESSION_ID in session run",
  parsePositiveCount,
);

const PUT = command("put <NAMESPACE/KEY> [VALUE]", {
  description: "write a key; without VALUE, or with -, the value is the standard input",
  options: {
    file: option("<FILE>", "take the value from a file"),
    text: textOption("the value"),
    ttl: TTL_OPTION,
    session: SESSION_OPTION,
    ...GUARD_OPTIONS,
    ifRevision: option("<N>", "write only if the key has this revision; 0 = if it does not exist", parseCount),
    prev: flag("also print the previous value"),
  },
  run: async (session, target, argument, options) => {
    const { namespace, key } = parseKeyArgument(target);
    const value = await readValue(session.terminal, { argument, text: options.text, file: options.file });
    const result = await session.withClient((client) =>
      client.keyValue.put(namespace, key, value, {
        ttlSeconds: options.ttl,
        sessionId: options.session,
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
        rows: [[target, result.created, result.modRevision]],
      }),
    });
  },
});

const GET = command("get <NAMESPACE/KEY>", {
  description: "print the value of a key, or with -o json or yaml also its revisions",
  options: {
    raw: flag("print the bytes of the value and nothing else, no line break either; also to a terminal"),
  },
  run: async (session, target, options) => {
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
  },
});

const DELETE = command("delete <NAMESPACE/KEY>", {
  description: "remove a key, or with --prefix many",
  options: {
    ...GUARD_OPTIONS,
    ifRevision: option("<N>", "remove only if the key has this revision", parseCount),
    prev: flag("also print the last value").without("prefix"),
    prefix: flag(
      "remove all keys that start with this text, as one change; in parts beyond 10,000 keys or 8 MiB",
    ).without("ifRevision"),
  },
  run: async (session, target, options) => {
    if (options.prefix === true) {
      await deleteAll(session, target, guardOf(options));
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
        rows: [[target, result.deleted, result.revision]],
      }),
    });
  },
});

const TOUCH = command("touch <NAMESPACE/KEY>", {
  description: "give a key a new time to live, and change nothing else",
  options: {
    ttl: option("<DURATION>", "let the key expire after this time, such as 90, 90s, 5m or 1h; none = never", (text) =>
      text === "none" ? 0 : parseDurationSeconds(text),
    ).mandatory(),
    ...GUARD_OPTIONS,
    ifRevision: option("<N>", "touch only if the key has this revision", parseCount),
  },
  run: async (session, target, options) => {
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
        rows: [[target, shownLife(expiresInMs), modRevision]],
      },
    });
  },
});

const LIST = command("list <NAMESPACE[/PREFIX]>", {
  description: "list the keys that start with a prefix, in the order of their bytes",
  options: {
    keysOnly: flag("leave out the values"),
    limit: option("<N>", "stop after this many keys (default: all)", parsePositiveCount),
    pageSize: option("<N>", "keys per request, 1 to 1,000", parsePositiveCount),
  },
  run: async (session, target, { keysOnly = false, limit, pageSize }) => {
    const { namespace, prefix } = parsePrefixArgument(target);
    let revision: number | undefined;
    const items = await session.withClient(({ keyValue }) =>
      itemsOf(
        keyValue.pages(namespace, { prefix, keysOnly, pageSize }),
        (page) => {
          revision ??= page.revision;
          return page.items;
        },
        limit,
      ),
    );
    await session.print({
      document: {
        namespace,
        prefix,
        items: items.map((item) => (keysOnly ? { key: item.key, ...historyDocument(item) } : entryDocument(item))),
        revision,
      },
      shown: listTable(items, keysOnly),
    });
  },
});

function listTable(items: readonly KeyEntry[], keysOnly: boolean): TableContent {
  const history = (item: KeyEntry) => [item.modRevision, item.version, shownLife(item.expiresInMs)];
  const columns = ["MOD REVISION", "VERSION", "EXPIRES IN"];
  if (keysOnly) {
    return { columns: ["KEY", ...columns], rows: items.map((item) => [item.key, ...history(item)]) };
  }
  return {
    columns: ["KEY", ...columns, "VALUE"],
    rows: items.map((item) => [item.key, ...history(item), displayValue(item.value, SHOWN_CHARACTERS)]),
  };
}

const COMPARE_AND_SWAP = command("cas <NAMESPACE/KEY> [NEW]", {
  description:
    "write a key if it is as expected, else print its value and end with exit code 4; without NEW, or with -, the new value is the standard input",
  options: {
    expect: option("<VALUE>", "the key must have this value").without("expectFile", "absent"),
    expectFile: option("<FILE>", "the key must have the value in this file").without("absent"),
    ifRevision: option("<N>", "the key must have this revision; 0 = it must not exist", parseCount).without("absent"),
    absent: flag("the key must not exist"),
    file: option("<FILE>", "take the new value from a file"),
    text: textOption("the new value"),
    ttl: TTL_OPTION,
    session: SESSION_OPTION,
    ...GUARD_OPTIONS,
  },
  run: async (session, target, argument, options) => {
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
        sessionId: options.session,
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
            target,
            success,
            currentExists ? modRevision : undefined,
            currentExists ? shownValue(currentValue) : undefined,
          ],
        ],
      },
    });
    if (!success) {
      throw new NotAsExpectedError(`${target} is not as expected`);
    }
  },
});

/** The commands of the group. */
export const KEY_VALUE_COMMANDS = commandGroup(AFTER_HELP, [
  PUT,
  GET,
  DELETE,
  TOUCH,
  LIST,
  COMPARE_AND_SWAP,
  INCREMENT,
  ...MANY_KEYS_COMMANDS,
]);

function shownLife(expiresInMs: number): string | undefined {
  return expiresInMs === 0 ? undefined : `${Math.ceil(expiresInMs / 1_000)}s`;
}

function withPrevious(
  asked: boolean | undefined,
  previous: PreviousEntry | undefined,
  table: TableContent,
): TableContent {
  if (asked !== true) {
    return table;
  }
  const shown = previous && shownValue(previous.value);
  return { columns: [...table.columns, "PREVIOUS"], rows: table.rows.map((row) => [...row, shown]) };
}

/** A value in a table; undefined = the service no longer keeps it. */
function shownValue(value: Uint8Array | undefined): string {
  return value === undefined ? "(not kept)" : displayValue(value, SHOWN_CHARACTERS);
}
