/**
 * Starts a cluster, and serves the scenarios of this folder to a runner, until standard input ends or SIGTERM comes:
 *
 *     node clients/behaviour/driver.ts [--results FILE]
 *
 * The first line of its output is JSON: `{"url": "http://127.0.0.1:…"}`. The results get a line of JSON for each scenario
 * that has ended.
 */

import { parseArgs } from "node:util";
import { Driver, readScenarios } from "./driver/index.ts";

const { values } = parseArgs({ options: { results: { type: "string" } } });
const driver = await Driver.start(readScenarios(import.meta.dirname), values.results);
process.stdout.write(`${JSON.stringify({ url: driver.url })}\n`);
await new Promise<void>((end) => {
  process.stdin.once("end", end).resume();
  process.once("SIGTERM", () => end()).once("SIGINT", () => end());
});
await driver.close();
process.exit(0);
