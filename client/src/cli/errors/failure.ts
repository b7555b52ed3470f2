/** Turns an error into its output: one line, a hint if one helps, and an exit code. */

import type { Outcome, QuoinError, QuoinErrorCode } from "../../index.ts";
import { escapeControls } from "../text/index.ts";
import {
  CommandError,
  EXIT_CODES,
  type ExitCode,
  NotAsExpectedError,
  NotFoundError,
  UsageError,
} from "./command-error.ts";

/** Whether the service refused something for this reason. */
export function hasReason(error: unknown, reason: string): boolean {
  return error instanceof Error && "reason" in error && error.reason === reason;
}

/** Whether an error of the service or the SDK says this of the request. */
export function hasOutcome(error: unknown, outcome: Outcome): boolean {
  return error instanceof Error && "outcome" in error && error.outcome === outcome;
}

/** Reasons of refusals that only report that a value is not the expected one. */
const EXPECTATION_REASONS: ReadonlySet<string> = new Set([
  "REVISION_MISMATCH",
  "VERSION_MISMATCH",
  "CONFIG_CHANGED",
  "SETTINGS_CHANGED",
  "NOT_ACQUIRED",
  "SEQUENCE_CONFLICT",
]);

/** An error without a connection names the endpoint that was tried last: the same error with all of them. */
export function namingEndpoints(error: unknown, { endpoints }: Endpoints): unknown {
  return isQuoinError(error) && error.details.has("connection") && endpoints.length > 1
    ? error.with({ message: `${error.message}; the endpoints are ${endpoints.join(", ")}` })
    : error;
}

/** The endpoints of a cluster, or of its admin ports. */
export interface Endpoints {
  readonly endpoints: readonly string[];
}

/** How a command failed. */
export interface Failure {
  /** For the standard error, without a line break. */
  readonly message: string;
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;
}

/** Describes an error. An unexpected error gets its stack, because it is a bug to report. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) {
    return { message: escapeControls(error.message), hint: error.hint, exitCode: EXIT_CODES.usage };
  }
  if (error instanceof CommandError) {
    return { message: escapeControls(error.message), hint: error.hint, exitCode: error.exitCode };
  }
  if (error instanceof NotFoundError) {
    return {
      message: `${escapeControls(error.message)} (${error.reason})`,
      hint: HINTS.get(error.reason),
      exitCode: EXIT_CODES.refused,
    };
  }
  if (error instanceof NotAsExpectedError) {
    return { message: escapeControls(error.message), hint: undefined, exitCode: EXIT_CODES.notAsExpected };
  }
  if (isQuoinError(error)) {
    return {
      message: `${escapeControls(error.message)} (${error.reason === "" ? error.code : error.reason})`,
      hint: hintFor(error),
      exitCode: exitCodeOf(error),
    };
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return { message: `unexpected error: ${stack ?? String(error)}`, hint: undefined, exitCode: EXIT_CODES.refused };
}

/** Whether the service refused with this code. */
export function isRefusal(error: unknown, code: QuoinErrorCode): boolean {
  return isQuoinError(error) && error.code === code;
}

/** By its fields, because an error that is not of the SDK must not load the SDK. */
function isQuoinError(error: unknown): error is QuoinError {
  return error instanceof Error && ["code", "reason", "outcome"].every((field) => field in error);
}

function exitCodeOf(error: QuoinError): ExitCode {
  if (error.code === "UNAVAILABLE" || error.code === "DEADLINE_EXCEEDED") {
    return EXIT_CODES.unavailable;
  }
  if (EXPECTATION_REASONS.has(error.reason)) {
    return EXIT_CODES.notAsExpected;
  }
  if (error.reason === "NO_TOKEN") {
    return EXIT_CODES.usage;
  }
  // Without a request id, the SDK itself refused an argument.
  return error.code === "INVALID_ARGUMENT" && error.requestId === undefined ? EXIT_CODES.usage : EXIT_CODES.refused;
}

