/** Turns errors of backups and their stores into errors of the command line, with the option that helps. */

import { BackupError, type BackupErrorCode, StoreFailure } from "@quoin/backup";
import { CommandError, EXIT_CODES, type ExitCode, UsageError } from "../errors/index.ts";

/** Errors of the caller's arguments, and what to give instead. */
const USAGE_HINTS: ReadonlyMap<BackupErrorCode, string | undefined> = new Map([
  ["bad-argument", undefined],
  ["bad-key", "--key-file takes 32 bytes, or a line id:base64 for each key; make one with: openssl rand -base64 32"],
  ["key-missing", "name the file with that key: --key-file FILE"],
  ["key-unknown", "name the file with that key: --key-file FILE"],
  ["not-sealed", "if that is as it should be, pass --allow-unencrypted"],
  [
    "unsupported-node",
    "run quoinctl with that Node, from its executable, or from the image; the backup was not judged",
  ],
  ["key-wrong", "name the file with the right key: --key-file FILE"],
]);

/** Runs work with backups, and explains its errors to the caller. */
export async function explainingBackups<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw explained(error);
  }
}

/** Whether the keys, and not the bytes, are the problem: what cannot be read may be whole. */
export function isOfKeys(code: BackupErrorCode): boolean {
  return code.startsWith("key-") || code === "not-sealed";
}

function explained(error: unknown): unknown {
  if (error instanceof BackupError) {
    return USAGE_HINTS.has(error.code)
      ? new UsageError(error.message, USAGE_HINTS.get(error.code))
      : new CommandError(error.message, EXIT_CODES.refused, hintFor(error.code), { cause: error });
  }
  if (error instanceof StoreFailure) {
    return new CommandError(error.message, exitCodeOf(error), storeHint(error), { cause: error });
  }
  return error;
}

function hintFor(code: BackupErrorCode): string | undefined {
  switch (code) {
    case "no-backup":
    case "no-such-point":
      return "list the backups with: quoinctl backup list LOCATION";
    case "last-chain":
      return "to delete it anyway, pass --allow-last";
    default:
      return undefined;
  }
}

function exitCodeOf({ kind }: StoreFailure): ExitCode {
  return kind === "unreachable" || kind === "throttled" ? EXIT_CODES.unavailable : EXIT_CODES.refused;
}

function storeHint({ kind, store, message }: StoreFailure): string | undefined {
  if (message.includes("Region is missing")) {
    return "name the region: s3://bucket/prefix?region=eu-1, or AWS_REGION";
  }
  if (kind !== "denied" || !store.startsWith("s3:")) {
    return undefined;
  }
  return "credentials come from --credentials-file FILE, else from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, else from ~/.aws";
}
