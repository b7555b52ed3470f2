/**
 * `quoin-node export`: writes the applied state of a stopped member as a snapshot in the backup format, without a
 * quorum.
 *
 * Applied entries were committed. Later entries are left out, even if the member knows that they are committed. Data
 * that only other members have is missing too. The command does not change the data of the member.
 */

import { createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { BackupError, encrypt, type KeyFile, readKeyFile, writeSnapshot } from "@quoin/backup";
import { Command } from "commander";
import { snapshotHeader } from "../archive/index.ts";
import { addFlags, type FlagValues, flag, parseArguments, UsageError, valuesOf } from "../command-line/index.ts";
import { ExitCode } from "../process/index.ts";
import { readProgress } from "../state/index.ts";
import { Refused, StoppedMember } from "../storage/index.ts";
import { reportFailure } from "./offline-failure.ts";

/** The first argument of the program, instead of a flag. */
export const EXPORT = "export";

const STDOUT = "-";
/** Bytes read from the store at a time. */
const PIECE_BYTES = 1024 * 1024;
/** Only the owner may read the file: the state contains signing keys and password hashes. */
const FILE_MODE = 0o600;

const FLAGS = {
  directory: flag("--data-dir <directory>", "data directory of the stopped or abandoned member").mustBeGiven(),
  keyFile: flag(
    "--key-file <file>",
    "file with the key that encrypts the snapshot; without it, the file is not encrypted",
  ),
};

/** Runs the command, prints its progress on standard error, and returns the exit code. */
export async function exportOffline(args: readonly string[], version: string): Promise<number> {
  try {
    const program = exportProgram();
    if (parseArguments(program, args)) {
      await run(valuesOf(program, FLAGS), program.args[0] ?? STDOUT, version);
    }
    return ExitCode.Stopped;
  } catch (error) {
    return reportFailure(error);
  }
}

function exportProgram(): Command {
  return addFlags(new Command(`quoin-node ${EXPORT}`), FLAGS)
    .description(
      "Writes the applied state of a stopped member to a file, as a snapshot that can be restored. It needs no other " +
        "member. Run it as the user of the member's process.",
    )
    .argument("<file>", "file to create, or - for standard output");
}

async function run(flags: FlagValues<typeof FLAGS>, target: string, version: string): Promise<void> {
  const { directory, keyFile } = flags;
  const key = keyFile === null ? null : await readKey(keyFile);
  printLine(
    key?.warning ??
      (key === null ? "the snapshot is not encrypted, and contains signing keys and password hashes" : null),
  );
  const member = await StoppedMember.open(directory, { acceptRetired: true });
  try {
    const { stream, index } = snapshotOf(member, version);
    await write(encrypt(stream, key?.keyRing.first), target);
    printLine(
      `the state of cluster ${member.facts.clusterId} at index ${index} was exported; this member knows that entries up to ` +
        `${member.facts.commitIndex} are committed, and has entries up to ${member.facts.lastIndex}`,
    );
  } finally {
    await member.close();
  }
}

/** Raises Refused if the member has applied nothing yet. */
function snapshotOf(member: StoppedMember, version: string) {
  const { cluster, clusterName } = member.facts;
  if (cluster === null) {
    throw new Refused(
      "MEMBER_REFUSED",
      `the member of ${member.directory} has not applied any entry yet. Export another member`,
    );
  }
  const header = snapshotHeader({ clusterName, version }, { progress: readProgress(member.state), cluster });
  const { stream } = writeSnapshot(header, member.rows(PIECE_BYTES));
  return { stream, index: header.index };
}

/** Creates the file completely, or not at all. Raises UsageError if that fails. */
async function write(bytes: AsyncIterable<Uint8Array>, target: string): Promise<void> {
  if (target === STDOUT) {
    return pipeline(bytes, process.stdout, { end: false });
  }
  const draft = `${target}.${process.pid}.new`;
  try {
    await pipeline(bytes, createWriteStream(draft, { flags: "wx", mode: FILE_MODE, flush: true }));
    await rename(draft, target);
    await syncDirectory(dirname(target));
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof Error && "syscall" in error) {
      throw new UsageError(`${target} cannot be written: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  await directory.sync().finally(() => directory.close());
}

/** Raises UsageError. */
async function readKey(path: string): Promise<KeyFile> {
  try {
    return await readKeyFile(path);
  } catch (error) {
    if (error instanceof BackupError) {
      throw new UsageError(`--key-file: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

function printLine(line: string | null): void {
  if (line !== null) {
    process.stderr.write(`quoin-node: ${line}\n`);
  }
}
