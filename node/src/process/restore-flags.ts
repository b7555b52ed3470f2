/**
 * The flags that name a backup and a point in it: those of the commands `restore` and `backup verify`, and those of a
 * member that founds its cluster from a backup.
 */

import { isObjectId, type RestorePoint, type StoreLocation } from "@quoin/backup";
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseBoolean, parseCount, parseTime, UsageError } from "../command-line/index.ts";
import { REVISION_JUMP_DEFAULT, revisionJumpObjection } from "../state/index.ts";
import { isClusterId } from "../storage/index.ts";
import { type BackupFlags, parseStore, withCredentials } from "./backup-flags.ts";

/** A backup, and the point up to which to read it. */
export interface BackupSource {
  /** A store, or one file with a snapshot. */
  readonly location: StoreLocation;
  /** Keys that encrypt the backup; null = none given. */
  readonly keyFile: string | null;
  /** Whether objects may be unencrypted although there are keys. */
  readonly allowsUnencrypted: boolean;
  /** The cluster of the backup; null = the only cluster in the store. */
  readonly clusterId: string | null;
  /** 32 hexadecimal digits; null = the newest snapshot from which the point can be reached. */
  readonly snapshotId: string | null;
  readonly point: RestorePoint;
}

/** The backup from which a member founds its cluster. */
export interface RestoreConfiguration extends BackupSource {
  readonly revisionJump: number;
  readonly keepsSigningKeys: boolean;
}

/** Flags of commands, as given. */
export interface SourceFlags {
  readonly clusterId?: string;
  readonly snapshot?: string;
  readonly keyFile?: string;
  readonly allowUnencrypted?: boolean;
  readonly credentialsFile?: string;
  readonly toRevision?: number;
  readonly toTime?: number;
}

/** Flags of a member, as given. */
export interface RestoreFlags {
  readonly restoreFrom?: StoreLocation;
  readonly restoreClusterId?: string;
  readonly restoreSnapshot?: string;
  readonly restoreKeyFile?: string;
  readonly restoreAllowUnencrypted: boolean;
  readonly restoreCredentialsFile?: string;
  readonly restoreToRevision?: number;
  readonly restoreToTime?: number;
  readonly restoreRevisionJump?: number;
  readonly restoreKeepSigningKeys: boolean;
}

/** The description of the argument that names a backup. */
export const LOCATION_HELP = "directory, s3://bucket/prefix, or a file with one snapshot";

/** Adds the flags of a command that reads a backup. */
export function addSourceOptions(command: Command): Command {
  return command
    .option(
      "--cluster-id <uuid>",
      "cluster of the backup, if the store contains backups of several clusters",
      parseClusterId,
    )
    .option("--snapshot <id>", "snapshot to start from; by default the newest that reaches the point", parseSnapshot)
    .option("--key-file <file>", "keys that encrypt the backup")
    .option("--allow-unencrypted", "with keys, read also what is not encrypted")
    .option("--credentials-file <file>", "credentials for s3://, in the AWS format")
    .option("--to-revision <revision>", "up to this revision of the cluster", parseCount)
    .option("--to-time <time>", "up to this RFC 3339 time, such as 2026-01-31T12:00:00Z", parseTime);
}

/** Raises UsageError. */
export function sourceOf(location: StoreLocation, flags: SourceFlags): BackupSource {
  const { clusterId = null, snapshot = null, keyFile = null, credentialsFile, toRevision, toTime } = flags;
  const { allowUnencrypted: allowsUnencrypted = false } = flags;
  if (allowsUnencrypted && keyFile === null) {
    throw new UsageError("--allow-unencrypted needs --key-file: without keys, nothing has to be encrypted");
  }
  if (credentialsFile !== undefined && location.kind !== "s3") {
    throw new UsageError("--credentials-file needs a location that begins with s3://");
  }
  if (toRevision !== undefined && toTime !== undefined) {
    throw new UsageError("--to-revision and --to-time exclude each other");
  }
  return {
    location: withCredentials(location, credentialsFile),
    clusterId,
    snapshotId: snapshot,
    keyFile,
    allowsUnencrypted,
    point: pointOf(toRevision, toTime),
  };
}

