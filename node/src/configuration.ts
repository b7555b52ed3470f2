/**
 * What one member is told when it starts: flags, checked before anything else happens.
 *
 * Secrets come in files, never in arguments.
 */

import { isIP } from "node:net";
import { Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_RATE_LIMITS, type RateLimit, type RateLimits, requireEmail } from "./access/index.ts";
import { DEFAULT_GRPC_HOST, GRPC_HOSTS, type GrpcHostName } from "./api/calls/index.ts";
import { type ClientLimits, DEFAULT_CLIENT_LIMITS } from "./api/connections/index.ts";
import { TrustedProxies } from "./api/http/index.ts";
import type { BackupConfiguration } from "./archive/index.ts";
import { addBackupOptions, type BackupFlags, backupConfigurationOf } from "./backup-flags.ts";
import { parseArguments, UsageError } from "./command-line/index.ts";
import { EVERY_ADDRESS, type ServerTlsFilePaths } from "./peers/index.ts";
import {
  addRestoreOptions,
  type RestoreConfiguration,
  type RestoreFlags,
  restoreConfigurationOf,
} from "./restore-flags.ts";
import { LOG_LEVELS, type LogLevel } from "./telemetry/index.ts";

/** Where to listen: an address of this machine or `*`, which is all of IPv6 and IPv4, and a port, 0 = any free one. */
export interface Listen {
  readonly host: string;
  readonly port: number;
}

export interface Configuration {
  readonly name: string;
  readonly clusterName: string;
  readonly dataDirectory: string;
  readonly grpc: Listen;
  /** What serves the public gRPC port. */
  readonly grpcHost: GrpcHostName;
  readonly http: Listen;
  /** Without it the member has no admin port, and ends instead of reporting data that it cannot serve. */
  readonly admin: Listen | null;
  readonly health: Listen | null;
  readonly adminTokenFile: string | null;
  /** Where other members dial this one, if it meets any. */
  readonly peer: Listen;
  /** How this member meets others; null for one that stays alone. */
  readonly peering: PeeringConfiguration | null;
  /** What clients are shown on the ports for gRPC, HTTP and administration; null = they speak plain text. */
  readonly tls: ServerTlsFilePaths | null;
  /** What others dial, as host:port; null = what this member listens on. */
  readonly advertiseGrpc: string | null;
  readonly advertiseHttp: string | null;
  readonly advertisePeer: string | null;
  readonly acceptMissingFence: boolean;
  /** Directory in which is written down which cluster this is, and who may found it; null = nowhere. */
  readonly foundingRecord: string | null;
  /** Namespace of the pod of this member's name, which is labelled with what the member is; null = none is. */
  readonly labelPodIn: string | null;
  /** Whether room on the disk is kept back for when it is full. */
  readonly hasDiskReserve: boolean;
  /** Size of the cache of the state's store, in bytes. */
  readonly stateCacheBytes: number;
  /** Most bytes of the Raft log that a leader keeps for a member that is behind. */
  readonly logCatchUpBytes: number;
  /** Where the settings of the cluster say nothing else. */
  readonly limits: RateLimits;
  /** Proxies whose word about the addresses of HTTP clients is taken. */
  readonly proxies: ProxyConfiguration;
  /** What clients of a port may have open at a time. */
  readonly clientLimits: ClientLimits;
  /** Where backups go; null = this member has no store for them. */
  readonly backup: BackupConfiguration | null;
  /** From what this member founds its cluster, if it does; null = an empty one. */
  readonly restore: RestoreConfiguration | null;
  /** How mail is sent; null = not at all. */
  readonly mail: MailConfiguration | null;
  /** How long the member serves on, after it was asked to stop and has handed the leadership over, in milliseconds. */
  readonly lingerMs: number;
  /** Stop when standard input ends, so that the process ends with the one that started it. */
  readonly untilStdinEnds: boolean;
  readonly logLevel: LogLevel;
  /** Requests that take at least so many milliseconds are logged; 0 = none is for that. */
  readonly slowRequestMs: number;
}

export interface ProxyConfiguration {
  /** IP addresses and networks. */
  readonly trusted: readonly string[];
  /** Whether each of their connections begins with a header of the PROXY protocol. */
  readonly speakProxyProtocol: boolean;
}

