/**
 * A process that makes runs for another one: a seed comes in, a report goes out. It ends when the other one ends it, or
 * is gone.
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
// The terminal sends this to everybody, and it is the other process that decides.
process.on("SIGINT", () => undefined);
