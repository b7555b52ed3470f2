/** Small text files that the user names: keys and certificates. */

import { readFile } from "node:fs/promises";
import { UsageError } from "../errors/index.ts";

/** @throws UsageError when the file cannot be read. */
export async function readTextFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
