/**
 * Prints the results of scenarios as a table in Markdown, scenario × language:
 *
 *     node clients/behaviour/table.ts RESULTS.jsonl …
 *
 * Of several results of a scenario in one language the last one counts. It ends with 1 if a scenario has failed.
 */

import { readFileSync } from "node:fs";
import { readScenarios } from "./driver/index.ts";
import { type ScenarioResult, tableOf } from "./results/index.ts";

const files = process.argv.slice(2);
const results = files
  .flatMap((file) => readFileSync(file, "utf8").split("\n"))
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as ScenarioResult);
process.stdout.write(tableOf(readScenarios(import.meta.dirname), results));
process.exitCode = results.some(({ verdict }) => verdict === "failed") ? 1 : 0;
