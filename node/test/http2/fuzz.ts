/**
 * Runs connections of the fuzz test until this many frames were sent:
 *
 *     node node/test/http2/fuzz.ts --frames 10000000 --seed 1
 *
 * Prints why the connections ended, and the seed of one that broke a rule.
 */
import { parseArgs } from "node:util";
import { fuzzConnection } from "./fuzz-run.ts";
import { recordClients } from "./recorded-clients.ts";

const { values } = parseArgs({
  options: { frames: { type: "string", default: "1000000" }, seed: { type: "string", default: "1" } },
});
const recorded = await recordClients();
const ends = new Map<string, number>();
let frames = 0;
let seed = Number(values.seed);
for (; frames < Number(values.frames); seed++) {
  try {
    const run = fuzzConnection(seed, recorded);
    frames += run.frames;
    ends.set(run.end, (ends.get(run.end) ?? 0) + 1);
  } catch (error) {
    console.error(`The connection of seed ${seed} is broken`);
    throw error;
  }
}
console.log(`${frames} frames on ${seed - Number(values.seed)} connections, none broken`);
for (const [end, count] of [...ends].sort(([, one], [, other]) => other - one)) {
  console.log(`${String(count).padStart(9)} ${end}`);
}
