/** The flags for a member's backups: where it stores them, how often it makes them, and which ones it keeps. */

import { BackupError, parseLocation, type RetentionPolicy, type StoreLocation } from "@quoin/backup";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { BackupConfiguration } from "../archive/index.ts";
import { parseBoolean, UsageError } from "../command-line/index.ts";

/** Flags as given, before checks of flags that depend on each other. */
export interface BackupFlags {
  readonly backupStore?: StoreLocation;
  readonly backupKeyFile?: string;
  readonly backupCredentialsFile?: string;
  readonly backupArchive: boolean;
  readonly backupInterval: number;
  readonly backupRetention?: RetentionPolicy;
}

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
const DAY_MS = 86_400_000;
/** A snapshot reads the whole state. More often than this, it would never end. */
const INTERVAL_MS_MIN = 10_000;

export function addBackupOptions(program: Command): Command {
  return program
    .addOption(
      new Option("--backup-store <location>", "directory, or s3://bucket/prefix, for backups; the directory must exist")
        .env("QUOIN_BACKUP_STORE")
        .argParser(parseStore),
    )
    .addOption(
      new Option(
        "--backup-key-file <file>",
        "keys of 32 bytes that encrypt backups; the first one encrypts new backups; without it they are not encrypted",
      ).env("QUOIN_BACKUP_KEY_FILE"),
    )
    .addOption(
      new Option("--backup-credentials-file <file>", "credentials for s3://, in the AWS format").env(
        "QUOIN_BACKUP_CREDENTIALS_FILE",
      ),
    )
    .addOption(
      new Option(
        "--backup-archive [boolean]",
        "archive every write continuously; one member of the cluster archives at a time",
      )
        .env("QUOIN_BACKUP_ARCHIVE")
        .argParser(parseBoolean)
        .preset("true")
        .default(false),
    )
    .addOption(
      new Option("--backup-interval <duration>", "time between two snapshots of the archive, such as 24h or 30m")
        .env("QUOIN_BACKUP_INTERVAL")
        .argParser(parseInterval)
        .default(DAY_MS, "24h"),
    )
    .addOption(
      new Option(
        "--backup-retention <rules>",
        "retention of the archive: 7d = all that restores any time in the last 7 days, 3 = 3 snapshots, 7d,3 = both",
      )
        .env("QUOIN_BACKUP_RETENTION")
        .argParser(parseRetention),
    );
}

/** Returns null without a store. Raises UsageError. */
export function backupConfigurationOf(flags: BackupFlags): BackupConfiguration | null {
  const { backupStore: location, backupKeyFile, backupCredentialsFile, backupArchive, backupRetention } = flags;
  if (location === undefined) {
    const useless = new Map<string, unknown>([
      ["--backup-key-file", backupKeyFile],
      ["--backup-credentials-file", backupCredentialsFile],
      ["--backup-archive", backupArchive || undefined],
      ["--backup-retention", backupRetention],
    ]);
    for (const [flag, value] of useless) {
      if (value !== undefined) {
        throw new UsageError(`${flag} needs --backup-store`);
      }
    }
    return null;
  }
  requireBucketFor(backupCredentialsFile, location);
  return {
    location: withCredentials(location, backupCredentialsFile),
    keyFile: backupKeyFile ?? null,
    archives: backupArchive,
    intervalMs: flags.backupInterval,
    retention: backupRetention ?? null,
  };
}

/** Raises UsageError if credentials are given for a store that is not a bucket. */
export function requireBucketFor(credentialsFile: string | undefined, store: StoreLocation | undefined): void {
  if (credentialsFile !== undefined && store?.kind !== "s3") {
    throw new UsageError("--backup-credentials-file needs a --backup-store that begins with s3://");
  }
}

/** Adds the credentials file to the location if the location is a bucket and the file is given. */
export function withCredentials(location: StoreLocation, credentialsFile: string | undefined): StoreLocation {
  return location.kind === "s3" && credentialsFile !== undefined ? { ...location, credentialsFile } : location;
}

/** For commander: raises InvalidArgumentError unless the text is the location of a store. */
export function parseStore(text: string): StoreLocation {
  try {
    return parseLocation(text);
  } catch (error) {
    if (error instanceof BackupError) {
      throw new InvalidArgumentError(`${error.message}.`);
    }
    throw error;
  }
}

function parseInterval(text: string): number {
  const intervalMs = durationMs(text);
  if (intervalMs === undefined || intervalMs < INTERVAL_MS_MIN) {
    throw new InvalidArgumentError("It must be a whole number of s, m, h or d, such as 24h, and at least 10s.");
  }
  return intervalMs;
}

function parseRetention(text: string): RetentionPolicy {
  let policy: RetentionPolicy = {};
  for (const rule of text.split(",").map((part) => part.trim())) {
    const keepMs = durationMs(rule);
    if (keepMs !== undefined && policy.keepMs === undefined) {
      policy = { ...policy, keepMs };
    } else if (/^[1-9][0-9]{0,5}$/.test(rule) && policy.keepSnapshots === undefined) {
      policy = { ...policy, keepSnapshots: Number(rule) };
    } else {
      throw new InvalidArgumentError("It must be an age such as 7d, a number of snapshots such as 3, or both: 7d,3.");
    }
  }
  return policy;
}

/** @returns undefined if the text is not a duration */
function durationMs(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,8})([smhd])$/.exec(text);
  const unitMs = UNIT_MS.get(match?.[2] ?? "");
  return unitMs === undefined ? undefined : Number(match?.[1]) * unitMs;
}
