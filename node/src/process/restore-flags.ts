/**
 * The rules of the flags that name a backup and a point in it: those of the commands `restore` and `backup verify`, and
 * those of a member that founds its cluster from a backup.
 */

import type { RestorePoint, StoreLocation } from "@quoin/backup";
import {
  type FlagValues,
  flag,
  parseCount,
  parseTime,
  requireNone,
  requireUsage,
  toggle,
} from "../command-line/index.ts";
import { REVISION_JUMP_DEFAULT } from "../state/index.ts";
import { withCredentials } from "./backup-flags.ts";
import { parseClusterId, parseSnapshot } from "./flag-values.ts";
import { MEMBER_FLAGS, type MemberValues } from "./member-flags.ts";

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

/** The flags of a command that reads a backup. */
export const SOURCE_FLAGS = {
  clusterId: flag(
    "--cluster-id <uuid>",
    "cluster of the backup, if the store contains backups of several clusters",
    parseClusterId,
  ),
  snapshotId: flag(
    "--snapshot <id>",
    "snapshot to start from; by default the newest that reaches the point",
    parseSnapshot,
  ),
  keyFile: flag("--key-file <file>", "keys that encrypt the backup"),
  allowsUnencrypted: toggle("--allow-unencrypted", "with keys, read also what is not encrypted"),
  credentialsFile: flag("--credentials-file <file>", "credentials for s3://, in the AWS format"),
  toRevision: flag("--to-revision <revision>", "up to this revision of the cluster", parseCount),
  toTime: flag("--to-time <time>", "up to this RFC 3339 time, such as 2026-01-31T12:00:00Z", parseTime),
};

export type SourceFlags = Partial<FlagValues<typeof SOURCE_FLAGS>>;

/** Raises UsageError. */
export function sourceOf(location: StoreLocation, flags: SourceFlags): BackupSource {
  const { clusterId = null, snapshotId = null, keyFile = null, allowsUnencrypted = false } = flags;
  const { credentialsFile = null, toRevision = null, toTime = null } = flags;
  requireUsage(
    !allowsUnencrypted || keyFile !== null,
    "--allow-unencrypted needs --key-file: without keys, nothing has to be encrypted",
  );
  const isFit = credentialsFile === null || location.kind === "s3";
  requireUsage(isFit, "--credentials-file needs a location that begins with s3://");
  return {
    location: withCredentials(location, credentialsFile),
    clusterId,
    snapshotId,
    keyFile,
    allowsUnencrypted,
    point: pointOf(toRevision, toTime, "--"),
  };
}

/** Returns null without a backup. Raises UsageError. */
export function restoreConfigurationOf(
  flags: MemberValues<"restore">,
  ofBackup: Pick<MemberValues<"backup">, "keyFile" | "credentialsFile">,
): RestoreConfiguration | null {
  const { location, clusterId, snapshotId, allowsUnencrypted, credentialsFile, keepsSigningKeys } = flags;
  if (location === null) {
    requireNone(MEMBER_FLAGS.restore, flags, "--restore-from");
    return null;
  }
  const point = pointOf(flags.toRevision, flags.toTime, "--restore-");
  const isFit = credentialsFile === null || location.kind === "s3";
  requireUsage(isFit, "--restore-credentials-file needs a --restore-from that begins with s3://");
  return {
    location: withCredentials(location, credentialsFile ?? ofBackup.credentialsFile),
    keyFile: flags.keyFile ?? ofBackup.keyFile,
    allowsUnencrypted,
    clusterId,
    snapshotId,
    point,
    revisionJump: flags.revisionJump ?? REVISION_JUMP_DEFAULT,
    keepsSigningKeys,
  };
}

/** @param prefix of both flags, for the UsageError */
function pointOf(toRevision: number | null, toTimeMs: number | null, prefix: string): RestorePoint {
  const isOne = toRevision === null || toTimeMs === null;
  requireUsage(isOne, `${prefix}to-revision and ${prefix}to-time exclude each other`);
  if (toRevision !== null) {
    return { kind: "revision", revision: toRevision };
  }
  return toTimeMs === null ? { kind: "latest" } : { kind: "time", wallMs: toTimeMs };
}