export type MailConfiguration =
  /** Through the mail server whose URL, with name and password, is in the file; from this address. */
  | { readonly kind: "smtp"; readonly urlFile: string; readonly from: string }
  /** Into the log: for development only. */
  | { readonly kind: "log" };

export interface PeeringConfiguration {
  /** Peer endpoints, as host:port, of members that may know the cluster. */
  readonly seeds: readonly string[];
  readonly joinTokenFile: string;
  /** An IP address at which others reach this member while its name is not known everywhere. */
  readonly dialHint: string | null;
  /** Null for plain TCP. */
  readonly tls: PeerTlsConfiguration | null;
}

export interface PeerTlsConfiguration {
  readonly certificate: string;
  readonly key: string;
  readonly authorities: string;
  /** A name that certificates must have of members whose address is not known yet; may begin with "*.". */
  readonly joinName: string;
}

/** Flags as they were given, before what belongs together is looked at. */
interface Flags extends BackupFlags, RestoreFlags {
  readonly name: string;
  readonly clusterName: string;
  readonly dataDir: string;
  readonly grpc: Listen;
  readonly grpcHost: GrpcHostName;
  readonly http: Listen;
  readonly admin?: Listen;
  readonly health?: Listen;
  readonly adminTokenFile?: string;
  readonly peer?: Listen;
  readonly seed: readonly string[];
  readonly joinTokenFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
  readonly peerCert?: string;
  readonly peerKey?: string;
  readonly peerCa?: string;
  readonly peerJoinName?: string;
  readonly advertiseGrpc?: string;
  readonly advertiseHttp?: string;
  readonly advertisePeer?: string;
  readonly dialHint?: string;
  readonly foundingRecord?: string;
  readonly labelPodIn?: string;
  readonly acceptMissingFence: boolean;
  readonly diskReserve: boolean;
  readonly stateCacheMib: number;
  readonly logCatchUpMib: number;
  readonly rateLimit: RateLimits;
  readonly trustedProxies: readonly string[];
  readonly proxyProtocol: "on" | "off";
  readonly clientLimit: ClientLimits;
  readonly smtpUrlFile?: string;
  readonly mailFrom?: string;
  readonly mailToLog: boolean;
  readonly lingerMs: number;
  readonly untilStdinEnds: boolean;
  readonly logLevel: LogLevel;
  readonly slowRequestMs: number;
}

