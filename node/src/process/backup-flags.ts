/** The rules of the flags for a member's backups: where it stores them, how often it makes them, which ones it keeps. */

import type { StoreLocation } from "@quoin/backup";
import type { BackupConfiguration } from "../archive/index.ts";
import { requireNone, requireUsage } from "../command-line/index.ts";
import { MEMBER_FLAGS, type MemberValues } from "./member-flags.ts";

/** Returns null without a store. Raises UsageError. */
export function backupConfigurationOf(flags: MemberValues<"backup">): BackupConfiguration | null {
  const { interval: intervalMs, ...others } = flags;
  const { store, keyFile, credentialsFile, archive: archives, retention } = flags;
  if (store === null) {
    requireNone(MEMBER_FLAGS.backup, others, "--backup-store");
    return null;
  }
  requireBucketFor(credentialsFile, store);
  return { location: withCredentials(store, credentialsFile), keyFile, archives, intervalMs, retention };
}

/** Raises UsageError if credentials are given for a store that is not a bucket. */
export function requireBucketFor(credentialsFile: string | null, store: StoreLocation | null): void {
  const isFit = credentialsFile === null || store?.kind === "s3";
  requireUsage(isFit, "--backup-credentials-file needs a --backup-store that begins with s3://");
}

/** Adds the credentials file to the location if the location is a bucket and the file is given. */
export function withCredentials(location: StoreLocation, credentialsFile: string | null): StoreLocation {
  return location.kind === "s3" && credentialsFile !== null ? { ...location, credentialsFile } : location;
}
