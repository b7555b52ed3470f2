/** From an error to what the user sees of it: one line, a hint where one helps, and an exit code. */

import { QuoinError } from "../index.ts";
import { escapeControls } from "./displayed-text.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { UsageError } from "./usage-error.ts";

/** Raised by a command that has printed its answer, when that is not what was asked for. */
export class NotAsExpectedError extends Error {
  override readonly name = "NotAsExpectedError";
}

/** Raised by a command that failed for a reason of its own, such as a file that has no space left. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** Reasons of refusals that only say that something is not as it was expected. */
const expectationReasons: ReadonlySet<string> = new Set([
  "REVISION_MISMATCH",
  "VERSION_MISMATCH",
  "CONFIG_CHANGED",
  "SETTINGS_CHANGED",
  "NOT_ACQUIRED",
  "SEQUENCE_CONFLICT",
]);

/** How a command failed. */
export interface Failure {
  /** For the standard error, without a line break. */
  readonly message: string;
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;
}

/** Describes an error. Anything unexpected is described with its stack, because it is a bug to report. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) {
    return { message: escapeControls(error.message), hint: error.hint, exitCode: exitCodes.usage };
  }
  if (error instanceof CommandError) {
    return { message: escapeControls(error.message), hint: error.hint, exitCode: error.exitCode };
  }
  if (error instanceof NotAsExpectedError) {
    return { message: escapeControls(error.message), hint: undefined, exitCode: exitCodes.notAsExpected };
  }
  if (error instanceof QuoinError) {
    return {
      message: `${escapeControls(error.message)} (${error.reason === "" ? error.code : error.reason})`,
      hint: hintFor(error),
      exitCode: exitCodeOf(error),
    };
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return { message: `unexpected error: ${stack ?? String(error)}`, hint: undefined, exitCode: exitCodes.refused };
}

function exitCodeOf(error: QuoinError): ExitCode {
  if (error.code === "UNAVAILABLE" || error.code === "DEADLINE_EXCEEDED") return exitCodes.unavailable;
  if (expectationReasons.has(error.reason)) return exitCodes.notAsExpected;
  if (error.reason === "NO_TOKEN") return exitCodes.usage;
  // Without a request id the SDK itself has refused an argument.
  return error.code === "INVALID_ARGUMENT" && error.requestId === undefined ? exitCodes.usage : exitCodes.refused;
}

/** What to do about a refusal, by its reason. */
const hints: ReadonlyMap<string, string> = new Map([
  ["NAMESPACE_NOT_FOUND", "create it with: quoinctl namespace create NAME"],
  ["LOCK_NOT_FOUND", "create it with: quoinctl lock create NAMESPACE/NAME, or rwlock create for a read-write lock"],
  ["LOCK_LOST", "whoever holds it now is shown by: quoinctl lock describe, or rwlock describe"],
  ["NOT_LOCK_HOLDER", "whoever holds it is shown by: quoinctl lock describe, or rwlock describe"],
  ["AMBIGUOUS_HOLD", "say which hold with --token or --mode; they are listed by: quoinctl rwlock describe"],
  ["FENCED", "the hold is over: the lock has to be acquired again"],
  ["REGION_NOT_FOUND", "list the regions with: quoinctl memory list NAMESPACE"],
  ["VERSION_MISMATCH", "look again with: quoinctl memory describe"],
  ["LOG_NOT_FOUND", "list the event logs with: quoinctl log list"],
  ["SEQUENCE_CONFLICT", "look again with: quoinctl log describe"],
  ["COMPACTED", "begin later, or without --from-revision and with a listing of what there is"],
  ["MEMBER_NOT_FOUND", "list the members with: quoinctl member list"],
  ["LEARNER_NOT_READY", "how far it has come is shown by: quoinctl member list"],
  ["IS_LEADER", "let another member lead first: quoinctl leader transfer"],
  ["NO_BACKUP_STORE", "make a backup here with: quoinctl backup create FILE"],
  ["OTHER_BACKUP_STORE", "the stores of the members are shown by: quoinctl backup status"],
  ["BACKUP_IN_PROGRESS", "how far it is, is shown by: quoinctl backup status"],
  ["BACKUP_STORE_UNAVAILABLE", "the member cannot use its store; see its flags --backup-store and --backup-key-file"],
  ["NOT_SERVED", "name the ports for administration: --endpoints host:7403 --token-file FILE"],
  ["CONFIG_CHANGED", "look again with: quoinctl member list"],
]);

function hintFor(error: QuoinError): string | undefined {
  const hint = hints.get(error.reason);
  if (hint !== undefined) return hint;
  if (error.code === "UNAUTHENTICATED")
    return "the token or API key is not valid here; see --token-file, --api-key-file";
  if (error.outcome === "unknown") return "a write may have been executed all the same: read before you repeat it";
  // With a reason it is a member that answered: the cluster runs, and the message says what it lacks.
  if (error.code === "UNAVAILABLE" && error.reason === "") return "is the cluster running? See --endpoints";
  return undefined;
}
