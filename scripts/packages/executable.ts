/**
 * Builds quoinctl as one file for this platform, which contains Node itself (a single executable application). It runs on
 * machines without Node.
 */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bundleJavaScript } from "../bundle/index.ts";
import { PROGRAMS } from "./programs.ts";

/** Writes the executable into the destination. Returns its path. It takes the Node that runs this program. */
export async function buildExecutable(destination: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "quoin-executable-"));
  const output = path.join(destination, `quoinctl-${process.platform}-${process.arch}`);
  try {
    const name = "quoinctl";
    await bundleJavaScript({
      entries: { [name]: PROGRAMS[name] },
      directory: folder,
      format: "esm",
      extension: ".mjs",
      minify: true,
    });
    const configuration = path.join(folder, "sea.json");
    const settings = {
      main: path.join(folder, `${name}.mjs`),
      mainFormat: "module",
      output,
      executable: process.execPath,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
    };
    writeFileSync(configuration, JSON.stringify(settings));
    execFileSync(process.execPath, ["--build-sea", configuration], { stdio: ["ignore", "ignore", "inherit"] });
    chmodSync(output, 0o755);
    return output;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
