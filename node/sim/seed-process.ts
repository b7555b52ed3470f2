/**
 * A process that makes runs for another one: it receives seeds and sends reports. It ends when the other process ends
 * it, or is gone.
 */

import { runSeed } from "./seed-run.ts";

const isShrunk = process.argv.includes("--shrink");

process.on("message", async (seed: number) => {
  const report = await runSeed(seed, { isShrunk, listener: null });
  process.send?.(report, (error: Error | null) => {
    if (error !== null) {
      process.exit(1);
    }
  });
});
// The terminal sends this signal to all processes; the other process decides.
process.on("SIGINT", () => undefined);
