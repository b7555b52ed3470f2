/** What happens when the harness is told to end while it has a cluster that nobody is to keep. */

import { spawnSync } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { endCommands } from "../../testing/index.ts";

/**
 * From now on, SIGINT, SIGTERM and SIGHUP remove the cluster of this clone and end this process with the customary exit
 * code, 128 plus the number of the signal.
 *
 * A program of its own removes it, while this process waits and does nothing else: it may be in the middle of a start.
 */
export function removeClusterOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      endCommands();
      spawnSync(process.execPath, [join(import.meta.dirname, "down.ts")], { stdio: "inherit" });
      process.exit(128 + constants.signals[signal]);
    });
  }
}
