/** Passwords: from a file, or typed without echo. */

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { InterruptedError, UsageError } from "../errors/index.ts";
import { readTextFile } from "../files/index.ts";
import type { Terminal } from "../terminal/index.ts";

/** Without the line break at the end, which an editor adds. */
export async function readPasswordFile(file: string): Promise<string> {
  return (await readTextFile(file)).replace(/\r?\n$/, "");
}

/**
 * Prompts for a password. A terminal does not echo it; without a terminal it is the first line of the standard input.
 *
 * @throws UsageError if the input ends without a line; InterruptedError if a terminal sends Ctrl-C instead.
 */
export async function askPassword({ stdin, stderr }: Pick<Terminal, "stdin" | "stderr">): Promise<string> {
  const isTerminal = stdin.isTTY === true;
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  // On a terminal, it takes over the echo and discards it; closing it restores the echo.
  const lines = createInterface({ input: stdin, output: unseen, terminal: isTerminal });
  try {
    const ended = new Promise<never>((_resolve, reject) => {
      lines.once("SIGINT", () => reject(new InterruptedError("interrupted at the password prompt")));
      lines.once("close", () => reject(new UsageError("there is no password: type one, or use --password-file")));
    });
    const answered = lines.question("");
    // Only now: an answer that is typed at once must not be echoed.
    if (isTerminal) {
      stderr.write("Password: ");
    }
    return await Promise.race([answered, ended]);
  } finally {
    lines.close();
    if (isTerminal) {
      stderr.write("\n");
    }
  }
}
