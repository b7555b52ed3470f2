/** Small text files that the user names: keys and certificates. */

import { readFile } from "node:fs/promises";
import { unusable } from "./file-error.ts";

/** @throws UsageError when the file cannot be read. */
export async function readTextFile(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: unknown) => {
    throw unusable(file, "read", error);
  });
}
