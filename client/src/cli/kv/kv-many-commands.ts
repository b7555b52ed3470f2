/** `quoinctl kv history`, `count`, `export` and `import`: many versions, or many keys. */

import { once } from "node:events";
import { createReadStream } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import type { Client, KeyVersion } from "../../index.ts";
import { allPages } from "../../pages/index.ts";
import { flag, option, parseKeyArgument, parseNamespaceArgument, parsePrefixArgument } from "../arguments/index.ts";
import { hasOutcome, hasReason, UsageError } from "../errors/index.ts";
import { isOfFileSystem, unusable } from "../files/index.ts";
import { type Cell, entryDocument, historyDocument, withProgressLine } from "../output/index.ts";
import { type CompleteCommand, command, itemsOf, PAGE_SIZE_MAX } from "../session/index.ts";
import { interruptible } from "../terminal/index.ts";
import { amountOf, amountThatIs, bytesDocument, decodeText, displayValue, parsePositiveCount } from "../text/index.ts";
import { forEachOf } from "./many.ts";

/** Characters of a value that a table shows. */
const SHOWN_CHARACTERS = 60;
const LINE_END = 0x0a;

const EXPORT_HELP = `
A line is an object of JSON with the key, its value in base64 and, if it is UTF-8, as text, its revisions, and the
milliseconds until it expires; 0 = never. The pages of a large listing may have different revisions. Examples:

  quoinctl kv export default > default.jsonl
  quoinctl kv export 'default/config/*' | quoinctl kv import staging`;

const IMPORT_HELP = `
Each line is an object of JSON as kv export prints it: the key, and the value in base64 (value) or as text (value_text).
A line with both is refused unless they mean the same: to change a text, remove value. A key with expires_in_ms gets
that life again, counted from now. The revisions have no effect, and an unknown field is refused. Some keys are written
at a time: if one is refused, others remain. After Ctrl-C, it says how many are written. Examples:

  quoinctl kv import default default.jsonl
  quoinctl kv import default --if-absent < default.jsonl`;

const HISTORY = command("history <NAMESPACE/KEY>", {
  description: "list the versions of a key, the newest first, as far back as the history of changes reaches",
  options: {
    limit: option("<N>", "stop after this many versions (default: all)", parsePositiveCount),
    keysOnly: flag("leave out the values"),
  },
  run: async (session, target, { limit, keysOnly = false }) => {
    const { namespace, key } = parseKeyArgument(target);
    const kept = await session.withClient(({ keyValue }) =>
      itemsOf(
        allPages((pageToken) => keyValue.versions(namespace, key, { keysOnly, pageToken })),
        (page) => page.versions,
        limit,
      ),
    );
    await session.print({
      document: { namespace, key, versions: kept.map((version) => versionDocument(version, keysOnly)) },
      shown: {
        columns: ["REVISION", "CHANGE", "AGE", "VALUE"].slice(0, keysOnly ? 3 : 4),
        rows: kept.map((version) => versionRow(version).slice(0, keysOnly ? 3 : 4)),
      },
    });
  },
});

function versionDocument({ type, kv, ageMs }: KeyVersion, keysOnly: boolean): object {
  const age = ageMs === undefined ? {} : { age_ms: ageMs };
  if (kv === undefined) {
    return { type, ...age };
  }
  return { type, ...age, ...(keysOnly ? {} : bytesDocument("value", kv.value)), ...historyDocument(kv) };
}

function versionRow({ type, kv, ageMs }: KeyVersion): readonly Cell[] {
  const age = ageMs === undefined ? undefined : `${Math.floor(ageMs / 1_000)}s`;
  const value = type === "PUT" && kv !== undefined ? displayValue(kv.value, SHOWN_CHARACTERS) : undefined;
  return [kv?.modRevision, type, age, value];
}

