/**
 * The configuration of one member at its start: flags, checked before anything else happens.
 *
 * Secrets come in files, never in arguments.
 */

import { Command } from "commander";
import type { BackupConfiguration } from "../archive/index.ts";
import { addFlags, parseArguments, requireNone, requireUsage, valuesOf } from "../command-line/index.ts";
import { EVERY_ADDRESS, type ServerTlsFilePaths } from "../peers/index.ts";
import { backupConfigurationOf } from "./backup-flags.ts";
import { type Listen, parseListen } from "./flag-values.ts";
import { GROUP_TITLES, MEMBER_FLAGS, type MemberValues, PEER_DEFAULT } from "./member-flags.ts";
import { type RestoreConfiguration, restoreConfigurationOf } from "./restore-flags.ts";
import { type TracingChoice, tracingConfigurationOf } from "./trace-flags.ts";

/** The flags that concern one thing alone, and what follows from several flags. */
export interface Configuration
  extends MemberValues<"member">,
    MemberValues<"ports">,
    MemberValues<"place">,
    MemberValues<"limits">,
    TracingChoice {
  /** Where this member listens for other members, if it has any. */
  readonly peer: Listen;
  /** How this member connects to others; null for a member that stays alone. */
  readonly peering: PeeringConfiguration | null;
  /** Certificate for clients on the ports for gRPC, HTTP and administration; null = plain text. */
  readonly tls: ServerTlsFilePaths | null;
  /** Proxies whose information about the addresses of HTTP clients the member trusts. */
  readonly proxies: MemberValues<"proxies">;
  /** The store for backups; null = none. */
  readonly backup: BackupConfiguration | null;
  /** The backup from which this member founds its cluster, if it does; null = an empty cluster. */
  readonly restore: RestoreConfiguration | null;
  /** How the member sends mail; null = not at all. */
  readonly mail: MailConfiguration | null;
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

/** The hosts that mean all addresses of this machine. */
const ANY_ADDRESS = new Set([EVERY_ADDRESS, "0.0.0.0", "::"]);
const HELP = `
As a host to listen on, * means every IPv6 and IPv4 address.

To replace a lost owner while the member is stopped: quoin-node reset-owner --help
To recover a lost quorum from the data of one stopped member: quoin-node recover --help
To export the state of a stopped member as a snapshot: quoin-node export --help
To restore a cluster from a backup into an empty data directory: quoin-node restore --help
To prove that a backup can be restored: quoin-node backup verify --help`;

/** Parses the arguments. Returns null for --help and --version. Raises UsageError. */
export function parseConfiguration(args: readonly string[], version: string): Configuration | null {
  const program = new Command("quoin-node")
    .description("One member of a Quoin cluster")
    .version(version)
    .addHelpText("after", HELP);
  for (const [group, table] of Object.entries(MEMBER_FLAGS)) {
    addFlags(program, table, GROUP_TITLES[group as keyof typeof MEMBER_FLAGS]);
  }
  return parseArguments(program, args) ? configurationOf(program) : null;
}

function configurationOf(program: Command): Configuration {
  const ports = valuesOf(program, MEMBER_FLAGS.ports);
  const peers = valuesOf(program, MEMBER_FLAGS.peers);
  const backup = valuesOf(program, MEMBER_FLAGS.backup);
  requireUsage(ports.admin === null || ports.adminTokenFile !== null, "--admin needs --admin-token-file");
  return {
    ...valuesOf(program, MEMBER_FLAGS.member),
    ...ports,
    ...valuesOf(program, MEMBER_FLAGS.place),
    ...valuesOf(program, MEMBER_FLAGS.limits),
    peer: peers.peer ?? parseListen(PEER_DEFAULT),
    peering: peeringOf(peers, ports.advertisePeer),
    tls: clientTlsOf(valuesOf(program, MEMBER_FLAGS.tls)),
    proxies: checkedProxies(valuesOf(program, MEMBER_FLAGS.proxies)),
    backup: backupConfigurationOf(backup),
    restore: restoreConfigurationOf(valuesOf(program, MEMBER_FLAGS.restore), backup),
    mail: mailOf(valuesOf(program, MEMBER_FLAGS.mail)),
    ...tracingConfigurationOf(valuesOf(program, MEMBER_FLAGS.traces), process.env),
  };
}

function checkedProxies(proxies: MemberValues<"proxies">): MemberValues<"proxies"> {
  requireUsage(
    !proxies.speakProxyProtocol || proxies.trusted.length > 0,
    "--proxy-protocol on needs --trusted-proxies: the member trusts no other PROXY header",
  );
  return proxies;
}

function mailOf({ urlFile, from, toLog }: MemberValues<"mail">): MailConfiguration | null {
  if (urlFile === null && from === null) {
    return toLog ? { kind: "log" } : null;
  }
  requireUsage(!toLog, "--mail-to-log excludes --smtp-url-file and --mail-from: use only one of them");
  requireUsage(urlFile !== null && from !== null, "--smtp-url-file and --mail-from need each other: give both or none");
  return { kind: "smtp", urlFile, from };
}

/** Without join tokens the member could not distinguish members from strangers, so it does not open the port. */
function peeringOf(peers: MemberValues<"peers">, advertisePeer: string | null): PeeringConfiguration | null {
  const { peer, seeds, joinTokenFile, dialHint } = peers;
  if (joinTokenFile === null) {
    requireNone(MEMBER_FLAGS.peers, peers, "--join-token-file");
    return null;
  }
  requireUsage(
    peer === null || !ANY_ADDRESS.has(peer.host) || advertisePeer !== null,
    `--peer ${peer && formatListen(peer)} needs --advertise-peer: other members cannot dial a wildcard address`,
  );
  return { seeds, joinTokenFile, dialHint, tls: peerTlsOf(peers) };
}

/** An incomplete TLS setting would silently use plain text, so this refuses it. */
function clientTlsOf({ certificate, key, clientAuthorities }: MemberValues<"tls">): ServerTlsFilePaths | null {
  if (certificate === null && key === null) {
    requireUsage(clientAuthorities === null, "--tls-client-ca needs --tls-cert and --tls-key");
    return null;
  }
  requireUsage(key !== null, "--tls-cert needs --tls-key");
  requireUsage(certificate !== null, "--tls-key needs --tls-cert");
  return { certificate, key, clientAuthorities };
}

function peerTlsOf({ certificate, key, authorities, joinName }: MemberValues<"peers">): PeerTlsConfiguration | null {
  if (certificate === null && key === null && authorities === null) {
    requireUsage(joinName === null, "--peer-join-name needs --peer-cert, --peer-key and --peer-ca");
    return null;
  }
  requireUsage(
    certificate !== null && key !== null && authorities !== null,
    "--peer-cert, --peer-key and --peer-ca belong together, with --peer-join-name: give all of them or none",
  );
  requireUsage(joinName !== null, "--peer-cert needs --peer-join-name, for members whose address is not known yet");
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
