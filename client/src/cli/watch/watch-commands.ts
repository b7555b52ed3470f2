/** `quoinctl watch …` */

import type { KeyEvent, LockEvent, Watch } from "../../index.ts";
import { flag, type NamePattern, option, parsePatternArgument } from "../arguments/index.ts";
import { entryDocument, historyDocument } from "../output/index.ts";
import {
  EVENT_OPTIONS,
  type EventForms,
  type Events,
  eventUsage,
  handleEvents,
  wordsBehind,
} from "../running/index.ts";
import { command, commandGroup, type Session } from "../session/index.ts";
import { bytesDocument, displayValue, escapeControls, parsePositiveCount } from "../text/index.ts";

/** Characters of a value that a line shows. */
const SHOWN_CHARACTERS = 60;

/** The width of the longest word in this column, so that the next column is aligned. */
const TYPE_CHARACTERS = 8;

const KEYS_HELP = `
Quote the asterisk, because a shell may replace it; at the end of a key, \\* is an asterisk. Examples:

  quoinctl watch keys default/greeting
  quoinctl watch keys 'default/config/*' --prev -o json
  quoinctl watch keys default --from-revision 100 --limit 10
  quoinctl watch keys 'default/config/*' -- ./reload.sh

The command runs once for each change, one after the other. Its environment has QUOIN_EVENT (PUT, DELETE or EXPIRE),
QUOIN_EVENT_NAMESPACE, QUOIN_EVENT_KEY and QUOIN_EVENT_REVISION. Its standard input is the value, empty if the key is
gone, or the document that -o json or -o yaml would print.`;

const LOCKS_HELP = `
Quote the asterisk, because a shell may replace it; at the end of a name, \\* is an asterisk. Examples:

  quoinctl watch locks default/nightly
  quoinctl watch locks 'default/jobs/*' -o json
  quoinctl watch locks default/nightly -- sh -c 'echo "$QUOIN_EVENT by $QUOIN_EVENT_OWNER"'

The command runs once for each change, one after the other. Its environment has QUOIN_EVENT (ACQUIRED or RELEASED),
QUOIN_EVENT_NAMESPACE, QUOIN_EVENT_LOCK, QUOIN_EVENT_REVISION, QUOIN_EVENT_OWNER, QUOIN_EVENT_TOKEN, QUOIN_EVENT_REASON
and QUOIN_EVENT_MODE. Its standard input is empty, or the document that -o json or -o yaml would print.`;

const FROM_REVISION = option(
  "<N>",
  "begin with the first change at or after this revision (default: now)",
  parsePositiveCount,
);

const KEYS = command("keys <NAMESPACE[/KEY]> [COMMAND...]", {
  description:
    "print the changes of one key, of the keys with a prefix (KEY*), or of all keys, or run a command for each",
  options: {
    fromRevision: FROM_REVISION,
    ...EVENT_OPTIONS,
    prev: flag("also print the previous value"),
    keysOnly: flag("leave out the values"),
  },
  usage: eventUsage("<NAMESPACE[/KEY]>"),
  help: KEYS_HELP,
  run: async (session, text, words, options) => {
    const program = wordsBehind(session, words);
    const pattern = parsePatternArgument(text);
    const { namespace, name: key, prefix } = pattern;
    const { fromRevision: startRevision, prev: includePrevious, keysOnly } = options;
    const showsValues = keysOnly !== true;
    await session.withClient(async (client) => {
      const watch = await client.watch.keys(namespace, { key, prefix, startRevision, includePrevious, keysOnly });
      noteBegin(session, watch, pattern);
      const events = eventsOf(watch, pattern, ({ kv }) => kv.key);
      await handleEvents(session, events, keyForms(namespace, showsValues), program, options);
    });
  },
});

const LOCKS = command("locks <NAMESPACE[/LOCK]> [COMMAND...]", {
  description:
    "print when holds of one lock, of the locks with a prefix (LOCK*), or of all locks begin and end, or run a command",
  options: { fromRevision: FROM_REVISION, ...EVENT_OPTIONS },
  usage: eventUsage("<NAMESPACE[/LOCK]>"),
  help: LOCKS_HELP,
  run: async (session, text, words, options) => {
    const program = wordsBehind(session, words);
    const pattern = parsePatternArgument(text);
    const { namespace, name, prefix: namePrefix = name } = pattern;
    await session.withClient(async (client) => {
      const watch = await client.watch.locks(namespace, { namePrefix, startRevision: options.fromRevision });
      noteBegin(session, watch, pattern);
      const events = eventsOf(watch, pattern, ({ lockKey }) => lockKey);
      await handleEvents(session, events, lockForms(namespace), program, options);
    });
  },
});