const COUNT = command("count <NAMESPACE[/PREFIX]>", {
  description: "count the keys that start with a prefix, up to 1,000,000",
  run: async (session, target) => {
    const { namespace, prefix } = parsePrefixArgument(target);
    const { keys, more } = await session.withClient(({ keyValue }) => keyValue.count(namespace, { prefix }));
    await session.print({
      document: { namespace, prefix, count: keys, more },
      shown: { columns: ["COUNT"], rows: [[more ? `more than ${keys}` : keys]] },
    });
  },
});

const EXPORT = command("export <NAMESPACE[/PREFIX]>", {
  description: "print the keys that start with a prefix and their values, one per line, for kv import",
  help: EXPORT_HELP,
  run: async (session, target) => {
    const { namespace, prefix } = parsePrefixArgument(target);
    const { stdout } = session.terminal;
    let exported = 0;
    await withProgressLine(session, (line) =>
      session.withClient(async (client) => {
        for await (const { items } of client.keyValue.pages(namespace, { prefix, pageSize: PAGE_SIZE_MAX })) {
          for (const item of items) {
            if (!stdout.write(`${JSON.stringify(entryDocument(item))}\n`)) {
              await once(stdout, "drain");
            }
          }
          exported += items.length;
          // On a terminal, the lines themselves show it.
          if (stdout.isTTY !== true) {
            line.showOften(() => `${amountOf(exported, "key")} exported`);
          }
        }
      }),
    );
  },
});

/** The fields of a line, as kv export prints them. */
const LINE_FIELDS = ["key", "value_text", "value", "create_revision", "mod_revision", "version", "expires_in_ms"];

/** A line whose key is not written, or may not be. */
interface FailedLine {
  readonly line: number;
  readonly error: unknown;
}

/** What of the lines is not written, up to the last one that was sent. */
function restText(failures: readonly FailedLine[], lastLine: number): string {
  const rest = lastLine === 0 ? "" : `; nothing after line ${lastLine} is`;
  if (failures.length === 0) {
    return rest;
  }
  const isCertain = failures.every(({ error }) => hasOutcome(error, "not-executed"));
  const numbers = failures.map(({ line }) => line).join(", ");
  return `; ${amountOf(failures.length, "line")} ${isCertain ? "failed" : "may have failed"}: ${numbers}${rest}`;
}

/** A key to write. */
interface ImportedKey {
  readonly line: number;
  readonly key: string;
  readonly value: Uint8Array;
  readonly ttlSeconds: number | undefined;
}

const IMPORT = command("import <NAMESPACE> [FILE]", {
  description: "write the keys that kv export has printed; without FILE, or with -, from the standard input",
  options: {
    ifAbsent: flag("leave keys that exist as they are"),
  },
  help: IMPORT_HELP,
  run: async (session, target, file, { ifAbsent }) => {
    const { terminal } = session;
    const namespace = parseNamespaceArgument(target);
    if (file === undefined && terminal.stdin.isTTY === true) {
      throw new UsageError("there is nothing to import", "name a file, or give the lines on the standard input");
    }
    // Only when it is read: before, no one would hear of an error.
    const source = (signal: AbortSignal) =>
      addAbortSignal(signal, file === undefined || file === "-" ? terminal.stdin : createReadStream(file));
    const done = { written: 0, existed: 0 };
    let lastLine = 0;
    const failures: FailedLine[] = [];
    const write = async (client: Client, { key, value, ttlSeconds, line }: ImportedKey): Promise<void> => {
      try {
        const expected = ifAbsent === true ? { expectedModRevision: 0 } : {};
        await client.keyValue.put(namespace, key, value, { ttlSeconds, ...expected });
        done.written += 1;
      } catch (error) {
        if (ifAbsent !== true || !hasReason(error, "REVISION_MISMATCH")) {
          failures.push({ line, error });
          throw error;
        }
        done.existed += 1;
      }
    };
    /** A line with the same key as one before must not overtake it. */
    const underWay = new Map<string, Promise<void>>();
    const writeInOrder = async (client: Client, item: ImportedKey): Promise<void> => {
      lastLine = item.line;
      const before = underWay.get(item.key) ?? Promise.resolve();
      const task = before.then(() => write(client, item));
      underWay.set(item.key, task);
      await task;
      if (underWay.get(item.key) === task) {
        underWay.delete(item.key);
      }
    };
    try {
      await interruptible(terminal, (signal) =>
        withProgressLine(session, (progress) =>
          session.withClient((client) =>
            forEachOf(
              readKeys(() => source(signal)),
              async (item) => {
                await writeInOrder(client, item);
                progress.showOften(() => `${amountOf(done.written + done.existed, "key")} imported`);
              },
              signal,
            ),
          ),
        ),
      );
    } catch (error) {
      failures.sort((one, other) => one.line - other.line);
      // Said when the line with the progress is gone.
      session.warn(`${amountThatIs(done.written, "key")} written${restText(failures, lastLine)}`);
      const first = failures.length === 0 ? error : failures[0]!.error;
      throw isOfFileSystem(first) ? unusable(String(file), "read", first) : first;
    }
    await session.print({
      document: { namespace, ...done },
      shown: { columns: ["WRITTEN", "EXISTED"], rows: [[done.written, done.existed]] },
    });
  },
});

