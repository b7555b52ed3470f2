/**
 * Runs the simulator: `--seeds N` runs, from `--seed S` on, `--twice` each of them two times to see that nothing but
 * the seed decides, `--trace` with all that happens. Ends with the exit code 1 at the first run that fails.
 */

import { parseArgs } from "node:util";
import { describeRun } from "./report.ts";
import { Simulation } from "./simulation.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    trace: { type: "boolean", default: false },
    twice: { type: "boolean", default: false },
    quiet: { type: "boolean", default: false },
    "keep-going": { type: "boolean", default: false },
  },
});
const first = Number(values.seed);
const count = Number(values.seeds);
let failures = 0;

for (let seed = first; seed < first + count; seed++) {
  const result = new Simulation(seed, values.trace ? (line) => process.stdout.write(`${line}\n`) : null).run();
  const again = values.twice ? new Simulation(seed).run() : result;
  const isFailed = result.failure !== null;
  if (isFailed || !values.quiet) {
    process.stdout.write(`${describeRun(result)}\n`);
  }
  if (again.traceHash !== result.traceHash) {
    process.stdout.write(`seed ${seed} is not deterministic: trace ${result.traceHash}, then ${again.traceHash}\n`);
  }
  if (isFailed || again.traceHash !== result.traceHash) {
    failures++;
    process.exitCode = 1;
    if (!values["keep-going"]) {
      break;
    }
  }
}
if (failures === 0) {
  process.stdout.write(`${count} seeds from ${first} on: every rule held\n`);
}
