/** Commands of the system, such as `ip` and `nft`: run without a shell, never blocking, their failures told in words. */

import { execFile } from "node:child_process";

/** No command here waits for anything but the kernel. */
const TIMEOUT_MS = 30_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** A command ended with another code than 0, or could not be run. */
export class CommandError extends Error {
  /** What it ended with; null if it could not be run or was ended by a signal. */
  readonly code: number | null;

  constructor(message: string, code: number | null, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Runs a program and returns what it printed. Rejects with a CommandError that holds what it complained about. */
export function run(program: string, args: readonly string[], timeoutMs = TIMEOUT_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: timeoutMs, maxBuffer: OUTPUT_BYTES_MAX };
    execFile(program, [...args], options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
      } else {
        const complaint = stderr.trim() === "" ? error.message : stderr.trim();
        const code = typeof error.code === "number" ? error.code : null;
        reject(new CommandError(`${program} ${args.join(" ")}: ${complaint}`, code, error));
      }
    });
  });
}

/** Whether a command can be run and ends with 0. */
export async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  try {
    await run(program, args);
    return true;
  } catch (error) {
    if (error instanceof CommandError) {
      return false;
    }
    throw error;
  }
}
