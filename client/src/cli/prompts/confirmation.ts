/** Asks a person to confirm with yes before data is lost. */

import { createInterface } from "node:readline/promises";
import { InterruptedError, UsageError } from "../errors/index.ts";
import type { Terminal } from "../terminal/index.ts";

/**
 * Asks on a terminal; any answer other than `yes` is a no.
 *
 * @throws UsageError for another answer, or without a terminal; InterruptedError at Ctrl-C.
 */
export async function confirm({ stdin, stderr }: Pick<Terminal, "stdin" | "stderr">, question: string): Promise<void> {
  if (stdin.isTTY !== true) {
    throw new UsageError("nothing was changed: it was not confirmed", "confirm it with --yes");
  }
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    const ended = new Promise<never>((_resolve, reject) => {
      lines.once("SIGINT", () => reject(new InterruptedError("interrupted during the confirmation")));
      lines.once("close", () => reject(new UsageError("nothing was changed: there was no answer")));
    });
    const answer = await Promise.race([lines.question(`${question} Type yes to continue: `), ended]);
    if (answer.trim() !== "yes") {
      throw new UsageError("nothing was changed: the answer was not yes");
    }
  } finally {
    lines.close();
  }
}
