/** Ctrl-C and other signals that end a command which must clean up first. */

import { InterruptedError } from "../errors/index.ts";
import type { Terminal } from "./terminal.ts";

const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Runs work that ends when its signal aborts.
 *
 * @throws InterruptedError if a signal has ended it, whatever error the work raises then.
 */
export async function interruptible<Value>(
  terminal: Pick<Terminal, "signals">,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const interrupt = () => controller.abort(new InterruptedError("the command was interrupted"));
  const stop = onSignals(terminal, SIGNALS, interrupt);
  try {
    return await work(controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    stop();
  }
}

/** Calls the listener at these signals, instead of what the system does then. @returns stops that */
export function onSignals(
  { signals }: Pick<Terminal, "signals">,
  names: readonly NodeJS.Signals[],
  listener: (signal: NodeJS.Signals) => void,
): () => void {
  const listeners = names.map((name) => ({ name, heard: () => listener(name) }));
  for (const { name, heard } of listeners) {
    signals.on(name, heard);
  }
  return () => {
    for (const { name, heard } of listeners) {
      signals.off(name, heard);
    }
  };
}
