/**
 * Updates the generated files from the protobuf definitions. With --check it only checks that the files are up to date,
 * that the definitions follow buf.yaml, and that they break no client of the accepted contract. Exits with 1 if a check
 * fails, and with 2 on wrong usage.
 */

import { CONTRACT_DIRECTORY, checkContract, DefinitionError, writeDerivedFiles } from "./contract.ts";

async function generate(): Promise<void> {
  const changed = await writeDerivedFiles(CONTRACT_DIRECTORY);
  for (const file of changed) {
    console.log(`${file.reason === "superfluous" ? "removed" : "wrote"} proto/${file.path}`);
  }
  if (changed.length === 0) {
    console.log("The generated files are current.");
  }
}

async function check(): Promise<void> {
  const problems = await checkContract(CONTRACT_DIRECTORY);
  for (const problem of problems) {
    console.error(`${problem.title}:\n${problem.details.trimEnd()}\n${problem.remedy}\n`);
  }
  if (problems.length === 0) {
    console.log("The protobuf definitions and the generated files are in order.");
  } else {
    process.exitCode = 1;
  }
}

const parameters = process.argv.slice(2);

try {
  if (parameters.length === 0) {
    await generate();
  } else if (parameters.length === 1 && parameters[0] === "--check") {
    await check();
  } else {
    console.error("usage: node proto/scripts/generate.ts [--check]");
    process.exitCode = 2;
  }
} catch (error) {
  if (!(error instanceof DefinitionError)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = 1;
}
