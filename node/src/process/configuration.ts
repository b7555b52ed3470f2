/**
 * The configuration of one member at its start: flags, checked before anything else happens.
 *
 * Secrets come in files, never in arguments.
 */

import { isIP } from "node:net";
import { Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_RATE_LIMITS, type RateLimit, type RateLimits, requireEmail } from "../access/index.ts";
import { type ClientLimits, DEFAULT_CLIENT_LIMITS } from "../api/connections/index.ts";
import { problemOfOrigin, TrustedProxies } from "../api/http/index.ts";
import type { BackupConfiguration } from "../archive/index.ts";
import { parseArguments, parseBoolean, UsageError } from "../command-line/index.ts";
import { EVERY_ADDRESS, type ServerTlsFilePaths } from "../peers/index.ts";
import { LOG_LEVELS, type LogLevel } from "../telemetry/index.ts";
import type { TracingConfiguration } from "../tracing/index.ts";
import { addBackupOptions, type BackupFlags, backupConfigurationOf } from "./backup-flags.ts";
import {
  addRestoreOptions,
  type RestoreConfiguration,
  type RestoreFlags,
  restoreConfigurationOf,
} from "./restore-flags.ts";
import { addTraceOptions, type TraceFlags, tracingConfigurationOf } from "./trace-flags.ts";

/**
 * Where to listen: an address of this machine, or `*` for all IPv6 and IPv4 addresses, and a port, 0 = any free one.
 */
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
  /** Null = no admin port; then the member ends instead of reporting data that it cannot serve. */
  readonly admin: Listen | null;
  readonly health: Listen | null;
  readonly adminTokenFile: string | null;
  /** Where this member listens for other members, if it has any. */
  readonly peer: Listen;
  /** How this member connects to others; null for a member that stays alone. */
  readonly peering: PeeringConfiguration | null;
  /** Certificate for clients on the ports for gRPC, HTTP and administration; null = plain text. */
  readonly tls: ServerTlsFilePaths | null;
  /** Addresses that clients dial, as host:port; null = the address that this member listens on. */
  readonly advertiseGrpc: string | null;
  readonly advertiseHttp: string | null;
  readonly advertisePeer: string | null;
  readonly acceptMissingFence: boolean;
  /** Directory that records the cluster id and the member that may found the cluster; null = none. */
  readonly foundingRecord: string | null;
  /** Namespace of the pod with this member's name, which the member labels with its role; null = no label. */
  readonly labelPodIn: string | null;
  /** Whether the member reserves disk space for the time when the disk is full. */
  readonly hasDiskReserve: boolean;
  /** Size of the cache of the state's store, in bytes. */
  readonly stateCacheBytes: number;
  /** Maximum bytes of the Raft log that a leader keeps for a member that is behind. */
  readonly logCatchUpBytes: number;
  /** Used unless the settings of the cluster override them. */
  readonly limits: RateLimits;
  /** Proxies whose information about the addresses of HTTP clients the member trusts. */
  readonly proxies: ProxyConfiguration;
  /** Origins whose pages may call the HTTP port. */
  readonly corsOrigins: readonly string[];
  /** Limits on what the clients of a port may have open at the same time. */
  readonly clientLimits: ClientLimits;
  /** The store for backups; null = none. */
  readonly backup: BackupConfiguration | null;
  /** The backup from which this member founds its cluster, if it does; null = an empty cluster. */
  readonly restore: RestoreConfiguration | null;
  /** How the member sends mail; null = not at all. */
  readonly mail: MailConfiguration | null;
  /** How long the member keeps serving after a stop request and the transfer of the leadership, in milliseconds. */
  readonly lingerMs: number;
  /** Stop when standard input ends, so that the process ends together with its parent. */
  readonly untilStdinEnds: boolean;
  readonly logLevel: LogLevel;
  /** The member logs requests that take at least this many milliseconds; 0 = none. */
  readonly slowRequestMs: number;
  /** Which traces the member keeps, and where it exports them; null = none. */
  readonly tracing: TracingConfiguration | null;
  /** Why the member keeps no traces although its environment names a collector; null = it does not, or all is well. */
  readonly tracingProblem: string | null;
}

