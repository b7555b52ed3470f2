/**
 * A command that runs while a lock is held: it inherits the standard streams, has the hold in its environment, gets
 * this process's signals, and is terminated when the hold is lost.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { LockHandle } from "../index.ts";
import { escapeControls } from "./displayed-text.ts";
import type { Terminal } from "./terminal.ts";

/** The command and its limits. */
export interface LockedCommand {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** After a lost hold, how long the command may take to end before it is killed, in milliseconds. */
  readonly killAfterMs: number;
}

/** Signals that end a command. A terminal also sends the first two to the command itself. */
const terminalSignals: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];
const forwardedSignals: readonly NodeJS.Signals[] = [...terminalSignals, "SIGTERM", "SIGHUP", "SIGUSR2"];

/** The exit codes of shells for a command that cannot be found, or cannot be run. */
const notFoundCode = 127;
const notRunnableCode = 126;
/** Shells add this to the number of the signal that ended a command. */
const signalCodeBase = 128;

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
  const child = spawn(program, parameters, {
    cwd: terminal.workingDirectory,
    env: { ...terminal.environment, ...holdVariables(handle) },
    stdio: "inherit",
  });
  const stopForwarding = forwardSignals(terminal, child);
  let stopKilling: () => void = () => undefined;
  const terminate = () => {
    terminal.stderr.write(`quoinctl: the lock is lost, and the command is terminated\n`);
    child.kill("SIGTERM");
    stopKilling = terminal.runtime.after(killAfterMs, () => child.kill("SIGKILL"));
  };
  handle.signal.addEventListener("abort", terminate, { once: true });
  if (handle.signal.aborted) terminate();
  try {
    return await new Promise<number>((resolve) => {
      child.once("error", (error) => resolve(explainFailedStart(terminal, program, error)));
      child.once("exit", (code, signal) => resolve(exitCodeOf(code, signal)));
    });
  } finally {
    handle.signal.removeEventListener("abort", terminate);
    stopKilling();
    stopForwarding();
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

/** A listener keeps a signal from ending this process, which must release a lock first. */
function forwardSignals({ signals, stdin }: Terminal, child: ChildProcess): () => void {
  const isAtTerminal = stdin.isTTY === true;
  const listeners = forwardedSignals.map((signal) => {
    const listener = () => {
      if (!isAtTerminal || !terminalSignals.includes(signal)) child.kill(signal);
    };
    signals.on(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) signals.off(signal, listener);
  };
}

function explainFailedStart(terminal: Terminal, program: string, error: Error): number {
  terminal.stderr.write(`quoinctl: ${escapeControls(program)} cannot be run: ${escapeControls(error.message)}\n`);
  return "code" in error && error.code === "ENOENT" ? notFoundCode : notRunnableCode;
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return signal === null ? (code ?? 0) : signalCodeBase + constants.signals[signal];
}
