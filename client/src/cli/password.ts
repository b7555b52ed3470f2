/** Passwords: out of a file, or typed by somebody who does not see what they type. */

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
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
 * @throws UsageError when the input ends before there is a line.
 */
export async function askPassword({ stdin, stderr }: Pick<Terminal, "stdin" | "stderr">): Promise<string> {
  if (stdin.isTTY === true) stderr.write("Password: ");
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  // For a terminal it takes over the echo, and writes it to where nobody sees it.
  const lines = createInterface({ input: stdin, output: unseen, terminal: stdin.isTTY === true });
  try {
    const ended = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
    const password = await Promise.race([lines.question(""), ended]);
    if (password === undefined) throw new UsageError("there is no password: type one, or use --password-file");
    return password;
  } finally {
    lines.close();
    if (stdin.isTTY === true) stderr.write("\n");
  }
}
