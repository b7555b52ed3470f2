/** What the local launcher is asked to start. */

import { Command, InvalidArgumentError } from "commander";
import { parseArguments } from "../src/command-line/index.ts";

export interface LocalOptions {
  /** Members to run, each a process of its own. */
  readonly members: number;
  /** First port of the first member; each member takes five in a row, and the next starts ten further on. */
  readonly basePort: number;
  readonly dataDirectory: string;
}

/** A cluster of this release has one member. */
const MEMBERS_MAX = 1;
const BASE_PORT_MIN = 1024;
const PORTS_PER_MEMBER = 10;
const PORT_MAX = 65_535;

/** The options of these arguments. Raises UsageError; null if only help was asked for and given. */
export function parseOptions(args: readonly string[]): LocalOptions | null {
  const program = new Command("npm start --")
    .description("Starts a Quoin cluster on this machine and keeps it running until Ctrl-C")
    .option("--members <count>", "members to run", parseMembers, MEMBERS_MAX)
    .option("--base-port <port>", "first of the ports to listen on, all on 127.0.0.1", parsePort, 7400)
    .option("--data-dir <directory>", "where data is kept between runs", ".quoin");
  if (!parseArguments(program, args)) {
    return null;
  }
  const flags = program.opts();
  return { members: flags.members, basePort: flags.basePort, dataDirectory: flags.dataDir };
}

function parseMembers(text: string): number {
  if (text !== String(MEMBERS_MAX)) {
    throw new InvalidArgumentError(`This release runs ${MEMBERS_MAX} member.`);
  }
  return MEMBERS_MAX;
}

function parsePort(text: string): number {
  const port = Number(text);
  const portMax = PORT_MAX - PORTS_PER_MEMBER;
  if (!/^[0-9]+$/.test(text) || port < BASE_PORT_MIN || port > portMax) {
    throw new InvalidArgumentError(`It must be a port from ${BASE_PORT_MIN} to ${portMax}.`);
  }
  return port;
}
