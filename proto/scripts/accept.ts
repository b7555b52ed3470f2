/**
 * Makes the present protobuf definitions the accepted contract, which later changes are compared with. Prints what
 * breaks clients of the previous contract. Exits with 1 if the definitions do not compile.
 */

import { existsSync } from "node:fs";
import path from "node:path";
import { acceptContract, BASELINE_NAME, CONTRACT_DIRECTORY, compareWithBaseline, DefinitionError } from "./contract.ts";

async function accept(): Promise<void> {
  const known = existsSync(path.join(CONTRACT_DIRECTORY, BASELINE_NAME));
  const breaking = known ? await compareWithBaseline(CONTRACT_DIRECTORY) : undefined;
  const changed = await acceptContract(CONTRACT_DIRECTORY);
  const wrote = `Wrote proto/${BASELINE_NAME}.`;
  if (breaking === undefined) {
    console.log(`There was no accepted contract. ${wrote}`);
  } else if (!changed) {
    console.log("The accepted contract is current.");
  } else if (breaking.succeeded) {
    console.log(`Accepted changes that break no client. ${wrote}`);
  } else {
    console.log(`Accepted changes that break clients:\n${breaking.output.trimEnd()}\n${wrote}`);
  }
}

try {
  await accept();
} catch (error) {
  if (!(error instanceof DefinitionError)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = 1;
}
