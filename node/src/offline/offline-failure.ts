/** How commands on stored data report a failure: one line for people, and the exit code. */

import { BackupError, StoreFailure } from "@quoin/backup";
import { InvariantViolation } from "../primitives/index.ts";
import { ExitCode, exitCodeOf } from "../process/index.ts";
import { Refused, StoreError } from "../storage/index.ts";

/** Problems with a backup that are no findings about its data. */
const OF_CONFIGURATION: ReadonlySet<string> = new Set(["bad-argument", "bad-key", "unsupported-node"]);

/** Prints the error, and returns the exit code. */
export function reportFailure(error: unknown): number {
  process.stderr.write(`quoin-node: ${describeError(error)}\n`);
  if (error instanceof Refused) {
    return error.state === "MEMBER_REMOVED" ? ExitCode.Removed : ExitCode.DataRefused;
  }
  if (error instanceof BackupError) {
    return OF_CONFIGURATION.has(error.code) ? ExitCode.Configuration : ExitCode.DataRefused;
  }
  return error instanceof StoreFailure || isOfFileSystem(error) ? ExitCode.Store : exitCodeOf(error);
}

/** Describes the error, and the next step if there is one. */
export function describeError(error: unknown): string {
  if (error instanceof StoreError && error.kind === "locked") {
    return `${error.message}. A process uses this directory: stop the member first`;
  }
  if (error instanceof BackupError && error.code === "not-sealed") {
    return `${error.message}. If that is as it should be, restore with --allow-unencrypted`;
  }
  if (error instanceof InvariantViolation) {
    return error.stack ?? error.message;
  }
  return error instanceof Error ? error.message : String(error);
}

function isOfFileSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