/** The commands of the group. */
export const MANY_KEYS_COMMANDS: readonly CompleteCommand[] = [HISTORY, COUNT, EXPORT, IMPORT];

async function* readKeys(open: () => Readable): AsyncGenerator<ImportedKey> {
  let line = 0;
  for await (const bytes of linesOf(open())) {
    line += 1;
    const text = decodeText(bytes);
    if (text === undefined) {
      throw new UsageError(`line ${line}: is not UTF-8`);
    }
    if (text.trim() !== "") {
      yield await readKey(text, line);
    }
  }
}

/** Readline would not tell when a file cannot be read. */
async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = [];
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)]);
      pieces = [];
      from = end + 1;
    }
    pieces.push(chunk.subarray(from));
  }
  yield Buffer.concat(pieces);
}

/** @throws UsageError that names the line and the field. */
async function readKey(text: string, line: number): Promise<ImportedKey> {
  const refuse = (rule: string): never => {
    throw new UsageError(`line ${line}: ${rule}`);
  };
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    refuse("must be an object of JSON");
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    refuse("must be an object of JSON");
  }
  const unknown = Object.keys(given as object).find((name) => !LINE_FIELDS.includes(name));
  if (unknown !== undefined) {
    const { unknownName } = await import("@quoin/proto");
    return refuse(`${unknown} ${unknownName(unknown, "a line", LINE_FIELDS)}`);
  }
  const { key, value, value_text: valueText, expires_in_ms: expiresMs = 0 } = given as Record<string, unknown>;
  if (typeof key !== "string" || key === "") {
    return refuse("key must be a text that is not empty");
  }
  if (typeof expiresMs !== "number" || !(expiresMs >= 0)) {
    return refuse("expires_in_ms must be a number of at least 0");
  }
  const ttlSeconds = expiresMs === 0 ? undefined : Math.ceil(expiresMs / 1_000);
  if (valueText !== undefined && typeof valueText !== "string") {
    return refuse("value_text must be a text");
  }
  if (value === undefined) {
    return { line, key, value: Buffer.from(valueText ?? refuse("needs value, in base64, or value_text")), ttlSeconds };
  }
  const bytes = Buffer.from(typeof value === "string" ? value : "", "base64");
  if (bytes.toString("base64") !== value) {
    return refuse("value must be base64; a text belongs into value_text");
  }
  if (valueText !== undefined && !bytes.equals(Buffer.from(valueText))) {
    return refuse("value and value_text mean different values: remove the wrong one");
  }
  return { line, key, value: bytes, ttlSeconds };
}
