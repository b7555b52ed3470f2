/**
 * `node bench/noisy/noise-process.ts NAME`: makes one noise in a process of its own, so that the quiet tenant has another
 * event loop. The target comes as JSON by standard input, because it has a token. Prints a line when it begins, and then
 * what it did.
 */
import { text } from "node:stream/consumers";
import type { NoiseTarget } from "./noise.ts";
import { NOISES } from "./noises.ts";

const MS_PER_SECOND = 1_000;

const [name] = process.argv.slice(2);
const noise = NOISES.find((one) => one.name === name);
if (noise === undefined) {
  throw new Error(`there is no noise ${name}`);
}
const target: NoiseTarget = JSON.parse(await text(process.stdin));
process.stdout.write("begun\n");
const did = await noise.run(target, AbortSignal.timeout(target.seconds * MS_PER_SECOND));
// Calls may still be open.
process.stdout.write(did, () => process.exit());
