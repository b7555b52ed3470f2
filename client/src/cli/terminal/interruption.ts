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
  for (const signal of SIGNALS) {
    terminal.signals.on(signal, interrupt);
  }
  try {
    return await work(controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    for (const signal of SIGNALS) {
      terminal.signals.off(signal, interrupt);
    }
  }
}
