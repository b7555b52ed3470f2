/** Mutual exclusion between processes of this machine, across all clones of the repository. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Runs the work while no other process runs work with the same file. Waits without a limit.
 *
 * @param file created if it is missing, and never removed; nothing is written to it
 */
export async function exclusively<T>(file: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  // It holds the file until its input ends, also when this process is killed.
  const holder = spawn("flock", [file, "sh", "-c", "echo held; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(holder, "exit");
  await Promise.race([once(holder.stdout, "data"), ended]);
  if (holder.exitCode !== null || holder.signalCode !== null) {
    throw new Error(`${file} cannot be held: flock ended with ${holder.exitCode ?? holder.signalCode}`);
  }
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
}
