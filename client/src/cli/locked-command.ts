/**
 * A command that runs while a lock is held: it inherits the standard streams, has the hold in its environment, and gets
 * this process's signals. When the hold is lost, the command and the processes that it has started are terminated. After
 * a signal to end, all of them have ended before the lock is released.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { LockHandle } from "../index.ts";
import { type CommandProcesses, groupOf, processesWith } from "./command-processes.ts";
import { escapeControls } from "./displayed-text.ts";
import type { Terminal } from "./terminal.ts";

/** The command and its limits. */
export interface LockedCommand {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** How long processes that must end may take before they are killed, in milliseconds. */
  readonly killAfterMs: number;
}

/** Signals that end a command with all that it has started. A terminal itself sends the first two to all of them. */
const terminalSignals: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];
const endingSignals: readonly NodeJS.Signals[] = [...terminalSignals, "SIGTERM", "SIGHUP"];
/** Signals with a meaning of their own, for the command alone: most programs would end. */
const ownSignals: readonly NodeJS.Signals[] = ["SIGUSR1", "SIGUSR2"];

/** Time between two looks at the processes that must end, in milliseconds. */
const pollMs = 50;
/** Killed processes are gone at once, unless the system keeps them. Maximum wait for them, in milliseconds. */
const killedMsMax = 2_000;

/** The exit codes of shells for a command that cannot be found, or cannot be run. */
const notFoundCode = 127;
const notRunnableCode = 126;
/** Shells add this to the number of the signal that ended a command. */
const signalCodeBase = 128;

/** How a command ended. */
interface End {
  readonly exitCode: number;
  /** False if it could not be started. */
  readonly hasRun: boolean;
}

/**
 * Runs a command while a lock is held.
 *
 * @returns its exit code, or the code that shells use if it has none.
 */
export async function runWithLock(
  terminal: Terminal,
  handle: LockHandle,
  { words, killAfterMs }: LockedCommand,
): Promise<number> {
  const [program = "", ...parameters] = words;
  const isAtTerminal = [terminal.stdin, terminal.stdout, terminal.stderr].some(({ isTTY }) => isTTY === true);
  const variables = holdVariables(handle);
  const received = new Set<NodeJS.Signals>();
  // Before the command starts: a signal that came in between would end this process alone. Until the end of this turn,
  // listeners are not called.
  const stopForwarding = forwardSignals(terminal, {
    onEnding: (signal) => {
      received.add(signal);
      if (!isAtTerminal || !terminalSignals.includes(signal)) processes.signal(signal);
    },
    onOwn: (signal) => child.kill(signal),
  });
  let stopWatching = (): void => undefined;
  let child: ChildProcess;
  let processes: CommandProcesses;
  try {
    child = spawn(program, parameters, {
      cwd: terminal.workingDirectory,
      env: { ...terminal.environment, ...variables },
      stdio: "inherit",
      // In a process group of its own.
      detached: !isAtTerminal,
    });
    processes = isAtTerminal ? processesWith(variables, child) : groupOf(child);
    const termination = new Termination(terminal, processes, killAfterMs);
    const onLost = () => termination.begin("the lock is lost, and the command is terminated");
    handle.signal.addEventListener("abort", onLost, { once: true });
    stopWatching = () => handle.signal.removeEventListener("abort", onLost);
    if (handle.signal.aborted) onLost();
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
    stopForwarding();
  }
}

function endOf(child: ChildProcess, terminal: Terminal, program: string): Promise<End> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ exitCode: explainFailedStart(terminal, program, error), hasRun: false }));
    child.once("exit", (code, signal) => resolve({ exitCode: exitCodeOf(code, signal), hasRun: true }));
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
    if (this.#stopKilling !== null) return;
    this.#terminal.stderr.write(`quoinctl: ${reason}\n`);
    this.#processes.signal("SIGTERM");
    this.#stopKilling = this.#terminal.runtime.after(this.#killAfterMs, () => {
      this.#isKilled = true;
      this.#processes.signal("SIGKILL");
    });
  }

  /** Resolves when no process is left, or at once if the termination has not begun. */
  async finished(): Promise<void> {
    if (this.#stopKilling === null) return;
    for (let killedMs = 0; killedMs < killedMsMax && this.#processes.areRunning(); ) {
      await this.#terminal.runtime.sleep(pollMs, undefined);
      if (this.#isKilled) killedMs += pollMs;
    }
    this.#stopKilling();
  }
}

function holdVariables({ namespace, name, token, owner }: LockHandle): Record<string, string> {
  return {
    QUOIN_NAMESPACE: namespace,
    QUOIN_LOCK: name,
    QUOIN_FENCING_TOKEN: String(token),
    QUOIN_LOCK_OWNER: owner,
  };
}

/** What a signal does instead of ending this process, which must release a lock first. */
interface SignalActions {
  readonly onEnding: (signal: NodeJS.Signals) => void;
  readonly onOwn: (signal: NodeJS.Signals) => void;
}

function forwardSignals({ signals }: Terminal, { onEnding, onOwn }: SignalActions): () => void {
  const listeners = [
    ...endingSignals.map((signal) => ({ signal, listener: () => onEnding(signal) })),
    ...ownSignals.map((signal) => ({ signal, listener: () => onOwn(signal) })),
  ];
  for (const { signal, listener } of listeners) signals.on(signal, listener);
  return () => {
    for (const { signal, listener } of listeners) signals.off(signal, listener);
  };
}

/** Whether the exit code is that of a program that Ctrl-C or the like has ended. */
function isEndByTerminal(exitCode: number): boolean {
  return terminalSignals.some((signal) => exitCode === signalCodeBase + constants.signals[signal]);
}

/** Whether these signals mean the end of the work. Many programs go on after Ctrl-C, and end later for other reasons. */
function isEndFor(received: ReadonlySet<NodeJS.Signals>, exitCode: number): boolean {
  return [...received].some((signal) => !terminalSignals.includes(signal) || exitCode !== 0);
}

function explainFailedStart(terminal: Terminal, program: string, error: Error): number {
  terminal.stderr.write(`quoinctl: ${escapeControls(program)} cannot be run: ${escapeControls(error.message)}\n`);
  return "code" in error && error.code === "ENOENT" ? notFoundCode : notRunnableCode;
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return signal === null ? (code ?? 0) : signalCodeBase + constants.signals[signal];
}
