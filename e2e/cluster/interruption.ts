/** Handles signals to the harness while it has a temporary cluster. */

import { spawnSync } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { endCommands } from "../../testing/index.ts";

/**
 * From now on, SIGINT, SIGTERM and SIGHUP remove the cluster of this clone. Then this process exits with the customary
 * code, 128 plus the signal number.
 *
 * A separate program removes the cluster, and this process only waits, because it may be in the middle of a start.
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
