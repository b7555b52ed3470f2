/** Exit codes of a member's process: one number for each kind of action that the caller must take. */

import { UsageError } from "../command-line/index.ts";
import { JoinTokenFileError, TlsFilesError } from "../peers/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import { UnknownVersion } from "../state/index.ts";
import { StoreError } from "../storage/index.ts";

export const ExitCode = {
  Stopped: 0,
  /** An invariant is broken: a bug. */
  Violation: 70,
  /** The disk or the store on it has failed. */
  Store: 71,
  /** The data is not this member's, or must not be used any more. A person must decide. */
  DataRefused: 73,
  /** The member was removed from its cluster. */
  Removed: 74,
  /** The cluster runs a version that this program does not know. */
  TooOld: 75,
  /** Flags, or files and ports that they name, are not usable. */
  Configuration: 76,
} as const;

/**
 * The message for a write to the disk that never returns (72 of the contract). Such a process cannot exit by itself: an
 * exit waits for the thread that is stuck in the system call (P60).
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

/** The kind of a fatal error, in words. */
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
