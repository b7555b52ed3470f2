/**
 * `quoin-node backup verify`: proves that a backup can be restored. It rebuilds the state from the backup in a scratch
 * directory and compares its digests with those that the cluster recorded. It needs no member, and changes nothing in
 * the store.
 */

import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { StoreLocation } from "@quoin/backup";
import { Command } from "commander";
import { addFlags, type FlagValues, flag, parseArguments, UsageError, valuesOf } from "../command-line/index.ts";
import { ExitCode, LOCATION_HELP, parseStore, SOURCE_FLAGS, sourceOf } from "../process/index.ts";
import { type Rebuilt, rebuild } from "../rebuild/index.ts";
import { OfflineState } from "../storage/index.ts";
import { withBackup } from "./backup-source.ts";
import { reportFailure } from "./offline-failure.ts";
import { progressLines } from "./progress-lines.ts";

/** The first argument of the program, instead of a flag. */
export const BACKUP = "backup";

/** Subdirectory of the scratch directory for the rebuilt state. */
const STATE = "state";

const FLAGS = {
  ...SOURCE_FLAGS,
  scratchDirectory: flag(
    "--scratch-dir <directory>",
    "empty or new directory in which the state is rebuilt; it is removed afterwards",
  ),
};

/** Runs the command, prints its findings, and returns the exit code. */
export async function backupCommand(args: readonly string[]): Promise<number> {
  try {
    let location: StoreLocation | undefined;
    const verifyProgram = addFlags(new Command("verify"), FLAGS)
      .description(
        "Rebuilds the state from a backup in a scratch directory, and compares its digest with the cluster's.",
      )
      .argument("<location>", LOCATION_HELP, parseStore)
      .action((given: StoreLocation) => {
        location = given;
      });
    const program = new Command(`quoin-node ${BACKUP}`).description("Commands for backups that need no member.");
    program.addCommand(inherit(verifyProgram));
    if (!parseArguments(program, args)) {
      return ExitCode.Stopped;
    }
    if (location === undefined) {
      throw new UsageError("the subcommand is missing: quoin-node backup verify LOCATION");
    }
    process.stdout.write(`quoin-node: ${await verify(location, valuesOf(verifyProgram, FLAGS))}\n`);
    return ExitCode.Stopped;
  } catch (error) {
    return reportFailure(error);
  }
}

/** A subcommand reports wrong arguments in the same way as its parent. */
function inherit(command: Command): Command {
  return command
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
}

/** @returns a text that describes the proof */
async function verify(location: StoreLocation, flags: FlagValues<typeof FLAGS>): Promise<string> {
  const source = sourceOf(location, flags);
  const scratch = flags.scratchDirectory === null ? null : resolve(flags.scratchDirectory);
  const directory = scratch ?? (await mkdtemp(join(tmpdir(), "quoin-verify-")));
  await requireEmpty(directory);
  try {
    return await withBackup(source, async ({ store, decryptOptions, catalog, plan }) => {
      for (const { message } of catalog.problems) {
        process.stderr.write(`quoin-node: note: ${message}\n`);
      }
      const state = await OfflineState.create(join(directory, STATE));
      try {
        const { point } = source;
        const rebuilt = await rebuild({
          store,
          objects: plan,
          decryptOptions,
          point,
          state,
          onProgress: progressLines(),
        });
        return describe(catalog.clusterId, rebuilt);
      } finally {
        await state.close();
      }
    });
  } finally {
    await rm(scratch === null ? directory : join(directory, STATE), { recursive: true, force: true });
  }
}

/** Raises UsageError. */
async function requireEmpty(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if ((await readdir(directory)).length > 0) {
    throw new UsageError(`--scratch-dir ${directory} is not empty. Use an empty or a new directory`);
  }
}

function describe(clusterId: string, rebuilt: Rebuilt): string {
  const { progress, rows, entries, segments, digestsCompared, snapshot } = rebuilt;
  const digest = progress.digest.toString(16).padStart(8, "0");
  return [
    `the backup of cluster ${clusterId} (${snapshot.clusterName}) can be restored`,
    `  up to revision ${progress.revision}, index ${progress.appliedIndex}, ${new Date(progress.wallMs).toISOString()}`,
    `  from a snapshot of ${rows} rows at index ${snapshot.index}, and ${entries} entries of ${segments} segments`,
    `  digest ${digest}; ${digestsCompared} digests of the cluster were compared, and all match`,
  ].join("\n");
}