export interface ProxyConfiguration {
  /** IP addresses and networks. */
  readonly trusted: readonly string[];
  /** Whether each of their connections begins with a header of the PROXY protocol. */
  readonly speakProxyProtocol: boolean;
}

export type MailConfiguration =
  /** Through a mail server, from this address. The file contains the server's URL with user name and password. */
  | { readonly kind: "smtp"; readonly urlFile: string; readonly from: string }
  /** Into the log: only for development. */
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
  /** A name that certificates must have for members whose address is not known yet; may begin with "*.". */
  readonly joinName: string;
}

/** Flags as given, before checks of flags that depend on each other. */
interface Flags extends BackupFlags, RestoreFlags, TraceFlags {
  readonly name: string;
  readonly clusterName: string;
  readonly dataDir: string;
  readonly grpc: Listen;
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
  readonly proxyProtocol: boolean;
  readonly corsOrigins: readonly string[];
  readonly clientLimit: ClientLimits;
  readonly smtpUrlFile?: string;
  readonly mailFrom?: string;
  readonly mailToLog: boolean;
  readonly lingerMs: number;
  readonly untilStdinEnds: boolean;
  readonly logLevel: LogLevel;
  readonly slowRequestMs: number;
}

/** The hosts that mean all addresses of this machine. */
const ANY_ADDRESS = new Set([EVERY_ADDRESS, "0.0.0.0", "::"]);
const PEER_DEFAULT = "127.0.0.1:7402";
/** Names of certificates, not addresses: the name identifies a member. */
const JOIN_NAME = /^(\*\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i;
const NAME = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;
const PORT_MAX = 65_535;
/** The limits by their names in flags. */
const RATE_LIMIT_NAMES: ReadonlyMap<string, keyof RateLimits> = new Map([
  ["http", "http"],
  ["grpc", "grpc"],
  ["open-requests", "openRequests"],
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
/** Far longer than requests take in a healthy cluster, and below the shortest common deadline. */
const SLOW_REQUEST_MS = 1_000;
/** Bounds and default of the cache of the state's store. */
const STATE_CACHE_MIB = { min: 1, max: 65_536, default: 64 };
/** The compaction keeps fewer entries in any case for every member, see its `keptBytes`. */
const LOG_CATCH_UP_MIB = { min: 64, max: 65_536, default: 1_024 };
const MEBIBYTE = 1024 * 1024;
/** A longer time would not fit into the grace period of a Kubernetes pod. */
const LINGER_MS_MAX = 10_000;

/** Parses the arguments. Returns null for --help and --version. Raises UsageError. */
export function parseConfiguration(args: readonly string[], version: string): Configuration | null {
  const program = new Command("quoin-node")
    .description("One member of a Quoin cluster")
    .version(version)
    .requiredOption("--name <name>", "name of the member, unique in its cluster", parseName)
    .option("--cluster-name <name>", "name of the cluster", parseName, "quoin")
    .requiredOption("--data-dir <directory>", "data directory, used only by this member")
    .option("--grpc <host:port>", "listen for gRPC clients", parseListen, parseListen("127.0.0.1:7400"))
    .option("--http <host:port>", "listen for HTTP clients", parseListen, parseListen("127.0.0.1:7401"))
    .option("--admin <host:port>", "listen for cluster administration", parseListen)
    .option("--health <host:port>", "listen for health checks and metrics, plain HTTP", parseListen)
    .option("--tls-cert <file>", "certificate for clients of gRPC, HTTP and administration, PEM")
    .option("--tls-key <file>", "key of --tls-cert, PEM; without both, these ports use plain text")
    .option("--tls-client-ca <file>", "authorities of clients, PEM; clients then need a certificate from one of them")
    .option("--admin-token-file <file>", "file with the admin tokens, one per line; required with --admin")
    .option("--peer <host:port>", `listen for other members (default: ${PEER_DEFAULT})`, parseListen)
    .option("--seed <host:port>", "peer address of a member that may know the cluster; repeatable", collectSeed, [])
    .option("--join-token-file <file>", "file with the join tokens, one per line; without it the member stays alone")
    .option("--peer-cert <file>", "certificate for other members, PEM; without it, plain TCP")
    .option("--peer-key <file>", "key of --peer-cert, PEM")
    .option("--peer-ca <file>", "authorities of the members' certificates, PEM")
    .option(
      "--peer-join-name <pattern>",
      "name that certificates of members with unknown addresses must have",
      parseJoinName,
    )
    .option("--advertise-grpc <host:port>", "address that clients dial", parseAddress)
    .option("--advertise-http <host:port>", "address that HTTP clients dial", parseAddress)
    .option("--advertise-peer <host:port>", "address that other members dial", parseAddress)
    .option("--dial-hint <ip>", "IP address of this member, for members that do not know its name yet", parseIpAddress)
    .option(
      "--founding-record <directory>",
      "directory that records which cluster this is and which member may found it",
    )
    .option("--label-pod-in <namespace>", "Kubernetes: label the pod of this name with the member's role", parseName)
    .option(
      "--accept-missing-fence",
      "start the only member of a cluster although its hard-state mirror (the file fence) is lost",
      false,
    )
    .option("--no-disk-reserve", "reserve no disk space for the time when the disk is full")
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
        `maximum log kept for a member that is behind, in MiB, ${LOG_CATCH_UP_MIB.min} to ${LOG_CATCH_UP_MIB.max}`,
      )
        .env("QUOIN_LOG_CATCH_UP_MIB")
        .argParser((text) => parseMib(text, LOG_CATCH_UP_MIB))
        .default(LOG_CATCH_UP_MIB.default),
    )
    .option(
      "--rate-limit <name=requests[/seconds[/burst]]>",
      "rate limit of requests, 0 = unlimited; repeatable",
      collectRateLimit,
      DEFAULT_RATE_LIMITS,
    )
    .option(
      "--client-limit <name=member[/address[/user]]>",
      "limit on what clients of a port have open, in total, per address and per user; repeatable",
      collectClientLimit,
      DEFAULT_CLIENT_LIMITS,
    )
    // Also from the environment: on Kubernetes the operator sets the flags.
    .addOption(
      new Option(
        "--trusted-proxies <networks>",
        "comma-separated addresses and networks of proxies whose X-Forwarded-For the HTTP port trusts",
      )
        .env("QUOIN_TRUSTED_PROXIES")
        .argParser(parseNetworks)
        .default([]),
    )
    .addOption(
      new Option("--proxy-protocol <on|off>", "whether trusted proxies begin HTTP connections with a PROXY header")
        .env("QUOIN_PROXY_PROTOCOL")
        .argParser(parseBoolean)
        .default(false, "off"),
    )
    .addOption(
      new Option("--cors-origins <origins>", "comma-separated origins whose pages may call the HTTP port")
        .env("QUOIN_CORS_ORIGINS")
        .argParser(parseOrigins)
        .default([]),
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
    .option("--mail-to-log", "for development: write mails, which contain secrets, into the log", false)
    .option(
      "--linger-ms <ms>",
      `keep serving this long after a stop request and the transfer of the leadership, at most ${LINGER_MS_MAX}`,
      parseLinger,
      0,
    )
    .option("--until-stdin-ends", "stop when standard input ends", false)
    .addOption(new Option("--log-level <level>", "least severe lines to log").choices(LOG_LEVELS).default("info"))
    .option(
      "--slow-request-ms <ms>",
      "log requests that take at least this many milliseconds; 0 = none",
      parseMilliseconds,
      SLOW_REQUEST_MS,
    )
    .addHelpText("after", "\nAs a host to listen on, * means every IPv6 and IPv4 address.")
    .addHelpText("after", "\nTo replace a lost owner while the member is stopped: quoin-node reset-owner --help")
    .addHelpText("after", "To recover a lost quorum from the data of one stopped member: quoin-node recover --help")
    .addHelpText("after", "To export the state of a stopped member as a snapshot: quoin-node export --help")
    .addHelpText("after", "To restore a cluster from a backup into an empty data directory: quoin-node restore --help")
    .addHelpText("after", "To prove that a backup can be restored: quoin-node backup verify --help");
  addBackupOptions(program);
  addRestoreOptions(program);
  addTraceOptions(program);
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
    corsOrigins: flags.corsOrigins,
    clientLimits: flags.clientLimit,
    backup: backupConfigurationOf(flags),
    restore: restoreConfigurationOf(flags),
    mail: mailOf(flags),
    lingerMs: flags.lingerMs,
    untilStdinEnds: flags.untilStdinEnds,
    logLevel: flags.logLevel,
    slowRequestMs: flags.slowRequestMs,
    ...tracingConfigurationOf(flags, process.env),
  };
}

function proxiesOf({ trustedProxies: trusted, proxyProtocol }: Flags): ProxyConfiguration {
  if (proxyProtocol && trusted.length === 0) {
    throw new UsageError("--proxy-protocol on needs --trusted-proxies: the member trusts no other PROXY header");
  }
  return { trusted, speakProxyProtocol: proxyProtocol };
}

function mailOf({ smtpUrlFile: urlFile, mailFrom: from, mailToLog }: Flags): MailConfiguration | null {
  if (mailToLog) {
    if (urlFile !== undefined || from !== undefined) {
      throw new UsageError("--mail-to-log excludes --smtp-url-file and --mail-from: use only one of them");
    }
    return { kind: "log" };
  }
  if (urlFile === undefined && from === undefined) {
    return null;
  }
  if (urlFile === undefined || from === undefined) {
    throw new UsageError("--smtp-url-file and --mail-from need each other: give both or none");
  }
  return { kind: "smtp", urlFile, from };
}

/** Without join tokens the member could not distinguish members from strangers, so it does not open the port. */
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
    throw new UsageError(
      `--peer ${formatListen(flags.peer)} needs --advertise-peer: other members cannot dial a wildcard address`,
    );
  }
  return { seeds: flags.seed, joinTokenFile, dialHint: flags.dialHint ?? null, tls: peerTlsOf(flags) };
}

