/** The options of the local launcher. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseLocation, type StoreLocation } from "@quoin/backup";
import { Command, InvalidArgumentError, Option } from "commander";
import { parseArguments, parseCount, parseTime, UsageError } from "../src/command-line/index.ts";
import { isClusterId } from "../src/storage/index.ts";
import { BASE_PORT_MAX } from "./ports.ts";

/** A whole cluster. */
export interface LocalOptions {
  /** Members to run, each as a separate process. */
  readonly members: number;
  /**
   * First port of the first member. Each member takes five consecutive ports, and the next member starts ten ports
   * higher. By default that of the run before in this directory, and 7400 in the first one.
   */
  readonly basePort?: number;
  readonly dataDirectory: string;
  /** Flags of each member besides those that the launcher sets. */
  readonly memberFlags?: readonly string[];
  /** The directory of the backups, which must exist before the members start. */
  readonly backupDirectory?: string;
  /** Whether those flags name a backup from which the cluster is founded. */
  readonly restores?: boolean;
}

/** One member of a running cluster, to be restarted. */
export interface MemberOptions {
  /** Its name, such as `q-1`. */
  readonly member: string;
  readonly dataDirectory: string;
}

/**
 * Odd numbers: a second or fourth member would add a process that can fail, but no failure that the cluster survives.
 */
const MEMBER_COUNTS = [1, 3, 5];
const COUNTS = `${MEMBER_COUNTS.slice(0, -1).join(", ")} or ${MEMBER_COUNTS.at(-1)}`;
const MEMBERS_DEFAULT = 3;
const BASE_PORT_MIN = 1024;

/**
 * Parses the arguments. Returns null for --help. Raises UsageError.
 *
 * @param name of the program in the help
 */
export function parseOptions(args: readonly string[], name = "npm start --"): LocalOptions | MemberOptions | null {
  const program = new Command(name)
    .description("Starts a Quoin cluster on this machine and keeps it running until Ctrl-C")
    .option("--members <count>", `members to run: ${COUNTS}`, parseMembers, MEMBERS_DEFAULT)
    .option(
      "--base-port <port>",
      "first of the ports to listen on, all on 127.0.0.1 (default: that of the run before, at first 7400)",
      parsePort,
    )
    .option("--data-dir <directory>", "directory that keeps data between runs", ".quoin")
    .option(
      "--backup-store <location>",
      "directory, or s3://bucket/prefix, into which the cluster archives every write",
    )
    .option("--backup-key-file <file>", "keys that encrypt these backups")
    .option(
      "--restore <location>",
      "found the cluster from this backup: directory, s3://bucket/prefix, or file with one snapshot; needs an empty --data-dir",
    )
    .option("--to-revision <revision>", "restore up to this revision", checked(parseCount))
    .addOption(
      new Option("--to-time <time>", "restore up to this time, such as 2026-01-31T12:00:00Z")
        .argParser(checked(parseTime))
        .conflicts(["toRevision"]),
    )
    .option("--restore-key-file <file>", "keys that encrypt the backup; by default those of --backup-key-file")
    .option("--restore-allow-unencrypted", "with keys, restore also what is not encrypted")
    .option(
      "--restore-cluster-id <uuid>",
      "cluster of the backup, if the store contains backups of several",
      checked(requireClusterId),
    )
    .addOption(
      new Option(
        "--member <name>",
        "start one member again, such as q-1, while the cluster runs in another shell",
      ).conflicts([
        ...["members", "basePort", "backupStore", "backupKeyFile"],
        ...["restore", "toRevision", "toTime", "restoreKeyFile", "restoreAllowUnencrypted", "restoreClusterId"],
      ]),
    );
  if (!parseArguments(program, args)) {
    return null;
  }
  const options = program.opts();
  const { members, basePort, dataDir: dataDirectory, member, backupStore, backupKeyFile } = options;
  const restoring = restoreFlags(options, backupKeyFile);
  const store = backupStore === undefined ? undefined : requireLocation("--backup-store", backupStore);
  const memberFlags = [...backupFlags(backupStore, store, backupKeyFile), ...restoring];
  if (member === "") {
    throw new UsageError("--member needs a name, such as q-1");
  }
  return member === undefined
    ? {
        members,
        dataDirectory,
        ...(basePort === undefined ? {} : { basePort }),
        ...(memberFlags.length > 0 ? { memberFlags } : {}),
        ...(store?.kind === "directory" ? { backupDirectory: store.directory } : {}),
        ...(restoring.length > 0 ? { restores: true } : {}),
      }
    : { member, dataDirectory };
}

