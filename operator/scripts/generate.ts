/**
 * Brings what follows from the definition of CoordinationCluster up to date with it, or, with --check, says whether it is:
 * the operator's types, and what the charts have of it. Exits with 1 if not, 2 on wrong use.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describeValues } from "./chart-schema.ts";
import { definitionText, readDefinition, schemaOf } from "./definition.ts";
import { describeTypes } from "./types.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** By path from the root of the repository. */
async function generate(): Promise<ReadonlyMap<string, string>> {
  const schema = schemaOf(readDefinition());
  return new Map([
    ["operator/src/generated/coordination-cluster.ts", await describeTypes(schema)],
    ["charts/quoin-operator/files/quoin.dev_coordinationclusters.yaml", definitionText()],
    ["charts/quoin-cluster/values.schema.json", describeValues(schema)],
  ]);
}

function isCurrent(name: string, text: string): boolean {
  const file = path.join(ROOT, name);
  return existsSync(file) && readFileSync(file, "utf8") === text;
}

const parameters = process.argv.slice(2);
const isCheck = parameters.length === 1 && parameters[0] === "--check";
if (parameters.length > 0 && !isCheck) {
  console.error("usage: node operator/scripts/generate.ts [--check]");
  process.exit(2);
}
for (const [name, text] of await generate()) {
  if (isCurrent(name, text)) {
    if (!isCheck) {
      console.log(`${name} is current.`);
    }
  } else if (isCheck) {
    console.error(`${name} does not fit the definition in crds/: run npm run crds:generate`);
    process.exitCode = 1;
  } else {
    const file = path.join(ROOT, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote ${name}`);
  }
}
