/**
 * Prints the page of the manual with the results of scenarios, scenario × language:
 *
 *     node clients/behaviour/table.ts RESULTS.jsonl … > docs/sdk-behaviour.md
 *
 * Of several results of a scenario in one language the last one counts. It ends with 1 if a scenario has failed.
 */

import { readFileSync } from "node:fs";
import { readScenarios } from "./driver/index.ts";
import { pageOf, type ScenarioResult } from "./results/index.ts";

const files = process.argv.slice(2);
const results = files
  .flatMap((file) => readFileSync(file, "utf8").split("\n"))
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as ScenarioResult);
process.stdout.write(pageOf(readScenarios(import.meta.dirname), results));
process.exitCode = results.some(({ verdict }) => verdict === "failed") ? 1 : 0;
