/**
 * A process that makes runs for another one: it receives seeds and sends reports. It ends when the other process ends
 * it, or is gone. In the second case it removes their folder of temporary files.
 */

import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { runSeed } from "./seed-run.ts";

const { values } = parseArgs({ options: { shrink: { type: "boolean" }, temporary: { type: "string" } } });
const { shrink: isShrunk = false, temporary } = values;
if (temporary === undefined) {
  throw new Error("the option --temporary is missing");
}
process.env.TMPDIR = temporary;

/** The other process is gone. A report that cannot be sent may say so earlier than the channel does. */
function leave(): void {
  // Threads of a store, and the processes beside this one, may add a file meanwhile, so the removal is retried.
  rmSync(temporary as string, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
}

process.on("message", async (seed: number) => {
  const report = await runSeed(seed, { isShrunk, listener: null });
  process.send?.(report, (error: Error | null) => {
    if (error !== null) {
      leave();
    }
  });
});
process.on("disconnect", leave);
// The terminal sends this signal to all processes; the other process decides.
process.on("SIGINT", () => undefined);