/** What stands for all addresses of this machine. */
const ANY_ADDRESS = new Set([EVERY_ADDRESS, "0.0.0.0", "::"]);
const PEER_DEFAULT = "127.0.0.1:7402";
/** Names of certificates, not addresses: a member is known by its name. */
const JOIN_NAME = /^(\*\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i;
const NAME = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;
const PORT_MAX = 65_535;
/** As flags name them. */
const RATE_LIMIT_NAMES: ReadonlyMap<string, keyof RateLimits> = new Map([
  ["http", "http"],
  ["grpc", "grpc"],
  ["token-requests", "tokenRequests"],
  ["token-failures", "tokenFailures"],
  ["login-requests", "loginRequests"],
  ["login-failures", "loginFailures"],
]);
const CLIENT_LIMIT_NAMES: ReadonlyMap<string, keyof ClientLimits> = new Map([
  ["connections", "connections"],
  ["calls", "calls"],
  ["streams", "streams"],
  ["unverified-calls", "unverifiedCalls"],
  ["open-calls", "openCalls"],
  ["request-bytes", "requestBytes"],
]);
/** Far above what a healthy cluster needs, and below the shortest common deadline. */
const SLOW_REQUEST_MS = 1_000;
/** Bounds and default of the cache of the state's store. */
const STATE_CACHE_MIB = { min: 1, max: 65_536, default: 64 };
/** What is less is kept for every member, see `keptBytes` of the compaction. */
const LOG_CATCH_UP_MIB = { min: 64, max: 65_536, default: 1_024 };
const MEBIBYTE = 1024 * 1024;
/** Longer would not fit into the time that Kubernetes gives a pod to end. */
const LINGER_MS_MAX = 10_000;

/** The configuration of these arguments. Raises UsageError; null if only help or version was asked for. */
export function parseConfiguration(args: readonly string[], version: string): Configuration | null {
  const program = new Command("quoin-node")
    .description("One member of a Quoin cluster")
    .version(version)
    .requiredOption("--name <name>", "name of the member, unique in its cluster", parseName)
    .option("--cluster-name <name>", "name of the cluster", parseName, "quoin")
    .requiredOption("--data-dir <directory>", "data directory, of this member alone")
    .option("--grpc <host:port>", "listen for gRPC clients", parseListen, parseListen("127.0.0.1:7400"))
    .addOption(
      new Option("--grpc-host <name>", "what serves gRPC clients: the member itself, or the library grpc-js")
        .env("QUOIN_GRPC_HOST")
        .choices(GRPC_HOSTS)
        .default(DEFAULT_GRPC_HOST),
    )
    .option("--http <host:port>", "listen for HTTP clients", parseListen, parseListen("127.0.0.1:7401"))
    .option("--admin <host:port>", "listen for cluster administration", parseListen)
    .option("--health <host:port>", "listen for health checks and metrics, plain HTTP", parseListen)
    .option("--tls-cert <file>", "certificate towards clients of gRPC, HTTP and administration, PEM")
    .option("--tls-key <file>", "its key, PEM; without both these ports speak plain text")
    .option("--tls-client-ca <file>", "authorities of clients, PEM: who has no certificate of theirs is not served")
    .option("--admin-token-file <file>", "file with the admin tokens, one a line; required with --admin")
    .option("--peer <host:port>", `listen for other members (default: ${PEER_DEFAULT})`, parseListen)
    .option("--seed <host:port>", "peer address of a member that may know the cluster; repeatable", collectSeed, [])
    .option("--join-token-file <file>", "file with the join tokens, one a line; without it the member stays alone")
    .option("--peer-cert <file>", "certificate towards other members, PEM; without it plain TCP")
    .option("--peer-key <file>", "its key, PEM")
    .option("--peer-ca <file>", "authorities of the members' certificates, PEM")
    .option(
      "--peer-join-name <pattern>",
      "name in certificates of members whose address is not known yet",
      parseJoinName,
    )
    .option("--advertise-grpc <host:port>", "address that clients dial", parseAddress)
    .option("--advertise-http <host:port>", "address that HTTP clients dial", parseAddress)
    .option("--advertise-peer <host:port>", "address that other members dial", parseAddress)
    .option("--dial-hint <ip>", "IP address of this member, for others who do not know its name yet", parseIpAddress)
    .option("--founding-record <directory>", "where it is written down which cluster this is and who may found it")
    .option("--label-pod-in <namespace>", "Kubernetes: label the pod of this name with what the member is", parseName)
    .option("--accept-missing-fence", "start the only member of a cluster although its fence file is lost", false)
    .option("--no-disk-reserve", "keep no room back on the disk for when it is full")
    .addOption(
      new Option(
        "--state-cache-mib <MiB>",
        `cache of the state's store, in MiB, ${STATE_CACHE_MIB.min} to ${STATE_CACHE_MIB.max}`,
      )
        .env("QUOIN_STATE_CACHE_MIB")
        .argParser((text) => parseMib(text, STATE_CACHE_MIB))
        .default(STATE_CACHE_MIB.default),
    )
    .addOption(
      new Option(
        "--log-catch-up-mib <MiB>",
        `most of the log to keep for a member that is behind, in MiB, ${LOG_CATCH_UP_MIB.min} to ${LOG_CATCH_UP_MIB.max}`,
      )
        .env("QUOIN_LOG_CATCH_UP_MIB")
        .argParser((text) => parseMib(text, LOG_CATCH_UP_MIB))
        .default(LOG_CATCH_UP_MIB.default),
    )
    .option(
      "--rate-limit <name=requests[/seconds[/burst]]>",
      "how often one may ask, 0 = as often as they like; repeatable",
      collectRateLimit,
      DEFAULT_RATE_LIMITS,
    )
    .option(
      "--client-limit <name=member[/address[/user]]>",
      "what clients of a port may have open, in all, by address and by user; repeatable",
      collectClientLimit,
      DEFAULT_CLIENT_LIMITS,
    )
    // By the environment, too: on Kubernetes the flags are the operator's.
    .addOption(
      new Option(
        "--trusted-proxies <networks>",
        "addresses and networks of proxies, with commas between, whose X-Forwarded-For is believed on the HTTP port",
      )
        .env("QUOIN_TRUSTED_PROXIES")
        .argParser(parseNetworks)
        .default([]),
    )
    .addOption(
      new Option("--proxy-protocol <on|off>", "whether trusted proxies begin HTTP connections with a PROXY header")
        .env("QUOIN_PROXY_PROTOCOL")
        .choices(["on", "off"])
        .default("off"),
    )
    .addOption(
      new Option("--smtp-url-file <file>", "file with the URL of the mail server, as smtps://user:password@host").env(
        "QUOIN_SMTP_URL_FILE",
      ),
    )
    .addOption(
      new Option("--mail-from <address>", "address that mail comes from; required with --smtp-url-file")
        .env("QUOIN_MAIL_FROM")
        .argParser(parseEmail),
    )
    .option("--mail-to-log", "for development: write mails, which hold secrets, into the log", false)
    .option(
      "--linger-ms <ms>",
      `when told to stop, serve on for so long after the leadership is handed over, at most ${LINGER_MS_MAX}`,
      parseLinger,
      0,
    )
    .option("--until-stdin-ends", "stop when standard input ends", false)
    .addOption(new Option("--log-level <level>", "least severe lines to log").choices(LOG_LEVELS).default("info"))
    .option(
      "--slow-request-ms <ms>",
      "log requests that take at least so many milliseconds; 0 = none",
      parseMilliseconds,
      SLOW_REQUEST_MS,
    )
    .addHelpText("after", "\nTo listen, * as a host is every address, of IPv6 and IPv4.")
    .addHelpText("after", "\nA lost owner, while the member is stopped: quoin-node reset-owner --help")
    .addHelpText("after", "A lost quorum, from the data of one stopped member: quoin-node recover --help")
    .addHelpText("after", "The state of a stopped member, as a snapshot: quoin-node export --help")
    .addHelpText("after", "A cluster from its backup, into an empty data directory: quoin-node restore --help")
    .addHelpText("after", "A proof that a backup can be restored: quoin-node backup verify --help");
  addBackupOptions(program);
  addRestoreOptions(program);
  return parseArguments(program, args) ? configurationOf(program.opts<Flags>()) : null;
}

function configurationOf(flags: Flags): Configuration {
  if (flags.admin !== undefined && flags.adminTokenFile === undefined) {
    throw new UsageError("--admin needs --admin-token-file");
  }
  return {
    name: flags.name,
    clusterName: flags.clusterName,
    dataDirectory: flags.dataDir,
    grpc: flags.grpc,
    grpcHost: flags.grpcHost,
    http: flags.http,
    admin: flags.admin ?? null,
    health: flags.health ?? null,
    adminTokenFile: flags.adminTokenFile ?? null,
    peer: flags.peer ?? parseListen(PEER_DEFAULT),
    peering: peeringOf(flags),
    tls: clientTlsOf(flags),
    advertiseGrpc: flags.advertiseGrpc ?? null,
    advertiseHttp: flags.advertiseHttp ?? null,
    advertisePeer: flags.advertisePeer ?? null,
    acceptMissingFence: flags.acceptMissingFence,
    foundingRecord: flags.foundingRecord ?? null,
    labelPodIn: flags.labelPodIn ?? null,
    hasDiskReserve: flags.diskReserve,
    stateCacheBytes: flags.stateCacheMib * MEBIBYTE,
    logCatchUpBytes: flags.logCatchUpMib * MEBIBYTE,
    limits: flags.rateLimit,
    proxies: proxiesOf(flags),
    clientLimits: flags.clientLimit,
    backup: backupConfigurationOf(flags),
    restore: restoreConfigurationOf(flags),
    mail: mailOf(flags),
    lingerMs: flags.lingerMs,
    untilStdinEnds: flags.untilStdinEnds,
    logLevel: flags.logLevel,
    slowRequestMs: flags.slowRequestMs,
  };
}

function proxiesOf({ trustedProxies: trusted, proxyProtocol }: Flags): ProxyConfiguration {
  if (proxyProtocol === "on" && trusted.length === 0) {
    throw new UsageError("--proxy-protocol on needs --trusted-proxies: the header of anybody else is not believed");
  }
  return { trusted, speakProxyProtocol: proxyProtocol === "on" };
}

function mailOf({ smtpUrlFile: urlFile, mailFrom: from, mailToLog }: Flags): MailConfiguration | null {
  if (mailToLog) {
    if (urlFile !== undefined || from !== undefined) {
      throw new UsageError("--mail-to-log excludes --smtp-url-file and --mail-from: a mail goes one way");
    }
    return { kind: "log" };
  }
  if (urlFile === undefined && from === undefined) {
    return null;
  }
  if (urlFile === undefined || from === undefined) {
    throw new UsageError("--smtp-url-file and --mail-from belong together");
  }
  return { kind: "smtp", urlFile, from };
}

/** Without join tokens nobody could be told from a stranger, so the port is not opened. */
function peeringOf(flags: Flags): PeeringConfiguration | null {
  const { joinTokenFile } = flags;
  if (joinTokenFile === undefined) {
    const useless = new Map<string, unknown>([
      ["--peer", flags.peer],
      ["--seed", flags.seed[0]],
      ["--peer-cert", flags.peerCert],
      ["--peer-key", flags.peerKey],
      ["--peer-ca", flags.peerCa],
      ["--peer-join-name", flags.peerJoinName],
      ["--dial-hint", flags.dialHint],
    ]);
    for (const [flag, value] of useless) {
      if (value !== undefined) {
        throw new UsageError(`${flag} needs --join-token-file`);
      }
    }
    return null;
  }
  if (flags.peer !== undefined && ANY_ADDRESS.has(flags.peer.host) && flags.advertisePeer === undefined) {
    throw new UsageError(`--peer ${formatListen(flags.peer)} needs --advertise-peer: others cannot dial any address`);
  }
  return { seeds: flags.seed, joinTokenFile, dialHint: flags.dialHint ?? null, tls: peerTlsOf(flags) };
}

/** Half of it would be plain text where somebody meant it not to be. */
function clientTlsOf(flags: Flags): ServerTlsFilePaths | null {
  const { tlsCert: certificate, tlsKey: key, tlsClientCa: clientAuthorities = null } = flags;
  if (certificate !== undefined && key !== undefined) {
    return { certificate, key, clientAuthorities };
  }
  if (certificate !== undefined) {
    throw new UsageError("--tls-cert needs --tls-key");
  }
  if (key !== undefined) {
    throw new UsageError("--tls-key needs --tls-cert");
  }
  if (clientAuthorities !== null) {
    throw new UsageError("--tls-client-ca needs --tls-cert and --tls-key");
  }
  return null;
}

function peerTlsOf(flags: Flags): PeerTlsConfiguration | null {
  const { peerCert: certificate, peerKey: key, peerCa: authorities, peerJoinName: joinName } = flags;
  if (certificate === undefined && key === undefined && authorities === undefined) {
    if (joinName !== undefined) {
      throw new UsageError("--peer-join-name needs --peer-cert, --peer-key and --peer-ca");
    }
    return null;
  }
  if (certificate === undefined || key === undefined || authorities === undefined) {
    throw new UsageError(
      "--peer-cert, --peer-key and --peer-ca belong together, with --peer-join-name: give all of them or none",
    );
  }
  if (joinName === undefined) {
    throw new UsageError("--peer-cert needs --peer-join-name, for members whose address is not known yet");
  }
  return { certificate, key, authorities, joinName };
}

/** host:port, for people and for dialing; IPv6 addresses in brackets. */
export function formatListen({ host, port }: Listen): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether only this machine can connect there. */
export function isLoopback({ host }: Listen): boolean {
  return host === "localhost" || host === "::1" || /^127(\.[0-9]{1,3}){3}$/.test(host);
}

/** For commander: raises InvalidArgumentError unless the text can name a member, a cluster or a namespace. */
export function parseName(text: string): string {
  if (!NAME.test(text)) {
    throw new InvalidArgumentError("It must be 1 to 63 lower-case letters, digits, `-` or `.`, as in a DNS name.");
  }
  return text;
}

function parseAddress(text: string): string {
  const { host, port } = parseListen(text);
  if (port === 0) {
    throw new InvalidArgumentError("Others cannot dial port 0.");
  }
  if (host === EVERY_ADDRESS) {
    throw new InvalidArgumentError("Others cannot dial every address: name one, or a name.");
  }
  return text;
}

function parseIpAddress(text: string): string {
  if (isIP(text) === 0) {
    throw new InvalidArgumentError("It must be an IP address.");
  }
  return text;
}

/** For commander: raises InvalidArgumentError unless the text is an e-mail address. */
export function parseEmail(text: string): string {
  try {
    requireEmail(text, "It");
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  return text;
}

function parseNetworks(text: string): readonly string[] {
  const networks = text.trim() === "" ? [] : text.split(",").map((network) => network.trim());
  try {
    new TrustedProxies(networks);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  return networks;
}

function parseMilliseconds(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) {
    throw new InvalidArgumentError("It must be a whole number of milliseconds.");
  }
  return Number(text);
}

function parseMib(text: string, { min, max }: { readonly min: number; readonly max: number }): number {
  if (!/^[0-9]{1,5}$/.test(text) || Number(text) < min || Number(text) > max) {
    throw new InvalidArgumentError(`It must be a whole number of MiB, ${min} to ${max}.`);
  }
  return Number(text);
}

function parseLinger(text: string): number {
  const lingerMs = parseMilliseconds(text);
  if (lingerMs > LINGER_MS_MAX) {
    throw new InvalidArgumentError(`It must be at most ${LINGER_MS_MAX}.`);
  }
  return lingerMs;
}

function collectSeed(text: string, seeds: readonly string[]): readonly string[] {
  return [...seeds, parseAddress(text)];
}

/** Without seconds those of the default; without a burst the default's share of the requests. */
function collectRateLimit(text: string, limits: RateLimits): RateLimits {
  const match = /^([a-z-]+)=([0-9]{1,9})(?:\/([0-9]{1,5}))?(?:\/([0-9]{1,9}))?$/.exec(text);
  const name = RATE_LIMIT_NAMES.get(match?.[1] ?? "");
  const [requests, seconds, burst] = [match?.[2], match?.[3], match?.[4]];
  if (name === undefined || Number(seconds ?? 1) === 0 || Number(burst ?? 1) === 0) {
    throw new InvalidArgumentError(
      `It must be NAME=REQUESTS[/SECONDS[/BURST]], and the name one of ${[...RATE_LIMIT_NAMES.keys()].join(", ")}.`,
    );
  }
  const usual = DEFAULT_RATE_LIMITS[name];
  const limit: RateLimit = {
    requests: Number(requests),
    windowSecs: Number(seconds ?? usual.windowSecs),
    burst: Number(burst ?? Math.max(1, Math.ceil((Number(requests) * usual.burst) / usual.requests))),
  };
  return { ...limits, [name]: limit };
}

/** Without a scope that of the default, as far as the whole allows it. */
function collectClientLimit(text: string, limits: ClientLimits): ClientLimits {
  const match = /^([a-z-]+)=([0-9]{1,12})(?:\/([0-9]{1,12}))?(?:\/([0-9]{1,12}))?$/.exec(text);
  const name = CLIENT_LIMIT_NAMES.get(match?.[1] ?? "");
  const given = (match ?? []).slice(2).filter((part) => part !== undefined);
  const usual: Readonly<Record<string, number>> = name === undefined ? {} : { ...limits[name] };
  if (name === undefined || given.some((part) => Number(part) === 0) || given.length > Object.keys(usual).length) {
    throw new InvalidArgumentError(
      `It must be NAME=MEMBER[/ADDRESS[/USER]], each at least 1, and the name one of ${[...CLIENT_LIMIT_NAMES.keys()].join(", ")}.`,
    );
  }
  const member = Number(given[0]);
  const scopes = Object.entries(usual).map(([scope, value], index) => [
    scope,
    given[index] === undefined ? Math.min(value, member) : Number(given[index]),
  ]);
  return { ...limits, [name]: Object.fromEntries(scopes) };
}

function parseJoinName(text: string): string {
  if (!JOIN_NAME.test(text)) {
    throw new InvalidArgumentError('It must be a DNS name, which may begin with "*.".');
  }
  return text;
}

function parseListen(text: string): Listen {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > PORT_MAX) {
    throw new InvalidArgumentError("It must be host:port, with a port of 0 to 65535; an IPv6 address is in brackets.");
  }
  return { host: match[1] ?? match[2] ?? "", port };
}
