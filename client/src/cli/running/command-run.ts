/**
 * A command that quoinctl runs: it inherits the standard streams, has more variables in its environment, and gets this
 * process's signals. After a signal to end, the command and the processes that it has started are ended.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { onSignals, type Terminal } from "../terminal/index.ts";
import { escapeControls } from "../text/index.ts";
import { type CommandProcesses, groupOf, processesWith } from "./command-processes.ts";

/** A command and its limits. */
export interface CommandRun {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** Added to its environment. Together, no other process has them. */
  readonly variables: Readonly<Record<string, string>>;
  /** Its standard input; undefined = that of this process. */
  readonly input?: Uint8Array | undefined;
  /** How long processes that must end may take before they are killed, in milliseconds. */
  readonly killAfterMs: number;
  /** Ends the command and its processes, for this reason; undefined = only signals do. */
  readonly ending?: { readonly signal: AbortSignal; readonly reason: string } | undefined;
}

/** Signals that end a command with all that it has started. A terminal itself sends the first two to all of them. */
const TERMINAL_SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];
const ENDING_SIGNALS: readonly NodeJS.Signals[] = [...TERMINAL_SIGNALS, "SIGTERM", "SIGHUP"];
/** Signals with a meaning of their own, for the command alone: most programs would end. */
const OWN_SIGNALS: readonly NodeJS.Signals[] = ["SIGUSR1", "SIGUSR2"];

/** Time between two looks at the processes that must end, in milliseconds. */
const POLL_MS = 50;
/** Killed processes are gone at once, unless the system keeps them. Maximum wait for them, in milliseconds. */
const KILLED_MS_MAX = 2_000;

/** The exit codes of shells for a command that cannot be found, or cannot be run. */
const NOT_FOUND_CODE = 127;
const NOT_RUNNABLE_CODE = 126;
/** Shells add this to the number of the signal that ended a command. */
const SIGNAL_CODE_BASE = 128;

/** How a command ended. */
interface End {
  readonly exitCode: number;
  /** False if it could not be started. */
  readonly hasRun: boolean;
}

/**
 * Runs a command.
 *
 * @returns its exit code, or the code that shells use if it has none.
 */
export async function runCommand(
  terminal: Terminal,
  { words, variables, input, killAfterMs, ending }: CommandRun,
): Promise<number> {
  const [program = "", ...parameters] = words;
  const isAtTerminal = [terminal.stdin, terminal.stdout, terminal.stderr].some(({ isTTY }) => isTTY === true);
  const received = new Set<NodeJS.Signals>();
  // Before the command starts: a signal that came in between would end this process alone. Until the end of this turn,
  // listeners are not called.
  const stopEnding = onEndingSignals(terminal, (signal) => {
    received.add(signal);
    if (!isAtTerminal || !TERMINAL_SIGNALS.includes(signal)) {
      processes.signal(signal);
    }
  });
  const stopOwn = onSignals(terminal, OWN_SIGNALS, (signal) => child.kill(signal));
  let stopWatching = (): void => undefined;
  let child: ChildProcess;
  let processes: CommandProcesses;
  try {
    try {
      child = spawn(program, parameters, {
        cwd: terminal.workingDirectory,
        env: { ...terminal.environment, ...variables },
        stdio: [input === undefined ? "inherit" : "pipe", "inherit", "inherit"],
        // In a process group of its own.
        detached: !isAtTerminal,
      });
    } catch (error) {
      // A variable that is too long, or that has a NUL.
      if (!(error instanceof Error && "code" in error)) {
        throw error;
      }
      return explainFailedStart(terminal, program, error);
    }
    // A command may end without reading its input; its exit code says whether it has worked.
    child.stdin?.on("error", () => undefined).end(input);
    processes = isAtTerminal ? processesWith(variables, child) : groupOf(child);
    const termination = new Termination(terminal, processes, killAfterMs);
    if (ending !== undefined) {
      const { signal, reason } = ending;
      const onEnd = () => termination.begin(reason);
      signal.addEventListener("abort", onEnd, { once: true });
      stopWatching = () => signal.removeEventListener("abort", onEnd);
      if (signal.aborted) {
        onEnd();
      }
    }
    const { exitCode, hasRun } = await endOf(child, terminal, program);
    // The end of the command may be seen before the signal of the terminal that ended it.
    const isEnd = (isAtTerminal && isEndByTerminal(exitCode)) || isEndFor(received, exitCode);
    if (hasRun && isEnd && processes.areRunning()) {
      termination.begin("the command has ended, and the processes that it has left are terminated");
    }
    await termination.finished();
    return exitCode;
  } finally {
    stopWatching();
    stopEnding();
    stopOwn();
  }
}

