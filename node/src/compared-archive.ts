/**
 * The archive of a cluster that has lost its quorum, compared with a member that the cluster may go on from. The archive holds
 * committed entries only. So if it ends behind the last entry of that member, a recovery loses acknowledged writes that a restore
 * has.
 */

import {
  BackupError,
  type BackupStore,
  type KeyRing,
  openSegment,
  openSnapshot,
  openStore,
  readCatalog,
  readKeyFile,
  StoreFailure,
} from "@quoin/backup";
import type { Command } from "commander";
import { type BackupFlags, parseStore, withCredentials } from "./backup-flags.ts";
import { UsageError } from "./command-line/index.ts";
import { wordsOf } from "./offline-end.ts";

/** A person waits for the comparison, and can run it again: a store that is away is given up sooner than by a member. */
const OPTIONS = { create: false, s3: { retry: { attempts: 3 } } };

/** Flags that name the archive, as they were given. */
export type ArchiveFlags = Pick<BackupFlags, "backupStore" | "backupKeyFile" | "backupCredentialsFile">;

/** The last entry from which the cluster can be restored. */
export interface ArchiveEnd {
  readonly lastIndex: number;
  readonly lastTerm: number;
  /** Null where the last object does not say it. */
  readonly revision: number | null;
  /** Milliseconds since 1970; null where the last object does not say it. */
  readonly wallMs: number | null;
}

/** What is compared: the end of the archive; that the store has no backup of the cluster; or why that is not known. */
export type ComparedArchive = { readonly end: ArchiveEnd } | { readonly end: null } | { readonly problem: string };

export function addArchiveOptions(program: Command): Command {
  return program
    .option(
      "--backup-store <location>",
      "directory, or s3://bucket/prefix, with the archive of the cluster: say also whether it reaches further",
      parseStore,
    )
    .option("--backup-key-file <file>", "keys that the archive is encrypted with")
    .option("--backup-credentials-file <file>", "credentials for s3:// in the form of AWS");
}

/** Raises UsageError. */
export function requireArchiveFlags({ backupStore, backupKeyFile, backupCredentialsFile }: ArchiveFlags): void {
  if (backupStore === undefined && (backupKeyFile ?? backupCredentialsFile) !== undefined) {
    throw new UsageError("--backup-key-file and --backup-credentials-file need --backup-store");
  }
  if (backupCredentialsFile !== undefined && backupStore?.kind !== "s3") {
    throw new UsageError("--backup-credentials-file needs a --backup-store that begins with s3://");
  }
}

/** Reads how far the archive of the cluster reaches; null without `--backup-store`. An archive that cannot be read is a problem. */
export async function compareArchive(flags: ArchiveFlags, clusterId: string): Promise<ComparedArchive | null> {
  const { backupStore, backupKeyFile, backupCredentialsFile } = flags;
  if (backupStore === undefined) {
    return null;
  }
  try {
    const keyRing = backupKeyFile === undefined ? undefined : (await readKeyFile(backupKeyFile)).keyRing;
    const store = await openStore(withCredentials(backupStore, backupCredentialsFile), OPTIONS);
    try {
      return { end: await readEnd(store, clusterId, keyRing) };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof BackupError || error instanceof StoreFailure) {
      return { problem: wordsOf(error) };
    }
    throw error;
  }
}

/** Raises a BackupError or a StoreFailure. Only the object itself says the term, and it must be one that can be decrypted. */
async function readEnd(store: BackupStore, clusterId: string, keyRing?: KeyRing): Promise<ArchiveEnd | null> {
  const { chains } = await readCatalog(store, clusterId);
  const [furthest] = chains.toSorted((one, other) => other.end.index - one.end.index);
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
