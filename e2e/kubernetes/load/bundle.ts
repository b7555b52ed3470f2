/** The load as one file, because the image of the members, in which it runs, has no packages. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleJavaScript } from "../../../scripts/bundle/index.ts";

/** Returns the text of the ESM program, which a ConfigMap can hold. */
export async function bundleLoad(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "quoin-load-"));
  try {
    const entries = { program: "e2e/kubernetes/load/program.ts" };
    const short = { minify: true, minifyNames: true };
    await bundleJavaScript({ entries, directory, format: "esm", extension: ".mjs", ...short });
    return readFileSync(join(directory, "program.mjs"), "utf8");
  } finally {
    rmSync(directory, { recursive: true });
  }
}
