/** `quoinctl watch …` */

import { once } from "node:events";
import { type Command, Option } from "commander";
import { stringify } from "yaml";
import type { KeyEvent, LockEvent, Watch } from "../index.ts";
import { parsePositiveCount } from "./count.ts";
import { displayValue, escapeControls } from "./displayed-text.ts";
import { parsePrefixArgument } from "./key-argument.ts";
import { entryDocument, historyDocument } from "./key-document.ts";
import type { OutputFormat } from "./output.ts";
import type { Session } from "./session.ts";

/** Characters of a value that a line shows. */
const shownCharacters = 60;

/** The width of the longest word in this column, so that the next column is aligned. */
const typeCharacters = 8;

/** Adds the commands to the program. */
export function addWatchCommands(program: Command, session: Session): void {
  const watch = program.command("watch").description("print changes as they happen, until interrupted");
  addKeys(watch, session);
  addLocks(watch, session);
}

interface WatchOptions {
  readonly fromRevision?: number;
  readonly limit?: number;
}

function addKeys(watch: Command, session: Session): void {
  addWatch(watch, "keys", "print the changes of keys with a prefix, one per line")
    .option("--prev", "also print the previous value")
    .option("--keys-only", "leave out the values")
    .action(async (text: string, options: WatchOptions & { readonly prev?: boolean; readonly keysOnly?: boolean }) => {
      const { namespace, prefix } = parsePrefixArgument(text);
      const { fromRevision: startRevision, prev: includePrevious, keysOnly } = options;
      const showsValues = keysOnly !== true;
      await session.withClient(async (client) => {
        const events = await client.watch.keys(namespace, { prefix, startRevision, includePrevious, keysOnly });
        await printEvents(session, events, options, {
          document: (event) => keyDocument(namespace, event, showsValues),
          line: (event) => keyLine(event, showsValues),
        });
      });
    });
}

function addLocks(watch: Command, session: Session): void {
  addWatch(watch, "locks", "print the beginnings and ends of lock holds with a prefix, one per line").action(
    async (text: string, options: WatchOptions) => {
      const { namespace, prefix: namePrefix } = parsePrefixArgument(text);
      await session.withClient(async (client) => {
        const events = await client.watch.locks(namespace, { namePrefix, startRevision: options.fromRevision });
        await printEvents(session, events, options, {
          document: (event) => lockDocument(namespace, event),
          line: lockLine,
        });
      });
    },
  );
}

function addWatch(watch: Command, what: string, description: string): Command {
  return watch
    .command(`${what} <NAMESPACE[/PREFIX]>`)
    .description(description)
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
  readonly document: (event: Event) => object;
  readonly line: (event: Event) => string;
}

/** Prints events as they come, until the limit. */
async function printEvents<Event>(
  session: Session,
  watch: Watch<Event>,
  { limit = Number.POSITIVE_INFINITY }: WatchOptions,
  format: EventFormat<Event>,
): Promise<void> {
  const { stdout } = session.terminal;
  session.note(`watching from revision ${watch.revision + 1} on`);
  let printed = 0;
  for await (const { events } of watch) {
    for (const event of events) {
      // Wait for a slow reader; the member then waits too.
      if (!stdout.write(textOf(event, session.outputFormat, format))) await once(stdout, "drain");
      printed += 1;
      if (printed === limit) return;
    }
  }
}

/** JSON is one line for each event, YAML one document. */
function textOf<Event>(event: Event, output: OutputFormat, { document, line }: EventFormat<Event>): string {
  if (output === "json") return `${JSON.stringify(document(event))}\n`;
  if (output === "yaml") return `---\n${stringify(document(event))}`;
  return `${line(event)}\n`;
}

function keyDocument(namespace: string, { type, kv, previous }: KeyEvent, showsValues: boolean): object {
  const entry = showsValues ? entryDocument : (of: KeyEvent["kv"]) => ({ key: of.key, ...historyDocument(of) });
  return { namespace, type, ...entry(kv), ...(previous === undefined ? {} : { previous: entry(previous) }) };
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
    name: lockKey,
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
