/** `quoinctl watch …` */

import { once } from "node:events";
import { type Command, Option } from "commander";
import type { KeyEvent, LockEvent, Watch } from "../index.ts";
import { parsePositiveCount } from "./count.ts";
import { displayValue, escapeControls } from "./displayed-text.ts";
import { type NamePattern, parsePatternArgument } from "./key-argument.ts";
import { entryDocument, historyDocument } from "./key-document.ts";
import { streamFormatter } from "./output.ts";
import type { Session } from "./session.ts";

/** Characters of a value that a line shows. */
const shownCharacters = 60;

/** The width of the longest word in this column, so that the next column is aligned. */
const typeCharacters = 8;

const keysHelp = `
Quote the asterisk, because a shell may replace it; at the end of a key, \\* is an asterisk. Examples:

  quoinctl watch keys default/greeting
  quoinctl watch keys 'default/config/*' --prev -o json
  quoinctl watch keys default --from-revision 100 --limit 10`;

const locksHelp = `
Quote the asterisk, because a shell may replace it; at the end of a name, \\* is an asterisk. Examples:

  quoinctl watch locks default/nightly
  quoinctl watch locks 'default/jobs/*' -o json`;

/** Adds the commands to their group. */
export function addWatchCommands(watch: Command, session: Session): void {
  addKeys(watch, session);
  addLocks(watch, session);
}

interface WatchOptions {
  readonly fromRevision?: number;
  readonly limit?: number;
}

function addKeys(watch: Command, session: Session): void {
  addWatch(
    watch,
    "keys <NAMESPACE[/KEY]>",
    "print the changes of one key, of the keys with a prefix (KEY*), or of all keys, one per line",
    keysHelp,
  )
    .option("--prev", "also print the previous value")
    .option("--keys-only", "leave out the values")
    .action(async (text: string, options: WatchOptions & { readonly prev?: boolean; readonly keysOnly?: boolean }) => {
      const pattern = parsePatternArgument(text);
      const { namespace, name, prefix = name } = pattern;
      const { fromRevision: startRevision, prev: includePrevious, keysOnly } = options;
      const showsValues = keysOnly !== true;
      await session.withClient(async (client) => {
        const events = await client.watch.keys(namespace, { prefix, startRevision, includePrevious, keysOnly });
        await printEvents(
          session,
          events,
          { pattern, ...options },
          {
            nameOf: ({ kv }) => kv.key,
            document: (event) => keyDocument(namespace, event, showsValues),
            line: (event) => keyLine(event, showsValues),
          },
        );
      });
    });
}

function addLocks(watch: Command, session: Session): void {
  addWatch(
    watch,
    "locks <NAMESPACE[/LOCK]>",
    "print when holds of one lock, of the locks with a prefix (LOCK*), or of all locks begin and end, one per line",
    locksHelp,
  ).action(async (text: string, options: WatchOptions) => {
    const pattern = parsePatternArgument(text);
    const { namespace, name, prefix: namePrefix = name } = pattern;
    await session.withClient(async (client) => {
      const events = await client.watch.locks(namespace, { namePrefix, startRevision: options.fromRevision });
      await printEvents(
        session,
        events,
        { pattern, ...options },
        {
          nameOf: ({ lockKey }) => lockKey,
          document: (event) => lockDocument(namespace, event),
          line: lockLine,
        },
      );
    });
  });
}

function addWatch(watch: Command, usage: string, description: string, help: string): Command {
  return watch
    .command(usage)
    .description(description)
    .addHelpText("after", help)
    .addOption(
      new Option(
        "--from-revision <N>",
        "begin with the first change at or after this revision (default: now)",
      ).argParser(parsePositiveCount),
    )
    .addOption(new Option("--limit <N>", "stop after this many changes").argParser(parsePositiveCount));
}

/** How an event is printed. */
interface EventFormat<Event> {
  readonly nameOf: (event: Event) => string;
  readonly document: (event: Event) => object;
  readonly line: (event: Event) => string;
}

/** Prints events as they come, until the limit. */
async function printEvents<Event>(
  session: Session,
  watch: Watch<Event>,
  { pattern, limit = Number.POSITIVE_INFINITY }: WatchOptions & { readonly pattern: NamePattern },
  { nameOf, document, line }: EventFormat<Event>,
): Promise<void> {
  const { stdout } = session.terminal;
  const formatter = await streamFormatter(session.outputFormat);
  session.note(`watching ${watchedNames(pattern)} from revision ${watch.revision + 1} on`);
  let printed = 0;
  for await (const { events } of watch) {
    for (const event of events) {
      if (pattern.name !== undefined && nameOf(event) !== pattern.name) continue;
      // Wait for a slow reader; the member then waits too.
      if (!stdout.write(formatter?.(document(event)) ?? `${line(event)}\n`)) await once(stdout, "drain");
      printed += 1;
      if (printed === limit) return;
    }
  }
}

/** What a watch prints, for people. */
function watchedNames({ namespace, name, prefix }: NamePattern): string {
  if (name === undefined) return escapeControls(prefix === "" ? `all of ${namespace}` : `${namespace}/${prefix}*`);
  const all = name.endsWith("/") ? ` (to watch all below it: '${namespace}/${name}*')` : "";
  return escapeControls(`only ${namespace}/${name}${all}`);
}

function keyDocument(namespace: string, { type, kv, previous }: KeyEvent, showsValues: boolean): object {
  const entry = showsValues ? entryDocument : (of: KeyEvent["kv"]) => ({ key: of.key, ...historyDocument(of) });
  return { namespace, type, kv: entry(kv), ...(previous === undefined ? {} : { previous: entry(previous) }) };
}

function keyLine({ type, kv, previous }: KeyEvent, showsValues: boolean): string {
  const cells = [String(kv.modRevision), type.padEnd(typeCharacters), escapeControls(kv.key)];
  if (showsValues && type === "PUT") cells.push(displayValue(kv.value, shownCharacters));
  if (previous !== undefined)
    cells.push(`(before: ${showsValues ? displayValue(previous.value, shownCharacters) : previous.modRevision})`);
  return cells.join("  ");
}

function lockDocument(namespace: string, event: LockEvent): object {
  const { lockKey, action, owner, reason, mode, fencingToken, revision, rw } = event;
  return {
    namespace,
    lock_key: lockKey,
    rw,
    action,
    reason,
    ...(mode === undefined ? {} : { mode }),
    owner,
    fencing_token: fencingToken,
    revision,
  };
}

function lockLine({ lockKey, action, owner, reason, mode, fencingToken, revision }: LockEvent): string {
  const cells = [
    String(revision),
    action.padEnd(typeCharacters),
    escapeControls(lockKey),
    `token ${fencingToken}`,
    escapeControls(owner),
    ...(mode === undefined ? [] : [mode]),
    ...(reason === "NORMAL" ? [] : [reason]),
  ];
  return cells.join("  ");
}
