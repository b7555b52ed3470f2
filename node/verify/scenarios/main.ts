/**
 * Runs the scenario files beside it. With --rewrite it writes the actual results into them, for review. Without it, it
 * names the files that differ and exits with 1.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { runScenario } from "./run.ts";

const folder = new URL("./", import.meta.url);
const isRewrite = process.argv.includes("--rewrite");
const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const files = readdirSync(folder).filter((name) => name.endsWith(".txt"));

for (const file of files.filter((name) => wanted.length === 0 || wanted.includes(name.slice(0, -4)))) {
  const url = new URL(file, folder);
  const expected = readFileSync(url, "utf8");
  const actual = runScenario(expected);
  if (actual !== expected) {
    process.stdout.write(`${file} ${isRewrite ? "rewritten" : "differs"}\n`);
    if (isRewrite) {
      writeFileSync(url, actual);
    } else {
      process.exitCode = 1;
    }
  }
}
