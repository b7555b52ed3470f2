/** `node node/test/crash/main.ts --rounds 500 --seed 1`: rounds of kill -9 until one fails or all are done. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runKillRounds } from "./kill-rounds.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "500" }, seed: { type: "string", default: "1" } },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
const directory = mkdtempSync(join(tmpdir(), "quoin-test-kill-"));
console.log(`${rounds} rounds, seed ${seed}, in ${directory}`);
const summary = await runKillRounds({
  directory,
  rounds,
  seed,
  onRound: (round, load) => {
    if (round % 10 === 0) {
      console.log(`round ${round}: ${load.acknowledged} acknowledged, ${load.replayed} answered again`);
    }
  },
});
// After a failure the directory stays for inspection.
rmSync(directory, { recursive: true, force: true });
console.log(JSON.stringify(summary));
