/**
 * What one member is told when it starts: flags, checked before anything else happens.
 *
 * Secrets come in files, never in arguments.
 */

import { Command, InvalidArgumentError, Option } from "commander";
import { parseArguments, UsageError } from "./command-line/index.ts";
import { LOG_LEVELS, type LogLevel } from "./telemetry/index.ts";

/** Where to listen: an address of this machine, and a port, 0 = any free one. */
export interface Listen {
  readonly host: string;
  readonly port: number;
}

export interface Configuration {
  readonly name: string;
  readonly clusterName: string;
  readonly dataDirectory: string;
  readonly grpc: Listen;
  readonly http: Listen;
  /** Without it the member has no admin port, and ends instead of reporting data that it cannot serve. */
  readonly admin: Listen | null;
  readonly health: Listen | null;
  readonly adminTokenFile: string | null;
  /** What others dial, as host:port; null = what this member listens on. */
  readonly advertiseGrpc: string | null;
  readonly advertiseHttp: string | null;
  readonly advertisePeer: string;
  readonly acceptMissingFence: boolean;
  /** Stop when standard input ends, so that the process ends with the one that started it. */
  readonly untilStdinEnds: boolean;
  readonly logLevel: LogLevel;
}

const NAME = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;
const PORT_MAX = 65_535;

/** The configuration of these arguments. Raises UsageError; null if only help or version was asked for. */
export function parseConfiguration(args: readonly string[], version: string): Configuration | null {
  const program = new Command("quoin-node")
    .description("One member of a Quoin cluster")
    .version(version)
    .requiredOption("--name <name>", "name of the member, unique in its cluster", parseName)
    .option("--cluster-name <name>", "name of the cluster", parseName, "quoin")
    .requiredOption("--data-dir <directory>", "data directory, of this member alone")
    .option("--grpc <host:port>", "listen for gRPC clients", parseListen, parseListen("127.0.0.1:7400"))
    .option("--http <host:port>", "listen for HTTP clients", parseListen, parseListen("127.0.0.1:7401"))
    .option("--admin <host:port>", "listen for cluster administration", parseListen)
    .option("--health <host:port>", "listen for health checks, plain HTTP", parseListen)
    .option("--admin-token-file <file>", "file with the admin tokens, one a line; required with --admin")
    .option("--advertise-grpc <host:port>", "address that clients dial", parseAddress)
    .option("--advertise-http <host:port>", "address that HTTP clients dial", parseAddress)
    .option("--advertise-peer <host:port>", "address that other members dial", parseAddress, "127.0.0.1:7402")
    .option("--accept-missing-fence", "start the only member of a cluster although its fence file is lost", false)
    .option("--until-stdin-ends", "stop when standard input ends", false)
    .addOption(new Option("--log-level <level>", "least severe lines to log").choices(LOG_LEVELS).default("info"));
  if (!parseArguments(program, args)) {
    return null;
  }
  const flags = program.opts();
  if (flags.admin !== undefined && flags.adminTokenFile === undefined) {
    throw new UsageError("--admin needs --admin-token-file");
  }
  return {
    name: flags.name,
    clusterName: flags.clusterName,
    dataDirectory: flags.dataDir,
    grpc: flags.grpc,
    http: flags.http,
    admin: flags.admin ?? null,
    health: flags.health ?? null,
    adminTokenFile: flags.adminTokenFile ?? null,
    advertiseGrpc: flags.advertiseGrpc ?? null,
    advertiseHttp: flags.advertiseHttp ?? null,
    advertisePeer: flags.advertisePeer,
    acceptMissingFence: flags.acceptMissingFence,
    untilStdinEnds: flags.untilStdinEnds,
    logLevel: flags.logLevel,
  };
}

/** host:port, for people and for dialing; IPv6 addresses in brackets. */
export function formatListen({ host, port }: Listen): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseName(text: string): string {
  if (!NAME.test(text)) {
    throw new InvalidArgumentError("It must be 1 to 63 lower-case letters, digits, `-` or `.`, as in a DNS name.");
  }
  return text;
}

function parseAddress(text: string): string {
  const { port } = parseListen(text);
  if (port === 0) {
    throw new InvalidArgumentError("Others cannot dial port 0.");
  }
  return text;
}

function parseListen(text: string): Listen {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > PORT_MAX) {
    throw new InvalidArgumentError("It must be host:port, with a port of 0 to 65535.");
  }
  return { host: match[1] ?? match[2] ?? "", port };
}
