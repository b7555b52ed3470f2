/**
 * `quoin-node backup verify`: proves that a backup can be restored, by rebuilding the state from it in a scratch directory and
 * comparing its digest with those that the cluster had. It needs no member, and changes nothing in the store.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  BackupError,
  type Catalog,
  openStore,
  planRestore,
  type RestorePoint,
  readCatalog,
  readKeyFile,
  StoreFailure,
  type StoreLocation,
  type UnsealOptions,
} from "@quoin/backup";
import { Command, InvalidArgumentError } from "commander";
import { parseStore } from "./backup-flags.ts";
import { parseArguments, UsageError } from "./command-line/index.ts";
import { ExitCode, exitCodeOf } from "./exit-code.ts";
import { InvariantViolation } from "./raft/index.ts";
import { type RebuildProgress, type Rebuilt, rebuild } from "./rebuild/index.ts";
import { StoreError } from "./storage/index.ts";

/** The first argument of the program, in place of a flag. */
export const BACKUP = "backup";

/** How often the progress is printed, in milliseconds. */
const LINE_MS = 1_000;

interface Flags {
  readonly cluster?: string;
  readonly keyFile?: string;
  readonly credentialsFile?: string;
  readonly toRevision?: number;
  readonly toTime?: number;
  readonly scratchDir?: string;
}

/** Runs the command, prints what it found, and returns the exit code. */
export async function backupCommand(args: readonly string[]): Promise<number> {
  try {
    let location: StoreLocation | undefined;
    const verifyProgram = new Command("verify")
      .description(
        "Rebuilds the state from a backup in a scratch directory, and compares its digest with the cluster's.",
      )
      .argument("<location>", "directory, or s3://bucket/prefix", parseStore)
      .option("--cluster <id>", "id of the cluster, if the store holds backups of several")
      .option("--key-file <file>", "keys that the backup is encrypted with")
      .option("--credentials-file <file>", "credentials for s3:// in the form of AWS")
      .option("--to-revision <revision>", "up to this revision of the cluster", parseRevision)
      .option("--to-time <time>", "up to this time, such as 2026-01-31T12:00:00Z", parseTime)
      .option(
        "--scratch-dir <directory>",
        "where the state is rebuilt, an empty or new directory; it is removed afterwards",
      )
      .action((given: StoreLocation) => {
        location = given;
      });
    const program = new Command(`quoin-node ${BACKUP}`).description("Backups, without a member.");
    program.addCommand(inherit(verifyProgram));
    if (!parseArguments(program, args)) {
      return ExitCode.Stopped;
    }
    if (location === undefined) {
      throw new UsageError("name what to do: quoin-node backup verify LOCATION");
    }
    process.stdout.write(`quoin-node: ${await verify(location, verifyProgram.opts<Flags>())}\n`);
    return ExitCode.Stopped;
  } catch (error) {
    process.stderr.write(`quoin-node: ${wordsOf(error)}\n`);
    return codeOf(error);
  }
}

/** A command below another one reports wrong arguments as the other one does. */
function inherit(command: Command): Command {
  return command
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
}

/** @returns what was proven, for people */
async function verify(given: StoreLocation, flags: Flags): Promise<string> {
  const { credentialsFile } = flags;
  const location = given.kind === "s3" && credentialsFile !== undefined ? { ...given, credentialsFile } : given;
  const unseal: UnsealOptions =
    flags.keyFile === undefined ? {} : { keyRing: (await readKeyFile(flags.keyFile)).keyRing };
  const store = await openStore(location, { create: false });
  const directory =
    flags.scratchDir === undefined ? await mkdtemp(join(tmpdir(), "quoin-verify-")) : resolve(flags.scratchDir);
  try {
    const catalog = await readCatalog(store, flags.cluster);
    for (const { message } of catalog.problems) {
      process.stderr.write(`quoin-node: note: ${message}\n`);
    }
    const point = pointOf(flags);
    const objects = planRestore(catalog, point);
    const onProgress = progressLines();
    const rebuilt = await rebuild({ ...{ store, objects, unseal, point, directory, onProgress } });
    return describe(catalog, rebuilt);
  } finally {
    await store.close();
    await removeState(directory, flags.scratchDir === undefined);
  }
}

/** Removes what a rebuild has made, and the directory if it is this program's. */
async function removeState(directory: string, isOwn: boolean): Promise<void> {
  const made = isOwn ? [directory] : [join(directory, "state"), join(directory, "state-1")];
  await Promise.all(made.map((path) => rm(path, { recursive: true, force: true })));
}

function pointOf({ toRevision, toTime }: Flags): RestorePoint {
  if (toRevision !== undefined && toTime !== undefined) {
    throw new UsageError("--to-revision and --to-time exclude each other");
  }
  if (toRevision !== undefined) {
    return { kind: "revision", revision: toRevision };
  }
  return toTime === undefined ? { kind: "latest" } : { kind: "time", wallMs: toTime };
}

function progressLines(): (progress: RebuildProgress) => void {
  let shownMs = performance.now();
  return ({ object, objects, objectsTotal, rows, entries }) => {
    if (performance.now() - shownMs >= LINE_MS) {
      shownMs = performance.now();
      const counts = `${rows} rows and ${entries} entries so far`;
      process.stderr.write(`quoin-node: reading object ${objects + 1} of ${objectsTotal}, ${counts}: ${object}\n`);
    }
  };
}

function describe({ clusterId }: Catalog, rebuilt: Rebuilt): string {
  const { progress, rows, entries, segments, digestsCompared, snapshot } = rebuilt;
  const digest = progress.digest.toString(16).padStart(8, "0");
  return [
    `the backup of cluster ${clusterId} (${snapshot.clusterName}) can be restored`,
    `  up to revision ${progress.revision}, index ${progress.appliedIndex}, ${new Date(progress.wallMs).toISOString()}`,
    `  from a snapshot of ${rows} rows at index ${snapshot.index}, and ${entries} entries of ${segments} segments`,
    `  digest ${digest}; ${digestsCompared} digests of the cluster were compared, and all are the same`,
  ].join("\n");
}

function parseRevision(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) {
    throw new InvalidArgumentError("It must be a whole number.");
  }
  return Number(text);
}

function parseTime(text: string): number {
  const wallMs = Date.parse(text);
  if (!/^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text) || Number.isNaN(wallMs)) {
    throw new InvalidArgumentError("It must be a time with its zone, such as 2026-01-31T12:00:00Z.");
  }
  return wallMs;
}

function codeOf(error: unknown): number {
  if (error instanceof BackupError) {
    return error.code === "bad-argument" ? ExitCode.Configuration : ExitCode.DataRefused;
  }
  return error instanceof StoreFailure ? ExitCode.Store : exitCodeOf(error);
}

function wordsOf(error: unknown): string {
  if (error instanceof InvariantViolation || !(error instanceof Error)) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const isOfDisk = error instanceof StoreError;
  return isOfDisk ? `the scratch directory cannot be used: ${error.message}` : error.message;
}
