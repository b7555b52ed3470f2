/** `quoinctl completion`, and what its scripts run: `quoinctl __complete SHELL …`. */

import path from "node:path";
import { type Command, CommanderError } from "commander";
import { firstCommand, type Session } from "../session/index.ts";
import { parseDurationMs } from "../text/index.ts";
import { type Candidate, type Completion, complete, listCommands } from "./completion.ts";
import { escapeForBash, splitLine } from "./completion-line.ts";
import { listNames } from "./completion-names.ts";
import { COMPLETION_SCRIPTS } from "./completion-scripts.ts";

const AFTER_HELP = `
bash: add to ~/.bashrc:                   source <(quoinctl completion bash)
zsh:  add to ~/.zshrc, after compinit:    source <(quoinctl completion zsh)
fish: quoinctl completion fish > ~/.config/fish/completions/quoinctl.fish

Besides commands and options it offers the names of contexts, namespaces, keys, locks, regions, event logs, members,
users and API keys, as far as you may list them. If they take longer than QUOIN_COMPLETION_TIMEOUT (default: 1500ms),
it offers none.`;

/** How long names may take to arrive, in milliseconds: a person waits for them with a finger on the key. */
const DEFAULT_PATIENCE_MS = 1_500;

/** Characters that would break a line of the answer, or the terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** The command. */
export const COMPLETION = firstCommand("<SHELL>", {
  arguments: { SHELL: { choices: [...COMPLETION_SCRIPTS.keys()] } },
  help: AFTER_HELP,
  run: async (session, shell) => {
    session.terminal.stdout.write(COMPLETION_SCRIPTS.get(shell) ?? "");
  },
});

/**
 * Answers the script of a shell: a word in each line, with a description after a tab except for bash. The line
 * `:nospace` says that a word continues, and `:files` that a file name may stand there.
 *
 * It never fails: without a cluster, or if it is too slow, no names are offered.
 *
 * @param parameters the shell, and the words without the name of the program; for bash, the word at the cursor as bash
 * sees it, and the line up to the cursor.
 * @param addCommands adds the commands to the program, and completes those that the words name.
 */
export async function answerShell(
  program: Command,
  session: Session,
  parameters: readonly string[],
  addCommands: (words: readonly string[]) => Promise<void>,
): Promise<void> {
  const [shell = "", ...rest] = parameters;
  const bash = shell === "bash" ? bashLine(rest) : undefined;
  const words = bash?.words ?? rest;
  await addCommands(words);
  const { terminal } = session;
  const patienceMs = patienceOf(terminal.environment.QUOIN_COMPLETION_TIMEOUT);
  readOptions(program, words);
  let stopTimer: () => void = () => undefined;
  const late = new Promise<readonly Candidate[]>((resolve) => {
    stopTimer = terminal.runtime.after(patienceMs, () => resolve([]));
  });
  const names = (place: Parameters<typeof listNames>[1]) => {
    const listed = listNames(session, place);
    return listed === undefined ? undefined : Promise.race([listed.catch(() => []), late]);
  };
  const { candidates, files }: Completion = await complete(program, words, names);
  stopTimer();
  const lines = candidates
    .filter(({ value }) => !UNPRINTABLE.test(value))
    .map((candidate) => (bash === undefined ? described(candidate) : bash.insertable(candidate.value)));
  if (candidates.some(({ value }) => /[/=]$/.test(value))) {
    lines.push(":nospace");
  }
  if (files) {
    lines.push(":files");
  }
  terminal.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

/** Prints each command with the words that may follow it, for programs that check documents. */
export function printCommands(program: Command, { terminal }: Session): void {
  const lines = listCommands(program).map(({ path: words, words: next }) => `${words}\t${next.join(" ")}\n`);
  terminal.stdout.write(lines.join(""));
}

function patienceOf(text: string | undefined): number {
  try {
    return text === undefined ? DEFAULT_PATIENCE_MS : parseDurationMs(text);
  } catch (error) {
    if (error instanceof CommanderError) {
      return DEFAULT_PATIENCE_MS;
    }
    throw error;
  }
}

/** The options before the cursor select the cluster. An invalid one is reported when the command runs, not here. */
function readOptions(program: Command, words: readonly string[]): void {
  program.configureOutput({ writeOut: () => undefined, writeErr: () => undefined, outputError: () => undefined });
  try {
    program.parseOptions(words.slice(0, -1));
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      throw error;
    }
  }
}

function described({ value, description = "" }: Candidate): string {
  return description === "" ? value : `${value}\t${description.replaceAll(/\s+/g, " ")}`;
}

/** The line of bash, and how a word must look there. */
function bashLine([current = "", line = ""]: readonly string[]) {
  const { words, quote } = splitLine(line);
  const start = words.findIndex((word) => path.basename(word) === "quoinctl");
  const typed = words.at(-1) ?? "";
  // Bash replaces only what follows a colon or an equals sign, and only what follows an open quotation mark.
  const replaced = /^[:=]$/.test(current) ? "" : (splitLine(current).words.at(-1) ?? "");
  const kept = typed.endsWith(replaced) ? typed.length - replaced.length : 0;
  return {
    words: words.slice(start + 1),
    insertable: (value: string) => {
      const inserted = value.slice(kept);
      return quote === "" ? escapeForBash(inserted) : inserted;
    },
  };
}
