/** Passwords: out of a file, or typed by somebody who does not see what they type. */

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { InterruptedError } from "./interrupted-error.ts";
import type { Terminal } from "./terminal.ts";
import { readTextFile } from "./text-file.ts";
import { UsageError } from "./usage-error.ts";

/** Without the line break at its end, which an editor has put there. */
export async function readPasswordFile(file: string): Promise<string> {
  return (await readTextFile(file)).replace(/\r?\n$/, "");
}

/**
 * Asks for a password. A terminal shows nothing of it; without a terminal it is the first line of the standard input.
 *
 * @throws UsageError when the input ends before there is a line; InterruptedError when a terminal sends Ctrl-C instead.
 */
export async function askPassword({ stdin, stderr }: Pick<Terminal, "stdin" | "stderr">): Promise<string> {
  const isTerminal = stdin.isTTY === true;
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  // For a terminal it takes over the echo, and writes it to where nobody sees it; closing it gives the echo back.
  const lines = createInterface({ input: stdin, output: unseen, terminal: isTerminal });
  try {
    const ended = new Promise<never>((_resolve, reject) => {
      lines.once("SIGINT", () => reject(new InterruptedError("interrupted while a password was asked for")));
      lines.once("close", () => reject(new UsageError("there is no password: type one, or use --password-file")));
    });
    const answered = lines.question("");
    // Only now: whoever answers the question at once must not see the answer.
    if (isTerminal) stderr.write("Password: ");
    return await Promise.race([answered, ended]);
  } finally {
    lines.close();
    if (isTerminal) stderr.write("\n");
  }
}
