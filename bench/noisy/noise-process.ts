/**
 * `node bench/noisy/noise-process.ts NAME`: makes one noise in a process of its own, so that the quiet tenant has another
 * event loop. The target comes as JSON by standard input, because it has a token. Prints what it did.
 */
import { setPriority } from "node:os";
import { text } from "node:stream/consumers";
import type { NoiseTarget } from "./noise.ts";
import { NOISES } from "./noises.ts";

/** Clients run on other machines. Here they must not take processor time that members need. */
const LOWEST_PRIORITY = 19;
const MS_PER_SECOND = 1_000;

const [name] = process.argv.slice(2);
const noise = NOISES.find((one) => one.name === name);
if (noise === undefined) {
  throw new Error(`there is no noise ${name}`);
}
setPriority(LOWEST_PRIORITY);
const target: NoiseTarget = JSON.parse(await text(process.stdin));
const did = await noise.run(target, AbortSignal.timeout(target.seconds * MS_PER_SECOND));
// Calls may still be open.
process.stdout.write(did, () => process.exit());
