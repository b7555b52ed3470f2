/**
 * Brings the operator's types up to date with the definition of CoordinationCluster, or, with --check, says whether they
 * are. Exits with 1 if not, 2 on wrong use.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readDefinition, schemaOf } from "./definition.ts";
import { describeTypes } from "./types.ts";

const NAME = "operator/src/generated/coordination-cluster.ts";
const FILE = path.resolve(import.meta.dirname, "../..", NAME);

const parameters = process.argv.slice(2);
const text = await describeTypes(schemaOf(readDefinition()));
const isCurrent = existsSync(FILE) && readFileSync(FILE, "utf8") === text;
if (parameters.length === 0) {
  if (!isCurrent) {
    mkdirSync(path.dirname(FILE), { recursive: true });
    writeFileSync(FILE, text);
  }
  console.log(isCurrent ? `${NAME} is current.` : `wrote ${NAME}`);
} else if (parameters.length === 1 && parameters[0] === "--check") {
  if (!isCurrent) {
    console.error(`${NAME} does not fit the definition in crds/: run npm run crds:generate`);
    process.exitCode = 1;
  }
} else {
  console.error("usage: node operator/scripts/generate.ts [--check]");
  process.exitCode = 2;
}
