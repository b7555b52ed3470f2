/**
 * `quoin-node restore`: restores a cluster from a backup, as a new cluster with one member, whose data directory this
 * command creates. It needs no member.
 */

import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { StoreLocation } from "@quoin/backup";
import { Command } from "commander";
import { addFlags, type FlagValues, flag, parseArguments, toggle, valuesOf } from "../command-line/index.ts";
import {
  ExitCode,
  LOCATION_HELP,
  parseClusterId,
  parseName,
  parseRevisionJump,
  parseStore,
  type RestoreConfiguration,
  SOURCE_FLAGS,
  sourceOf,
} from "../process/index.ts";
import { systemClock } from "../replica/index.ts";
import { REVISION_JUMP_DEFAULT } from "../state/index.ts";
import {
  completeRestoration,
  placeSuccessor,
  Restoration,
  requireUnused,
  withSuccessionLock,
} from "../storage/index.ts";
import { describeRestore, type RestoreReport, restoreCluster } from "./cluster-restore.ts";
import { reportFailure } from "./offline-failure.ts";
import { progressLines } from "./progress-lines.ts";

/** The first argument of the program, instead of a flag. */
export const RESTORE = "restore";

/** Only the owner may enter the directory: the stores contain signing keys and password hashes. */
const DIRECTORY_MODE = 0o700;
/** The member announces its address when it starts. */
const NO_ADDRESS = { peerEndpoint: "", grpcEndpoint: "", httpEndpoint: "" };

const FLAGS = {
  directory: flag("--data-dir <directory>", "data directory of the member, empty or new").mustBeGiven(),
  name: flag("--name <name>", "name of the member", parseName).mustBeGiven(),
  clusterName: flag(
    "--cluster-name <name>",
    "name of the new cluster, as its members get it at the start",
    parseName,
  ).byDefault("quoin"),
  ...SOURCE_FLAGS,
  newClusterId: flag("--new-cluster-id <uuid>", "id of the new cluster; by default a random one", parseClusterId),
  revisionJump: flag(
    "--revision-jump <count>",
    "increase of revisions and fencing tokens; must exceed the number of revisions after the point",
    parseRevisionJump,
  ).byDefault(`${REVISION_JUMP_DEFAULT}`),
  keepsSigningKeys: toggle("--keep-signing-keys", "keep the keys that sign tokens, so that existing logins stay valid"),
};

type Flags = FlagValues<typeof FLAGS>;

/** Runs the command, prints its progress, and returns the exit code. */
export async function restoreOffline(args: readonly string[]): Promise<number> {
  try {
    const program = restoreProgram();
    if (parseArguments(program, args)) {
      const [location] = program.processedArgs as [StoreLocation];
      await run(location, valuesOf(program, FLAGS));
    }
    return ExitCode.Stopped;
  } catch (error) {
    return reportFailure(error);
  }
}

function restoreProgram(): Command {
  return addFlags(new Command(`quoin-node ${RESTORE}`), FLAGS)
    .description(
      "Restores a cluster from a backup, as a new cluster with one member, into an empty data directory. Then start that " +
        "member, and add others. Run it as the user of the member's process.",
    )
    .argument("<location>", LOCATION_HELP, parseStore);
}

async function run(location: StoreLocation, flags: Flags): Promise<void> {
  const directory = resolve(flags.directory);
  const { revisionJump, keepsSigningKeys } = flags;
  const source = { ...sourceOf(location, flags), revisionJump, keepsSigningKeys };
  const completed = await completeRestoration(directory);
  if (completed !== null) {
    print([
      `a restore into ${directory} was decided earlier and interrupted; it is completed now, and the backup was not read again`,
      ...nextSteps(completed.name, completed.clusterId),
    ]);
    return;
  }
  const report = await restoreInto(directory, source, flags);
  print([...describeRestore(report), ...nextSteps(flags.name, report.clusterId)]);
}

/**
 * Restores into a directory that belongs to no cluster. Raises Refused for any other directory; a BackupError or a
 * StoreFailure if the backup is not usable; a StoreError, or the errors of the file system. After an error the
 * directory is as empty as before.
 */
export async function restoreInto(
  directory: string,
  source: RestoreConfiguration,
  {
    name,
    clusterName,
    newClusterId = null,
  }: Pick<Flags, "name" | "clusterName"> & Partial<Pick<Flags, "newClusterId">>,
): Promise<RestoreReport> {
  // Before any write there; the restoration checks again, with the lock.
  await requireUnused(directory);
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  return withSuccessionLock(directory, async () => {
    const restoration = await Restoration.begin(directory);
    let report: RestoreReport;
    try {
      const cluster = {
        clusterId: newClusterId ?? randomUUID(),
        owner: null,
        wallMs: systemClock.wallMs(),
        member: { clusterName, name, address: NO_ADDRESS },
      };
      report = await restoreCluster(source, restoration, cluster, progressLines());
    } catch (error) {
      await restoration.abandon();
      throw error;
    }
    placeSuccessor(directory);
    return report;
  });
}

function nextSteps(name: string, clusterId: string): string[] {
  return [
    `next: start member ${name} with this data directory; it serves cluster ${clusterId} alone`,
    "then:  add the names of other members, and start them with empty data directories",
  ];
}

function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
