/** A question that a person answers with yes before something is lost. */

import { createInterface } from "node:readline/promises";
import { InterruptedError } from "./interrupted-error.ts";
import type { Terminal } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Asks on a terminal; anything but `yes` is a no.
 *
 * @throws UsageError when the answer is another one, or there is no terminal to ask on; InterruptedError at Ctrl-C.
 */
export async function confirm({ stdin, stderr }: Pick<Terminal, "stdin" | "stderr">, question: string): Promise<void> {
  if (stdin.isTTY !== true) throw new UsageError("nothing was changed: it was not confirmed", "confirm it with --yes");
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    const ended = new Promise<never>((_resolve, reject) => {
      lines.once("SIGINT", () => reject(new InterruptedError("interrupted while a confirmation was asked for")));
      lines.once("close", () => reject(new UsageError("nothing was changed: there was no answer")));
    });
    const answer = await Promise.race([lines.question(`${question} Type yes to go on: `), ended]);
    if (answer.trim() !== "yes") throw new UsageError("nothing was changed: the answer was not yes");
  } finally {
    lines.close();
  }
}