/** What to do about a refusal, by its reason. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ["NAMESPACE_NOT_FOUND", "create it with: quoinctl namespace create NAME"],
  [
    "LOCK_NOT_FOUND",
    "create it with: quoinctl lock create NAMESPACE/NAME, or rwlock create or semaphore create for one of these",
  ],
  ["LOCK_LOST", "see who holds it now with: quoinctl lock describe, or rwlock describe"],
  ["NOT_LOCK_HOLDER", "see who holds it with: quoinctl lock describe, or rwlock describe"],
  ["AMBIGUOUS_HOLD", "name the hold with --token or --mode; list the holds with: quoinctl rwlock describe"],
  ["FENCED", "the hold has ended: acquire the lock again"],
  ["SESSION_NOT_FOUND", "list the sessions with: quoinctl session list NAMESPACE"],
  ["REGION_NOT_FOUND", "list the regions with: quoinctl memory list NAMESPACE"],
  ["VERSION_MISMATCH", "look again with: quoinctl memory describe"],
  ["LOG_NOT_FOUND", "list the event logs with: quoinctl log list"],
  ["SEQUENCE_CONFLICT", "look again with: quoinctl log describe"],
  ["COMPACTED", "list the current state, and watch without --from-revision, or from a later revision"],
  ["MEMBER_NOT_FOUND", "list the members with: quoinctl member list"],
  ["LEARNER_NOT_READY", "see its progress with: quoinctl member list"],
  ["IS_LEADER", "let another member lead first: quoinctl leader transfer"],
  ["NO_BACKUP_STORE", "make a backup here with: quoinctl backup create FILE"],
  ["OTHER_BACKUP_STORE", "see the stores of the members with: quoinctl backup status"],
  ["BACKUP_IN_PROGRESS", "see its progress with: quoinctl backup status"],
  ["BACKUP_STORE_UNAVAILABLE", "the member cannot use its store; see its flags --backup-store and --backup-key-file"],
  ["CONFIG_CHANGED", "look again with: quoinctl member list"],
]);

/** What to do without a connection, by the problem that the SDK names. */
const CONNECTION_HINTS: ReadonlyMap<string, string> = new Map([
  ["refused", "is the cluster running? See --endpoints for another address"],
  ["unknown-name", "check the spelling, and whether this machine can look the name up. See --endpoints"],
  ["timeout", "is the machine up, and does every firewall let this port through? See --endpoints"],
  ["unreachable", "is this machine in the right network? See --endpoints"],
  [
    "closed",
    "if the members use TLS, pass --ca FILE, or --cert and --key for a client certificate; gRPC and HTTP have different ports, 7400 and 7401 by default. See --endpoints",
  ],
  ["other-protocol", "gRPC and HTTP have different ports, 7400 and 7401 by default. See --endpoints"],
  ["untrusted-certificate", "trust the authority that has signed the certificate: --ca FILE"],
  ["wrong-certificate", "use an address that the certificate has. See --endpoints"],
  ["expired-certificate", "the members need a new certificate, or the clock of this machine is wrong"],
  ["no-tls", "leave out --ca, --cert and --key if the members do not use TLS. See --endpoints"],
  ["client-certificate", "pass the client certificate and its key: --cert FILE --key FILE"],
]);

const PROXY_HINT = "to reach the members directly, name them in the variable no_proxy";

function hintFor(error: QuoinError): string | undefined {
  const hint = HINTS.get(error.reason);
  if (hint !== undefined) {
    return hint;
  }
  // The same reason refuses what a cluster does not serve yet, or not at all.
  if (error.reason === "NOT_SERVED" && error.message.includes("admin port")) {
    return "name the admin ports: --endpoints host:7403 --token-file FILE";
  }
  if (error.code === "UNAUTHENTICATED") {
    return "the token or API key is not valid here; log in with: quoinctl login, or see --token-file, --api-key-file";
  }
  const problem = error.details.get("connection") ?? "";
  const connection = error.details.has("proxy") ? PROXY_HINT : CONNECTION_HINTS.get(problem);
  // What speaks another protocol is no member.
  if (connection !== undefined && (error.outcome !== "unknown" || problem === "other-protocol")) {
    return connection;
  }
  if (error.outcome === "unknown") {
    return "a write may have been executed anyway: read before you repeat it";
  }
  // A reason means that a member has answered: the cluster runs, and the message says what is missing.
  if (error.code === "UNAVAILABLE" && error.reason === "") {
    return "is the cluster running? See --endpoints";
  }
  return undefined;
}