/** Calls the listener at the signals that would otherwise end this process. @returns stops that */
export function onEndingSignals(
  terminal: Pick<Terminal, "signals">,
  listener: (signal: NodeJS.Signals) => void,
): () => void {
  return onSignals(terminal, ENDING_SIGNALS, listener);
}

/** The exit code of shells for a program that a signal has ended. */
export function signalCode(signal: NodeJS.Signals): number {
  return SIGNAL_CODE_BASE + constants.signals[signal];
}

function endOf(child: ChildProcess, terminal: Terminal, program: string): Promise<End> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ exitCode: explainFailedStart(terminal, program, error), hasRun: false }));
    child.once("exit", (code, signal) =>
      resolve({ exitCode: signal === null ? (code ?? 0) : signalCode(signal), hasRun: true }),
    );
  });
}

/** SIGTERM, then SIGKILL, for all processes of a command. */
class Termination {
  readonly #terminal: Terminal;
  readonly #processes: CommandProcesses;
  readonly #killAfterMs: number;
  #stopKilling: (() => void) | null = null;
  #isKilled = false;

  constructor(terminal: Terminal, processes: CommandProcesses, killAfterMs: number) {
    this.#terminal = terminal;
    this.#processes = processes;
    this.#killAfterMs = killAfterMs;
  }

  /** Only the first call has an effect. */
  begin(reason: string): void {
    if (this.#stopKilling !== null) {
      return;
    }
    this.#terminal.stderr.write(`quoinctl: ${reason}\n`);
    this.#processes.signal("SIGTERM");
    this.#stopKilling = this.#terminal.runtime.after(this.#killAfterMs, () => {
      this.#isKilled = true;
      this.#processes.signal("SIGKILL");
    });
  }

  /** Resolves when no process is left, or at once if the termination has not begun. */
  async finished(): Promise<void> {
    if (this.#stopKilling === null) {
      return;
    }
    for (let killedMs = 0; killedMs < KILLED_MS_MAX && this.#processes.areRunning(); ) {
      await this.#terminal.runtime.sleep(POLL_MS, undefined);
      if (this.#isKilled) {
        killedMs += POLL_MS;
      }
    }
    this.#stopKilling();
  }
}

/** Whether the exit code is that of a program that Ctrl-C or the like has ended. */
export function isEndByTerminal(exitCode: number): boolean {
  return TERMINAL_SIGNALS.some((signal) => exitCode === signalCode(signal));
}

/** Whether these signals mean the end of the work. Many programs go on after Ctrl-C, and end later for other reasons. */
function isEndFor(received: ReadonlySet<NodeJS.Signals>, exitCode: number): boolean {
  return [...received].some((signal) => !TERMINAL_SIGNALS.includes(signal) || exitCode !== 0);
}

function explainFailedStart(terminal: Terminal, program: string, error: Error): number {
  terminal.stderr.write(`quoinctl: ${escapeControls(program)} cannot be run: ${escapeControls(error.message)}\n`);
  return "code" in error && error.code === "ENOENT" ? NOT_FOUND_CODE : NOT_RUNNABLE_CODE;
}
