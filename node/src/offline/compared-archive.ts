/**
 * Compares the archive of a cluster that has lost its quorum with the member to recover from. The archive contains only
 * committed entries. So if it ends after the last entry of that member, a recovery loses acknowledged writes that a
 * restore has.
 */

import {
  BackupError,
  type BackupStore,
  furthestChain,
  type KeyRing,
  openSegment,
  openSnapshot,
  openStore,
  readCatalog,
  readKeyFile,
  StoreFailure,
} from "@quoin/backup";
import { type FlagValues, flag, UsageError } from "../command-line/index.ts";
import { parseStore, requireBucketFor, withCredentials } from "../process/index.ts";
import { describeError } from "./offline-failure.ts";

/**
 * A person waits for the comparison and can repeat it, so this gives up an unreachable store sooner than a member does.
 */
const OPTIONS = { create: false, s3: { retry: { attempts: 3 } } };

/** Flags that name the archive. */
export const ARCHIVE_FLAGS = {
  backupStore: flag(
    "--backup-store <location>",
    "directory, or s3://bucket/prefix, with the archive of the cluster: report also whether it reaches further",
    parseStore,
  ),
  backupKeyFile: flag("--backup-key-file <file>", "keys that encrypt the archive"),
  backupCredentialsFile: flag("--backup-credentials-file <file>", "credentials for s3://, in the AWS format"),
};

export type ArchiveFlags = Partial<FlagValues<typeof ARCHIVE_FLAGS>>;

/** The last entry that a restore can reach. */
export interface ArchiveEnd {
  readonly lastIndex: number;
  readonly lastTerm: number;
  /** Null if the last object does not contain it. */
  readonly revision: number | null;
  /** Milliseconds since 1970; null if the last object does not contain it. */
  readonly wallMs: number | null;
}

/** The end of the archive; null if the store has no backup of the cluster; or why the end is unknown. */
export type ComparedArchive = { readonly end: ArchiveEnd } | { readonly end: null } | { readonly problem: string };

/** Raises UsageError. */
export function requireArchiveFlags(flags: ArchiveFlags): void {
  const { backupStore = null, backupKeyFile = null, backupCredentialsFile = null } = flags;
  if (backupStore === null && (backupKeyFile ?? backupCredentialsFile) !== null) {
    throw new UsageError("--backup-key-file and --backup-credentials-file need --backup-store");
  }
  requireBucketFor(backupCredentialsFile, backupStore);
}

/**
 * Reads the end of the cluster's archive; null without `--backup-store`. Returns a problem if the archive is not
 * readable.
 */
export async function compareArchive(flags: ArchiveFlags, clusterId: string): Promise<ComparedArchive | null> {
  const { backupStore = null, backupKeyFile = null, backupCredentialsFile = null } = flags;
  if (backupStore === null) {
    return null;
  }
  try {
    const keyRing = backupKeyFile === null ? undefined : (await readKeyFile(backupKeyFile)).keyRing;
    const store = await openStore(withCredentials(backupStore, backupCredentialsFile), OPTIONS);
    try {
      return { end: await readEnd(store, clusterId, keyRing) };
    } finally {
      await store.close();
    }
  } catch (error) {
    // What this Node lacks is no problem of the archive.
    const isOfArchive = error instanceof BackupError && error.code !== "unsupported-node";
    if (isOfArchive || error instanceof StoreFailure) {
      return { problem: describeError(error) };
    }
    throw error;
  }
}

/**
 * Reads the end from the last object, because only the object contains the term; the key ring must fit it. Raises a
 * BackupError or a StoreFailure.
 */
async function readEnd(store: BackupStore, clusterId: string, keyRing?: KeyRing): Promise<ArchiveEnd | null> {
  const { chains } = await readCatalog(store, clusterId);
  const furthest = furthestChain(chains);
  if (furthest === undefined) {
    return null;
  }
  const { snapshot, segments, end } = furthest;
  const segment = segments.at(-1);
  const options = { keyRing };
  const reading =
    segment === undefined ? await openSnapshot(store, snapshot, options) : await openSegment(store, segment, options);
  await reading.close();
  const { header } = reading;
  const lastTerm = "lastTerm" in header ? header.lastTerm : header.term;
  return { lastIndex: end.index, lastTerm, revision: end.revision ?? null, wallMs: end.wallMs ?? null };
}
