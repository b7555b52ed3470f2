/**
 * `quoin-node reset-owner`: sets a new password for the owner of a cluster whose only voter is stopped.
 *
 * The member itself makes the change, as it would for an administrator: it opens its data directory, leads, logs the
 * operation and applies it, but opens no port. Only the sole voter of a cluster may do that; the command refuses every
 * other directory.
 */

import { randomUUID } from "node:crypto";
import { readFileSync, writeSync } from "node:fs";
import { Command } from "commander";
import { type OwnerCredentials, ownerCredentials } from "../access/index.ts";
import { addFlags, type FlagValues, flag, parseArguments, UsageError, valuesOf } from "../command-line/index.ts";
import { InvariantViolation, invariant } from "../primitives/index.ts";
import { abortProcess, DISK_STUCK_MESSAGE, ExitCode, exitCodeOf, parseEmail, parseName } from "../process/index.ts";
import { DEFAULT_REPLICA_LIMITS, Member, type Replica, systemClock, systemScheduler } from "../replica/index.ts";
import { CoordinationError, type Outcome, readCluster } from "../state/index.ts";
import { measureDisk, notSoleVoter, objectionToSoleUse, Refused, StoreError } from "../storage/index.ts";
import { createLogger } from "../telemetry/index.ts";

/** The first argument of the program, instead of a flag. */
export const RESET_OWNER = "reset-owner";

/** Deadline for the member to apply its log, and then for the reset, in milliseconds. */
const STEP_MS = 60_000;
const STDIN = "-";
const STDIN_DESCRIPTOR = 0;
/** The flags of the fields of the credentials. */
const FLAG_OF_FIELD: ReadonlyMap<string, string> = new Map([
  ["owner.email", "--email"],
  ["owner.password", "--password-file"],
  ["owner.api_key", "--api-key-file"],
]);

const FLAGS = {
  name: flag("--name <name>", "name of the member", parseName).mustBeGiven(),
  clusterName: flag("--cluster-name <name>", "name of the cluster", parseName).byDefault("quoin"),
  directory: flag("--data-dir <directory>", "data directory of the member").mustBeGiven(),
  email: flag("--email <address>", "e-mail address of the owner", parseEmail).mustBeGiven(),
  passwordFile: flag(
    "--password-file <file>",
    "file with the new password, of 8 to 1,024 bytes; - is standard input",
  ).byDefault(STDIN),
  apiKeyFile: flag("--api-key-file <file>", "file with an API key for the owner, qk_<8>_<43>; - is standard input"),
};

type Flags = FlagValues<typeof FLAGS>;

/** Runs the command, prints one line about its result, and returns the exit code. */
export async function resetOwnerOffline(args: readonly string[], version: string): Promise<number> {
  try {
    const flags = parseFlags(args);
    if (flags !== null) {
      process.stdout.write(`quoin-node: ${await reset(flags, version)}\n`);
    }
    return ExitCode.Stopped;
  } catch (error) {
    return reportError(error);
  }
}

/** Returns null for --help. Raises UsageError. */
function parseFlags(args: readonly string[]): Flags | null {
  const program = addFlags(new Command(`quoin-node ${RESET_OWNER}`), FLAGS).description(
    "Makes the user with this address an active owner with a new password, in the data directory of a stopped " +
      "member that is the only voter of its cluster. API keys stay. Run it as the user of the member's process.",
  );
  return parseArguments(program, args) ? valuesOf(program, FLAGS) : null;
}

/** @returns a description of the result for people */
async function reset(flags: Flags, version: string): Promise<string> {
  const { name, clusterName, directory } = flags;
  const credentials = await ownerCredentials(readOwner(flags));
  const objection = objectionToSoleUse(directory);
  if (objection !== null) {
    throw new Refused("MEMBER_REFUSED", objection);
  }
  const member = await Member.open({
    directory,
    clusterName,
    name,
    version,
    acceptMissingFence: false,
    clock: systemClock,
    scheduler: systemScheduler,
    limits: DEFAULT_REPLICA_LIMITS,
    peering: null,
    record: null,
    measureDisk,
    hasReserve: false,
    log: createLogger("error", name),
    onRole: () => undefined,
    onFatal: (error) => process.exit(reportError(error)),
    onEnd: (_end, reason) => process.exit(reportError(new Refused("MEMBER_REFUSED", reason))),
    onDiskStuck: () => {
      writeSync(process.stderr.fd, `quoin-node: ${DISK_STUCK_MESSAGE}\n`);
      abortProcess();
    },
  });
  try {
    const { replica, state, reason } = member;
    if (state === "MEMBER_REFUSED" || state === "MEMBER_REMOVED" || state === "MEMBER_DAMAGED") {
      throw new Refused(state, reason);
    }
    invariant(replica !== null, "a member whose data is not refused has a replica");
    await requireSoleVoter(directory, replica, member.memberId);
    return await resetIn(replica, credentials);
  } finally {
    await member.stop();
  }
}

