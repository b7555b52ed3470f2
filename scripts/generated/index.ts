/** Generated files of the repository: updates them, or only compares them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export { markdownTable } from "./markdown-table.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** The files that a script generates, and its message about outdated ones. */
export interface Generation {
  /** Path of the script from the root of the repository. */
  readonly script: string;
  /** The expected content of each file, by its path from the root of the repository. */
  readonly files: () => ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
  /** The message about a file with other content, after its name. */
  readonly complaint: string;
}

/**
 * Does what the arguments of this process request: writes the files that are not current or, with --check, names them
 * and sets the exit code to 1. Sets it to 2 on wrong use.
 */
export async function generate({ script, files, complaint }: Generation): Promise<void> {
  const parameters = process.argv.slice(2);
  const isCheck = parameters.length === 1 && parameters[0] === "--check";
  if (parameters.length > 0 && !isCheck) {
    console.error(`usage: node ${script} [--check]`);
    process.exitCode = 2;
    return;
  }
  for (const [name, text] of await files()) {
    const file = path.join(ROOT, name);
    const isCurrent = existsSync(file) && readFileSync(file, "utf8") === text;
    if (isCheck) {
      if (!isCurrent) {
        console.error(`${name} ${complaint}`);
        process.exitCode = 1;
      }
      continue;
    }
    if (!isCurrent) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    console.log(isCurrent ? `${name} is current.` : `wrote ${name}`);
  }
}
