/** What the local launcher is asked to start. */

import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseLocation } from "@quoin/backup";
import { Command, InvalidArgumentError, Option } from "commander";
import { parseArguments, UsageError } from "../src/command-line/index.ts";
import { BASE_PORT_MAX } from "./ports.ts";

/** A whole cluster. */
export interface LocalOptions {
  /** Members to run, each a process of its own. */
  readonly members: number;
  /** First port of the first member; each member takes five in a row, and the next starts ten further on. */
  readonly basePort: number;
  readonly dataDirectory: string;
  /** Flags of each member beside those that the launcher sets. */
  readonly memberFlags?: readonly string[];
  /** Flags of Node for each member and its threads, such as a module to load first. */
  readonly nodeFlags?: readonly string[];
}

/** One member of a cluster that runs, again. */
export interface MemberOptions {
  /** Its name, such as `q-1`. */
  readonly member: string;
  readonly dataDirectory: string;
}

/** Odd ones: a second or fourth member would be one more that can fail, and no failure more that is survived. */
const MEMBER_COUNTS = [1, 3, 5];
const COUNTS = `${MEMBER_COUNTS.slice(0, -1).join(", ")} or ${MEMBER_COUNTS.at(-1)}`;
const MEMBERS_DEFAULT = 3;
const BASE_PORT_MIN = 1024;

/** The options of these arguments. Raises UsageError; null if only help was asked for and given. */
export function parseOptions(args: readonly string[]): LocalOptions | MemberOptions | null {
  const program = new Command("npm start --")
    .description("Starts a Quoin cluster on this machine and keeps it running until Ctrl-C")
    .option("--members <count>", `members to run: ${COUNTS}`, parseMembers, MEMBERS_DEFAULT)
    .option("--base-port <port>", "first of the ports to listen on, all on 127.0.0.1", parsePort, 7400)
    .option("--data-dir <directory>", "where data is kept between runs", ".quoin")
    .option(
      "--backup-store <location>",
      "directory, or s3://bucket/prefix, into which the cluster archives every write",
    )
    .option("--backup-key-file <file>", "keys that encrypt these backups")
    .addOption(
      new Option(
        "--member <name>",
        "start one member again, such as q-1, while the cluster runs in another shell",
      ).conflicts(["members", "basePort", "backupStore", "backupKeyFile"]),
    );
  if (!parseArguments(program, args)) {
    return null;
  }
  const { members, basePort, dataDir: dataDirectory, member, backupStore, backupKeyFile } = program.opts();
  const memberFlags = backupFlags(backupStore, backupKeyFile);
  if (member === "") {
    throw new UsageError("--member needs a name, such as q-1");
  }
  return member === undefined
    ? { members, basePort, dataDirectory, ...(memberFlags.length > 0 ? { memberFlags } : {}) }
    : { member, dataDirectory };
}

/** What members get for their backups. Raises UsageError. */
function backupFlags(store: string | undefined, keyFile: string | undefined): readonly string[] {
  if (store === undefined) {
    if (keyFile !== undefined) {
      throw new UsageError("--backup-key-file needs --backup-store");
    }
    return [];
  }
  const key = keyFile === undefined ? [] : ["--backup-key-file", resolve(keyFile)];
  return ["--backup-store", storeFor(store), "--backup-archive", ...key];
}

/** A directory is made, so that a first try needs no preparation; members themselves never make one. */
function storeFor(text: string): string {
  try {
    const location = parseLocation(text);
    if (location.kind === "directory") {
      mkdirSync(location.directory, { recursive: true, mode: 0o700 });
      return location.directory;
    }
    return text;
  } catch (error) {
    throw new UsageError(`--backup-store: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The least count of members that starts those that are numbered up to this one, from 0; null if none does. */
export function memberCountFor(at: number): number | null {
  return MEMBER_COUNTS.find((count) => count > at) ?? null;
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
