/**
 * What becomes of the events of a watch or a tail: each is printed, or a command runs for it.
 *
 * Commands run one after the other, in the order of the events. A signal to end goes to the running command and to its
 * processes; the end comes when all of them have ended. A command that fails is reported, and the next event follows.
 */

import { once } from "node:events";
import { flag, type OptionsOf, option } from "../arguments/index.ts";
import { UsageError } from "../errors/index.ts";
import { streamFormatter } from "../output/index.ts";
import type { Session } from "../session/index.ts";
import { escapeControls, parsePositiveCount } from "../text/index.ts";
import { isEndByTerminal, onEndingSignals, runCommand, signalCode } from "./command-run.ts";
import { holderLabel } from "./holder-label.ts";

/** The forms of an event. */
export interface EventForms<Event> {
  /** For programs. */
  readonly document: (event: Event) => object;
  /** For people, without the end of the line. */
  readonly line: (event: Event) => string;
  /** Which event it is, such as `default/greeting at revision 17`. */
  readonly name: (event: Event) => string;
  /** What a command gets in its environment; the names of the variables continue `QUOIN_EVENT`. */
  readonly variables: (event: Event) => Readonly<Record<string, string | number>>;
  /** What a command reads; empty = nothing. */
  readonly value: (event: Event) => Uint8Array;
}

/** Events as they come, which end when `return` is called. */
export interface Events<Event> extends AsyncIterable<Event> {
  return(): Promise<unknown>;
}

/** What the user wants of the events. */
export const EVENT_OPTIONS = {
  limit: option("<N>", "stop after this many", parsePositiveCount),
  exitOnFailure: flag("stop when the command has failed, with its exit code"),
};

/** How long the processes that a command has left may take after a signal to end, in milliseconds. */
const KILL_AFTER_MS = 10_000;

/** The first line of the help of a command for events. */
export function eventUsage(argument: string): string {
  return `[options] ${argument} [-- COMMAND...]`;
}

/**
 * Prints events, or runs the command for them, until the limit.
 *
 * @param words the command; empty = none.
 */
export async function handleEvents<Event>(
  session: Session,
  events: Events<Event>,
  forms: EventForms<Event>,
  words: readonly string[],
  { limit = Number.POSITIVE_INFINITY, exitOnFailure = false }: OptionsOf<typeof EVENT_OPTIONS>,
): Promise<void> {
  const handle = words.length === 0 ? await printing(session, forms) : await running(session, forms, words);
  let received: NodeJS.Signals | undefined;
  // Without a command, a signal ends this process at once.
  const stop =
    words.length === 0
      ? () => undefined
      : onEndingSignals(session.terminal, (signal) => {
          received ??= signal;
          void events.return();
        });
  let handled = 0;
  try {
    for await (const event of events) {
      if (received !== undefined) {
        break;
      }
      const exitCode = await handle(event);
      handled += 1;
      // As for the loop of a shell, Ctrl-C ends not only the command.
      if (isEndByTerminal(exitCode) || (exitOnFailure && exitCode !== 0)) {
        session.exitCode = exitCode;
      } else if (exitCode !== 0 && received === undefined) {
        session.warn(failedText(exitCode, forms.name(event)));
      }
      if (handled === limit || session.exitCode !== 0) {
        break;
      }
    }
  } finally {
    stop();
  }
  if (received !== undefined) {
    session.exitCode = signalCode(received);
  }
}

/**
 * The command that was given for the events.
 *
 * @throws UsageError if it does not stand behind `--`: a shell that replaces an asterisk makes more words too.
 */
export function wordsBehind(session: Session, words: readonly string[]): readonly string[] {
  if (words.length === 0 || session.parameters.at(-words.length - 1) === "--") {
    return words;
  }
  throw new UsageError(
    `too many arguments, beginning with ${escapeControls(words[0]!)}`,
    "quote the asterisk, which a shell may replace by names of files; a command stands behind --",
  );
}

function failedText(exitCode: number, name: string): string {
  return `the command for ${name} has failed with exit code ${exitCode}`;
}

/** Handles an event, and returns 0 or the exit code of a command. */
type Handle<Event> = (event: Event) => Promise<number>;

async function printing<Event>(
  { terminal: { stdout }, outputFormat }: Session,
  { document, line }: EventForms<Event>,
): Promise<Handle<Event>> {
  const formatter = await streamFormatter(outputFormat);
  return async (event) => {
    // Wait for a slow reader; the member then waits too.
    if (!stdout.write(formatter?.(document(event)) ?? `${line(event)}\n`)) {
      await once(stdout, "drain");
    }
    return 0;
  };
}

async function running<Event>(
  { terminal, outputFormat }: Session,
  { document, variables, value }: EventForms<Event>,
  words: readonly string[],
): Promise<Handle<Event>> {
  const formatter = await streamFormatter(outputFormat);
  const runner = holderLabel();
  return (event) => {
    const text = formatter?.(document(event));
    const given = Object.entries(variables(event)).map(([name, content]) => [`QUOIN_EVENT${name}`, String(content)]);
    return runCommand(terminal, {
      words,
      killAfterMs: KILL_AFTER_MS,
      variables: { QUOIN_EVENT_RUNNER: runner, ...Object.fromEntries(given) },
      input: text === undefined ? value(event) : Buffer.from(text),
    });
  };
}
