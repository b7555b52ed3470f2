/** Programs of the system, such as `ip` and `nft`. */
import { run as runWithin, succeeds as succeedsWithin } from "../../../testing/index.ts";

/** In milliseconds. Commands here wait only for the kernel. */
const LIMIT_MS = 30_000;

/** Runs a program and returns its output. Rejects with a CommandError that contains its error output. */
export function run(program: string, args: readonly string[], limitMs = LIMIT_MS): Promise<string> {
  return runWithin(program, args, { limitMs });
}

/** Whether a program can be run and ends with 0. */
export function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return succeedsWithin(program, args, { limitMs: LIMIT_MS });
}