/** The flags of members for their backups. Raises UsageError. */
function backupFlags(
  text: string | undefined,
  store: StoreLocation | undefined,
  keyFile: string | undefined,
): readonly string[] {
  if (text === undefined || store === undefined) {
    if (keyFile !== undefined) {
      throw new UsageError("--backup-key-file needs --backup-store");
    }
    return [];
  }
  const key = keyFile === undefined ? [] : ["--backup-key-file", resolve(keyFile)];
  return ["--backup-store", store.kind === "directory" ? store.directory : text, "--backup-archive", ...key];
}

interface RestoreOptions {
  readonly restore?: string;
  readonly toRevision?: string;
  readonly toTime?: string;
  readonly restoreKeyFile?: string;
  readonly restoreAllowUnencrypted?: boolean;
  readonly restoreClusterId?: string;
}

/** The flags of members for the backup that founds their cluster; only the founder reads it. Raises UsageError. */
function restoreFlags(options: RestoreOptions, backupKeyFile: string | undefined): readonly string[] {
  const { restore, toRevision, toTime, restoreKeyFile, restoreAllowUnencrypted = false, restoreClusterId } = options;
  const keyFile = restoreKeyFile ?? (restore === undefined ? undefined : backupKeyFile);
  const given = new Map([
    ["--to-revision", ["--restore-to-revision", toRevision]],
    ["--to-time", ["--restore-to-time", toTime]],
    ["--restore-key-file", ["--restore-key-file", keyFile === undefined ? undefined : resolve(keyFile)]],
    ["--restore-cluster-id", ["--restore-cluster-id", restoreClusterId]],
  ] as const);
  const flags: string[] = restore === undefined ? [] : ["--restore-from", sourceFor(restore)];
  for (const [option, [flag, value]] of given) {
    if (value !== undefined) {
      if (restore === undefined) {
        throw new UsageError(`${option} needs --restore`);
      }
      flags.push(flag, value);
    }
  }
  if (restoreAllowUnencrypted) {
    if (keyFile === undefined) {
      throw new UsageError("--restore-allow-unencrypted needs --restore, and keys");
    }
    flags.push("--restore-allow-unencrypted");
  }
  return flags;
}

/** Members run in another directory, so this makes a path absolute. Raises UsageError if nothing is there. */
function sourceFor(text: string): string {
  const location = requireLocation("--restore", text);
  // A member would wait for it.
  if (location.kind === "directory" && !existsSync(location.directory)) {
    throw new UsageError(`--restore: ${location.directory} does not exist`);
  }
  return text.includes("://") ? text : resolve(text);
}

/** Raises UsageError. */
function requireLocation(option: string, text: string): StoreLocation {
  try {
    return parseLocation(text);
  } catch (error) {
    throw new UsageError(`${option}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The smallest count of members that includes the member with this number, from 0; null if none does. */
export function memberCountFor(at: number): number | null {
  return MEMBER_COUNTS.find((count) => count > at) ?? null;
}

/** Checks the text with the parser and returns it unchanged, because members get it. */
function checked(parse: (text: string) => unknown): (text: string) => string {
  return (text) => {
    parse(text);
    return text;
  };
}

function requireClusterId(text: string): void {
  if (!isClusterId(text)) {
    throw new InvalidArgumentError("It must be a UUID in lower case.");
  }
}

function parseMembers(text: string): number {
  const count = MEMBER_COUNTS.find((one) => String(one) === text);
  if (count === undefined) {
    throw new InvalidArgumentError(`It must be ${COUNTS}.`);
  }
  return count;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]+$/.test(text) || port < BASE_PORT_MIN || port > BASE_PORT_MAX) {
    throw new InvalidArgumentError(`It must be a port from ${BASE_PORT_MIN} to ${BASE_PORT_MAX}.`);
  }
  return port;
}
