/** How the program of a member ends, for those who start it: one number for each thing that must be done about it. */

import { UsageError } from "./command-line/index.ts";
import { JoinTokenFileError, TlsFilesError } from "./peers/index.ts";
import { InvariantViolation } from "./raft/index.ts";
import { UnknownVersion } from "./state/index.ts";
import { StoreError } from "./storage/index.ts";

export const ExitCode = {
  Stopped: 0,
  /** A rule that always holds was found broken: a bug. */
  Violation: 70,
  /** The disk or the store on it has failed. */
  Store: 71,
  /** The data is not this member's, or must not be used any more. A person decides about it. */
  DataRefused: 73,
  /** The member was removed from its cluster. */
  Removed: 74,
  /** The cluster runs a version that this program does not know. */
  TooOld: 75,
  /** Flags, or files and ports that they name, cannot be used. */
  Configuration: 76,
} as const;

/**
 * What a process says and how it is remembered when a write to the disk does not come back (72 of the contract): it
 * cannot end by itself then, for an exit waits for the thread that is stuck in the system call (P60).
 */
export const DISK_STUCK_MESSAGE = "exit 72: a write to the disk does not come back; the process kills itself";

/** The code for an error that ends the process. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof JoinTokenFileError || error instanceof TlsFilesError) {
    return ExitCode.Configuration;
  }
  if (error instanceof UnknownVersion) {
    return ExitCode.TooOld;
  }
  return error instanceof StoreError ? ExitCode.Store : ExitCode.Violation;
}

/** What a fatal error is, in words. */
export function kindOf(error: unknown): string {
  if (error instanceof StoreError) {
    return `the store has failed (${error.kind})`;
  }
  if (exitCodeOf(error) === ExitCode.Configuration) {
    return "wrong configuration";
  }
  if (error instanceof UnknownVersion) {
    return "another release is needed";
  }
  return error instanceof InvariantViolation ? "invariant violated" : "unexpected failure";
}