/** An incomplete TLS setting would silently use plain text, so this refuses it. */
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

/** host:port, for people and for dialing; with IPv6 addresses in brackets. */
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
    throw new InvalidArgumentError("Other members and clients cannot dial port 0.");
  }
  if (host === EVERY_ADDRESS) {
    throw new InvalidArgumentError("Other members and clients cannot dial *: use one address, or a name.");
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

function parseOrigins(text: string): readonly string[] {
  const origins = text.trim() === "" ? [] : text.split(",").map((origin) => origin.trim());
  const problem = origins.map(problemOfOrigin).find((each) => each !== null);
  if (problem !== undefined) {
    throw new InvalidArgumentError(`${problem}.`);
  }
  return origins;
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

/** Omitted seconds are those of the default; an omitted burst is the default's share of the requests. */
function collectRateLimit(text: string, limits: RateLimits): RateLimits {
  const match = /^([a-z-]+)=([0-9]{1,9})(?:\/([0-9]{1,5}))?(?:\/([0-9]{1,9}))?$/.exec(text);
  const name = RATE_LIMIT_NAMES.get(match?.[1] ?? "");
  const [requests, seconds, burst] = [match?.[2], match?.[3], match?.[4]];
  if (name === undefined || Number(seconds ?? 1) === 0 || Number(burst ?? 1) === 0) {
    throw new InvalidArgumentError(
      `It must be NAME=REQUESTS[/SECONDS[/BURST]], with a NAME of ${[...RATE_LIMIT_NAMES.keys()].join(", ")}.`,
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

/** An omitted scope is that of the default, but at most the limit of the wider scope. */
function collectClientLimit(text: string, limits: ClientLimits): ClientLimits {
  const match = /^([a-z-]+)=([0-9]{1,12})(?:\/([0-9]{1,12}))?(?:\/([0-9]{1,12}))?$/.exec(text);
  const name = CLIENT_LIMIT_NAMES.get(match?.[1] ?? "");
  const given = (match ?? []).slice(2).filter((part) => part !== undefined);
  const usual: Readonly<Record<string, number>> = name === undefined ? {} : { ...limits[name] };
  if (name === undefined || given.some((part) => Number(part) === 0) || given.length > Object.keys(usual).length) {
    throw new InvalidArgumentError(
      `It must be NAME=MEMBER[/ADDRESS[/USER]], each at least 1, with a NAME of ${[...CLIENT_LIMIT_NAMES.keys()].join(", ")}.`,
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
