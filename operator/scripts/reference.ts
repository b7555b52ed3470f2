/**
 * Brings docs/reference.md up to date with the definition of CoordinationCluster, or, with --check, says whether it is.
 * Exits with 1 if not, 2 on wrong use.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readDefinition } from "./definition.ts";
import { describeReference } from "./reference-text.ts";

const NAME = "docs/reference.md";
const FILE = path.resolve(import.meta.dirname, "../..", NAME);

const parameters = process.argv.slice(2);
const text = describeReference(readDefinition());
const isCurrent = existsSync(FILE) && readFileSync(FILE, "utf8") === text;
if (parameters.length === 0) {
  if (!isCurrent) {
    writeFileSync(FILE, text);
  }
  console.log(isCurrent ? `${NAME} is current.` : `wrote ${NAME}`);
} else if (parameters.length === 1 && parameters[0] === "--check") {
  if (!isCurrent) {
    console.error(`${NAME} does not describe the definition in crds/: run npm run docs:reference`);
    process.exitCode = 1;
  }
} else {
  console.error("usage: node operator/scripts/reference.ts [--check]");
  process.exitCode = 2;
}