/** The commands of the group. */
export const WATCH_COMMANDS = commandGroup("", [KEYS, LOCKS]);

function noteBegin<Event>(session: Session, watch: Watch<Event>, pattern: NamePattern): void {
  session.note(`watching ${watchedNames(pattern)} from revision ${watch.revision + 1} on`);
}

/** The events of a watch one by one, without those of other names that begin in the same way. */
function eventsOf<Event>(watch: Watch<Event>, { name }: NamePattern, nameOf: (event: Event) => string): Events<Event> {
  return {
    async *[Symbol.asyncIterator]() {
      for await (const { events } of watch) {
        for (const event of events) {
          if (name === undefined || nameOf(event) === name) {
            yield event;
          }
        }
      }
    },
    return: () => watch.return(),
  };
}

/** What a watch prints, for people. */
function watchedNames({ namespace, name, prefix }: NamePattern): string {
  if (name === undefined) {
    return escapeControls(prefix === "" ? `all of ${namespace}` : `${namespace}/${prefix}*`);
  }
  const all = name.endsWith("/") ? ` (to watch all below it: '${namespace}/${name}*')` : "";
  return escapeControls(`only ${namespace}/${name}${all}`);
}

function keyForms(namespace: string, showsValues: boolean): EventForms<KeyEvent> {
  return {
    document: (event) => keyDocument(namespace, event, showsValues),
    line: (event) => keyLine(event, showsValues),
    name: ({ kv }) => `${namespace}/${kv.key} at revision ${kv.modRevision}`,
    variables: ({ type, kv }) => ({ "": type, _NAMESPACE: namespace, _KEY: kv.key, _REVISION: kv.modRevision }),
    // Of a key that is gone, the member sends the last value.
    value: ({ type, kv }) => (type === "PUT" ? kv.value : new Uint8Array(0)),
  };
}

function lockForms(namespace: string): EventForms<LockEvent> {
  return {
    document: (event) => lockDocument(namespace, event),
    line: lockLine,
    name: ({ lockKey, revision }) => `${namespace}/${lockKey} at revision ${revision}`,
    variables: ({ lockKey, action, owner, reason, mode = "", fencingToken, revision }) => ({
      "": action,
      _NAMESPACE: namespace,
      _LOCK: lockKey,
      _REVISION: revision,
      _OWNER: owner,
      _TOKEN: fencingToken,
      _REASON: reason,
      _MODE: mode,
    }),
    value: () => new Uint8Array(0),
  };
}

function keyDocument(namespace: string, { type, kv, previous }: KeyEvent, showsValues: boolean): object {
  const entry = showsValues ? entryDocument : (of: KeyEvent["kv"]) => ({ key: of.key, ...historyDocument(of) });
  return { namespace, type, kv: entry(kv), ...(previous === undefined ? {} : { previous: entry(previous) }) };
}

function keyLine({ type, kv, previous }: KeyEvent, showsValues: boolean): string {
  const cells = [String(kv.modRevision), type.padEnd(TYPE_CHARACTERS), escapeControls(kv.key)];
  if (showsValues && type === "PUT") {
    cells.push(displayValue(kv.value, SHOWN_CHARACTERS));
  }
  if (previous !== undefined) {
    cells.push(`(before: ${showsValues ? displayValue(previous.value, SHOWN_CHARACTERS) : previous.modRevision})`);
  }
  return cells.join("  ");
}

function lockDocument(namespace: string, event: LockEvent): object {
  const { lockKey, action, owner, reason, mode, fencingToken, revision, rw, permits, value } = event;
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
    ...(permits === 0 ? {} : { permits }),
    ...(value.length === 0 ? {} : bytesDocument("value", value)),
  };
}

function lockLine({ lockKey, action, owner, reason, mode, fencingToken, revision, permits, value }: LockEvent): string {
  const cells = [
    String(revision),
    action.padEnd(TYPE_CHARACTERS),
    escapeControls(lockKey),
    `token ${fencingToken}`,
    escapeControls(owner),
    ...(mode === undefined ? [] : [mode]),
    ...(permits === 0 ? [] : [`permits ${permits}`]),
    ...(reason === "NORMAL" ? [] : [reason]),
    ...(value.length === 0 ? [] : [displayValue(value, SHOWN_CHARACTERS)]),
  ];
  return cells.join("  ");
}