/** Adds the flags of a member. */
export function addRestoreOptions(program: Command): Command {
  return program
    .addOption(
      new Option(
        "--restore-from <location>",
        `found the cluster from this backup: ${LOCATION_HELP}; ignored by a member with data`,
      )
        .env("QUOIN_RESTORE_FROM")
        .argParser(parseStore),
    )
    .addOption(
      new Option(
        "--restore-cluster-id <uuid>",
        "cluster of the backup, if the store contains backups of several clusters",
      )
        .env("QUOIN_RESTORE_CLUSTER_ID")
        .argParser(parseClusterId),
    )
    .addOption(
      new Option("--restore-snapshot <id>", "snapshot to start from; by default the newest that reaches the point")
        .env("QUOIN_RESTORE_SNAPSHOT")
        .argParser(parseSnapshot),
    )
    .addOption(
      new Option(
        "--restore-key-file <file>",
        "keys that encrypt the backup; by default those of --backup-key-file",
      ).env("QUOIN_RESTORE_KEY_FILE"),
    )
    .addOption(
      new Option("--restore-allow-unencrypted [boolean]", "with keys, read also what is not encrypted")
        .env("QUOIN_RESTORE_ALLOW_UNENCRYPTED")
        .argParser(parseBoolean)
        .preset("true")
        .default(false),
    )
    .addOption(
      new Option(
        "--restore-credentials-file <file>",
        "credentials for s3://, in the AWS format; by default those of --backup-credentials-file",
      ).env("QUOIN_RESTORE_CREDENTIALS_FILE"),
    )
    .addOption(
      new Option("--restore-to-revision <revision>", "up to this revision of the cluster")
        .env("QUOIN_RESTORE_TO_REVISION")
        .argParser(parseCount),
    )
    .addOption(
      new Option("--restore-to-time <time>", "up to this RFC 3339 time, such as 2026-01-31T12:00:00Z")
        .env("QUOIN_RESTORE_TO_TIME")
        .argParser(parseTime),
    )
    .addOption(
      new Option(
        "--restore-revision-jump <count>",
        `increase of revisions and fencing tokens; must exceed those made after the point (default: ${REVISION_JUMP_DEFAULT})`,
      )
        .env("QUOIN_RESTORE_REVISION_JUMP")
        .argParser(parseRevisionJump),
    )
    .addOption(
      new Option(
        "--restore-keep-signing-keys [boolean]",
        "keep the keys that sign tokens, so that existing logins stay valid",
      )
        .env("QUOIN_RESTORE_KEEP_SIGNING_KEYS")
        .argParser(parseBoolean)
        .preset("true")
        .default(false),
    );
}

/** Returns null without a backup. Raises UsageError. */
export function restoreConfigurationOf(
  flags: RestoreFlags & Pick<BackupFlags, "backupKeyFile" | "backupCredentialsFile">,
): RestoreConfiguration | null {
  const { restoreFrom: location, restoreToRevision, restoreToTime, restoreCredentialsFile } = flags;
  if (location === undefined) {
    requireNone(flags);
    return null;
  }
  if (restoreToRevision !== undefined && restoreToTime !== undefined) {
    throw new UsageError("--restore-to-revision and --restore-to-time exclude each other");
  }
  if (restoreCredentialsFile !== undefined && location.kind !== "s3") {
    throw new UsageError("--restore-credentials-file needs a --restore-from that begins with s3://");
  }
  return {
    location: withCredentials(location, restoreCredentialsFile ?? flags.backupCredentialsFile),
    keyFile: flags.restoreKeyFile ?? flags.backupKeyFile ?? null,
    allowsUnencrypted: flags.restoreAllowUnencrypted,
    clusterId: flags.restoreClusterId ?? null,
    snapshotId: flags.restoreSnapshot ?? null,
    point: pointOf(restoreToRevision, restoreToTime),
    revisionJump: flags.restoreRevisionJump ?? REVISION_JUMP_DEFAULT,
    keepsSigningKeys: flags.restoreKeepSigningKeys,
  };
}

function requireNone(flags: RestoreFlags): void {
  const useless = new Map<string, unknown>([
    ["--restore-cluster-id", flags.restoreClusterId],
    ["--restore-snapshot", flags.restoreSnapshot],
    ["--restore-key-file", flags.restoreKeyFile],
    ["--restore-allow-unencrypted", flags.restoreAllowUnencrypted || undefined],
    ["--restore-credentials-file", flags.restoreCredentialsFile],
    ["--restore-to-revision", flags.restoreToRevision],
    ["--restore-to-time", flags.restoreToTime],
    ["--restore-revision-jump", flags.restoreRevisionJump],
    ["--restore-keep-signing-keys", flags.restoreKeepSigningKeys || undefined],
  ]);
  for (const [flag, value] of useless) {
    if (value !== undefined) {
      throw new UsageError(`${flag} needs --restore-from`);
    }
  }
}

function pointOf(toRevision: number | undefined, toTimeMs: number | undefined): RestorePoint {
  if (toRevision !== undefined) {
    return { kind: "revision", revision: toRevision };
  }
  return toTimeMs === undefined ? { kind: "latest" } : { kind: "time", wallMs: toTimeMs };
}

/** For commander: raises InvalidArgumentError unless the text is the id of a cluster. */
export function parseClusterId(text: string): string {
  if (!isClusterId(text)) {
    throw new InvalidArgumentError("It must be a UUID in lower case.");
  }
  return text;
}

/** For commander: raises InvalidArgumentError unless revisions can increase by this much. */
export function parseRevisionJump(text: string): number {
  const jump = parseCount(text);
  const objection = revisionJumpObjection(0, jump);
  if (objection !== null) {
    throw new InvalidArgumentError(`It ${objection}.`);
  }
  return jump;
}

function parseSnapshot(text: string): string {
  if (!isObjectId(text)) {
    throw new InvalidArgumentError("It must be the id of a snapshot, 32 hexadecimal digits in lower case.");
  }
  return text;
}