/** Reads the secrets. Raises UsageError. */
function readOwner({ email, passwordFile, apiKeyFile }: Flags) {
  if (passwordFile === STDIN && apiKeyFile === STDIN) {
    throw new UsageError("standard input has only one secret: name a file with --password-file or --api-key-file");
  }
  const password = readSecret("--password-file", passwordFile);
  const apiKey = apiKeyFile === null ? "" : readSecret("--api-key-file", apiKeyFile).trim();
  if (apiKeyFile !== null && apiKey === "") {
    throw new UsageError(`--api-key-file ${apiKeyFile} contains no API key`);
  }
  return { email, password, apiKey };
}

/** The text of the file without its last line end. Raises UsageError, which never quotes the text. */
function readSecret(flag: string, file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file === STDIN ? STDIN_DESCRIPTOR : file);
  } catch (error) {
    throw new UsageError(`${flag} ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch (error) {
    throw new UsageError(`${flag} ${file} contains text that is not UTF-8`, { cause: error });
  }
}

/**
 * Waits until the member leads and has applied its log. It must be the only voter before and after that. Raises
 * Refused.
 */
async function requireSoleVoter(directory: string, replica: Replica, memberId: number): Promise<void> {
  if (readCluster(replica.state) !== null) {
    requireAlone(directory, replica, memberId);
  }
  await new Promise<void>((resolve, reject) => {
    replica.readBarrier(systemClock.monotonicMs() + STEP_MS, (error) => (error === null ? resolve() : reject(error)));
  });
  // The log may have contained a change of the voters that was not applied before.
  requireAlone(directory, replica, memberId);
}

function requireAlone(directory: string, { state }: Replica, memberId: number): void {
  const { voters = [], outgoing = [] } = readCluster(state)?.configuration ?? {};
  if (voters.length !== 1 || voters[0] !== memberId || outgoing.length > 0) {
    throw new Refused("MEMBER_REFUSED", notSoleVoter(directory));
  }
}

async function resetIn(replica: Replica, credentials: OwnerCredentials): Promise<string> {
  // No request id: a second run leaves the same owner, so the cluster need not store the answer.
  const operation = {
    kind: "reset-owner",
    userId: randomUUID(),
    ...credentials,
    subject: RESET_OWNER,
    request: null,
  } as const;
  const { answer } = await new Promise<Outcome>((resolve, reject) => {
    replica.proposeClusterOperation(operation, systemClock.monotonicMs() + STEP_MS, (error, outcome) => {
      return outcome === null ? reject(error) : resolve(outcome);
    });
  });
  if (answer instanceof CoordinationError) {
    throw answer;
  }
  invariant(answer.kind === "reset-owner", "a result is of its operation's kind");
  const { userId, created } = answer;
  return `the owner ${credentials.email} has a new password (user ${userId}, ${created ? "new" : "as before"})`;
}

/** Prints the error, and returns the exit code. */
function reportError(error: unknown): number {
  process.stderr.write(`quoin-node: ${describeError(error)}\n`);
  return codeOf(error);
}

function codeOf(error: unknown): number {
  if (error instanceof Refused) {
    return error.state === "MEMBER_REMOVED" ? ExitCode.Removed : ExitCode.DataRefused;
  }
  if (error instanceof CoordinationError) {
    return isPassing(error) ? ExitCode.Store : ExitCode.Configuration;
  }
  return exitCodeOf(error);
}

/** Whether the member ran out of time, so that the result may be unknown. */
function isPassing({ code }: CoordinationError): boolean {
  return code === "UNAVAILABLE" || code === "DEADLINE_EXCEEDED";
}

/** Describes the error, and the next step if there is one. */
function describeError(error: unknown): string {
  if (error instanceof StoreError && error.kind === "locked") {
    return `${error.message}. Stop that process first, or use \`quoinctl owner reset\` while it runs`;
  }
  if (error instanceof CoordinationError) {
    const field = error.details.get("field") ?? "";
    const next = isPassing(error) ? "; run the command again: a second reset leaves the same owner" : "";
    return `${error.message.replace(field, FLAG_OF_FIELD.get(field) ?? field)}${next}`;
  }
  return error instanceof InvariantViolation ? (error.stack ?? error.message) : messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
