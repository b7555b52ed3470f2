/**
 * The flags of a member, by group. Help and manual show them in this order (`npm run docs:flags` writes the manual's
 * page). Secrets come in files, never in arguments.
 */

import { DEFAULT_RATE_LIMITS } from "../access/index.ts";
import { DEFAULT_CLIENT_LIMITS } from "../api/connections/index.ts";
import {
  type FlagTable,
  type FlagValues,
  flag,
  parseBoolean,
  parseChoice,
  parseCount,
  parseMilliseconds,
  parseTime,
  repeated,
  toggle,
} from "../command-line/index.ts";
import { REVISION_JUMP_DEFAULT } from "../state/index.ts";
import { LOG_LEVELS } from "../telemetry/index.ts";
import {
  collectClientLimit,
  collectRateLimit,
  collectSeed,
  LINGER_MS_MAX,
  limitsText,
  parseAddress,
  parseClusterId,
  parseEmail,
  parseInterval,
  parseIpAddress,
  parseJoinName,
  parseLinger,
  parseListen,
  parseMebibytes,
  parseName,
  parseNetworks,
  parseOrigins,
  parseRatio,
  parseRetention,
  parseRevisionJump,
  parseSnapshot,
  parseStore,
  parseUrl,
} from "./flag-values.ts";

/** The description of an argument or a flag that names a backup. */
export const LOCATION_HELP = "directory, s3://bucket/prefix, or a file with one snapshot";
export const PEER_DEFAULT = "127.0.0.1:7402";
/** A member answers many thousand requests per second; one in a hundred shows what there is to see. */
export const TRACE_RATIO_DEFAULT = 0.01;
/** Bounds and default of the cache of the state's store. */
const STATE_CACHE_MIB = { min: 1, max: 65_536, default: "64" };
/** The compaction keeps fewer entries in any case for every member, see its `keptBytes`. */
const LOG_CATCH_UP_MIB = { min: 64, max: 65_536, default: "1024" };

export const MEMBER_FLAGS = {
  member: {
    name: flag("--name <name>", "name of the member, unique in its cluster", parseName).mustBeGiven(),
    clusterName: flag("--cluster-name <name>", "name of the cluster", parseName).byDefault("quoin"),
    dataDirectory: flag("--data-dir <directory>", "data directory, used only by this member").mustBeGiven(),
    acceptMissingFence: toggle(
      "--accept-missing-fence",
      "start the only member of a cluster although its hard-state mirror (the file fence) is lost",
    ),
    hasDiskReserve: toggle("--no-disk-reserve", "reserve no disk space for the time when the disk is full"),
    stateCacheBytes: flag(
      "--state-cache-mib <MiB>",
      `cache of the state's store, in MiB, ${STATE_CACHE_MIB.min} to ${STATE_CACHE_MIB.max}`,
      parseMebibytes(STATE_CACHE_MIB),
    )
      .byDefault(STATE_CACHE_MIB.default)
      .withVariable(),
    logCatchUpBytes: flag(
      "--log-catch-up-mib <MiB>",
      `maximum log kept for a member that is behind, in MiB, ${LOG_CATCH_UP_MIB.min} to ${LOG_CATCH_UP_MIB.max}`,
      parseMebibytes(LOG_CATCH_UP_MIB),
    )
      .byDefault(LOG_CATCH_UP_MIB.default)
      .withVariable(),
    lingerMs: flag(
      "--linger-ms <ms>",
      `keep serving this long after a stop request and the transfer of the leadership, at most ${LINGER_MS_MAX}`,
      parseLinger,
    ).byDefault("0"),
    untilStdinEnds: toggle(
      "--until-stdin-ends",
      "stop when standard input ends, so that the process ends together with its parent",
    ),
    logLevel: flag(
      "--log-level <level>",
      `least severe lines to log: ${LOG_LEVELS.join(", ")}`,
      parseChoice(LOG_LEVELS),
    ).byDefault("info"),
    // Far longer than requests take in a healthy cluster, and below the shortest common deadline.
    slowRequestMs: flag(
      "--slow-request-ms <ms>",
      "log requests that take at least this many milliseconds; 0 = none",
      parseMilliseconds,
    ).byDefault("1000"),
  },
  ports: {
    grpc: flag("--grpc <host:port>", "listen for gRPC clients", parseListen).byDefault("127.0.0.1:7400"),
    http: flag("--http <host:port>", "listen for HTTP clients", parseListen).byDefault("127.0.0.1:7401"),
    // Without this port, the member ends instead of reporting data that it cannot serve.
    admin: flag("--admin <host:port>", "listen for cluster administration", parseListen),
    adminTokenFile: flag(
      "--admin-token-file <file>",
      "file with the admin tokens, one per line; required with --admin",
    ),
    health: flag("--health <host:port>", "listen for health checks and metrics, plain HTTP", parseListen),
    advertiseGrpc: flag("--advertise-grpc <host:port>", "address that clients dial", parseAddress),
    advertiseHttp: flag("--advertise-http <host:port>", "address that HTTP clients dial", parseAddress),
    advertisePeer: flag("--advertise-peer <host:port>", "address that other members dial", parseAddress),
    corsOrigins: flag(
      "--cors-origins <origins>",
      "comma-separated origins whose pages may call the HTTP port",
      parseOrigins,
    )
      .byDefault("")
      .withVariable(),
  },
  peers: {
    peer: flag("--peer <host:port>", "listen for other members", parseListen).shownDefault(PEER_DEFAULT),
    seeds: repeated(
      "--seed <host:port>",
      "peer address of a member that may know the cluster; repeatable",
      collectSeed,
      [],
    ),
    joinTokenFile: flag(
      "--join-token-file <file>",
      "file with the join tokens, one per line; without it the member stays alone",
    ),
    certificate: flag("--peer-cert <file>", "certificate for other members, PEM; without it, plain TCP"),
    key: flag("--peer-key <file>", "key of --peer-cert, PEM"),
    authorities: flag("--peer-ca <file>", "authorities of the members' certificates, PEM"),
    joinName: flag(
      "--peer-join-name <pattern>",
      "name that certificates of members with unknown addresses must have",
      parseJoinName,
    ),
    dialHint: flag(
      "--dial-hint <ip>",
      "IP address of this member, for members that do not know its name yet",
      parseIpAddress,
    ),
  },
  place: {
    foundingRecord: flag(
      "--founding-record <directory>",
      "directory that records which cluster this is and which member may found it",
    ),
    labelPodIn: flag(
      "--label-pod-in <namespace>",
      "Kubernetes: label the pod of this name with the member's role",
      parseName,
    ),
  },
  tls: {
    certificate: flag("--tls-cert <file>", "certificate for clients of gRPC, HTTP and administration, PEM"),
    key: flag("--tls-key <file>", "key of --tls-cert, PEM; without both, these ports use plain text"),
    clientAuthorities: flag(
      "--tls-client-ca <file>",
      "authorities of clients, PEM; clients then need a certificate from one of them",
    ),
  },
  limits: {
    // Settings of the cluster override them.
    limits: repeated(
      "--rate-limit <name=requests[/seconds[/burst]]>",
      "rate limit of requests, 0 = unlimited; repeatable",
      collectRateLimit,
      DEFAULT_RATE_LIMITS,
    ).shownDefault(limitsText(DEFAULT_RATE_LIMITS)),
    clientLimits: repeated(
      "--client-limit <name=member[/address[/user]]>",
      "limit on what clients of a port have open, in total, per address and per user; repeatable",
      collectClientLimit,
      DEFAULT_CLIENT_LIMITS,
    ).shownDefault(limitsText(DEFAULT_CLIENT_LIMITS)),
  },
  proxies: {
    trusted: flag(
      "--trusted-proxies <networks>",
      "comma-separated addresses and networks of proxies whose X-Forwarded-For the HTTP port trusts",
      parseNetworks,
    )
      .byDefault("")
      .withVariable(),
    speakProxyProtocol: flag(
      "--proxy-protocol <on|off>",
      "whether trusted proxies begin HTTP connections with a PROXY header",
      parseBoolean,
    )
      .byDefault("off")
      .withVariable(),
  },
  mail: {
    urlFile: flag(
      "--smtp-url-file <file>",
      "file with the URL of the mail server, as smtps://user:password@host",
    ).withVariable(),
    from: flag(
      "--mail-from <address>",
      "address that mail comes from; required with --smtp-url-file",
      parseEmail,
    ).withVariable(),
    toLog: toggle("--mail-to-log", "for development: write mails, which contain secrets, into the log"),
  },
  backup: {
    store: flag(
      "--backup-store <location>",
      "directory, or s3://bucket/prefix, for backups; the directory must exist",
      parseStore,
    ).withVariable(),
    keyFile: flag(
      "--backup-key-file <file>",
      "keys of 32 bytes that encrypt backups; the first one encrypts new backups; without it they are not encrypted",
    ).withVariable(),
    credentialsFile: flag(
      "--backup-credentials-file <file>",
      "credentials for s3://, in the AWS format",
    ).withVariable(),
    archive: toggle(
      "--backup-archive [boolean]",
      "archive every write continuously; one member of the cluster archives at a time",
    ).withVariable(),
    interval: flag(
      "--backup-interval <duration>",
      "time between two snapshots of the archive, such as 24h or 30m",
      parseInterval,
    )
      .byDefault("24h")
      .withVariable(),
    retention: flag(
      "--backup-retention <rules>",
      "retention of the archive: 7d = all that restores any time in the last 7 days, 3 = 3 snapshots, 7d,3 = both",
      parseRetention,
    ).withVariable(),
  },
  restore: {
    location: flag(
      "--restore-from <location>",
      `found the cluster from this backup: ${LOCATION_HELP}; ignored by a member with data`,
      parseStore,
    ).withVariable(),
    clusterId: flag(
      "--restore-cluster-id <uuid>",
      "cluster of the backup, if the store contains backups of several clusters",
      parseClusterId,
    ).withVariable(),
    snapshotId: flag(
      "--restore-snapshot <id>",
      "snapshot to start from; by default the newest that reaches the point",
      parseSnapshot,
    ).withVariable(),
    keyFile: flag(
      "--restore-key-file <file>",
      "keys that encrypt the backup; by default those of --backup-key-file",
    ).withVariable(),
    allowsUnencrypted: toggle(
      "--restore-allow-unencrypted [boolean]",
      "with keys, read also what is not encrypted, which is refused otherwise",
    ).withVariable(),
    credentialsFile: flag(
      "--restore-credentials-file <file>",
      "credentials for s3://, in the AWS format; by default those of --backup-credentials-file",
    ).withVariable(),
    toRevision: flag(
      "--restore-to-revision <revision>",
      "up to this revision of the cluster",
      parseCount,
    ).withVariable(),
    toTime: flag(
      "--restore-to-time <time>",
      "up to this RFC 3339 time, such as 2026-01-31T12:00:00Z",
      parseTime,
    ).withVariable(),
    revisionJump: flag(
      "--restore-revision-jump <count>",
      "increase of revisions and fencing tokens; must exceed those made after the point",
      parseRevisionJump,
    )
      .shownDefault(`${REVISION_JUMP_DEFAULT}`)
      .withVariable(),
    keepsSigningKeys: toggle(
      "--restore-keep-signing-keys [boolean]",
      "keep the keys that sign tokens, so that existing logins stay valid",
    ).withVariable(),
  },
  traces: {
    endpoint: flag(
      "--trace-endpoint <url>",
      "OTLP/HTTP endpoint that takes traces, such as http://collector:4318; without it, OTEL_EXPORTER_OTLP_ENDPOINT",
      parseUrl,
    ),
    ratio: flag(
      "--trace-ratio <ratio>",
      "share of the requests without a trace of their caller to trace, 0 to 1",
      parseRatio,
    ).shownDefault(`${TRACE_RATIO_DEFAULT}`),
    slowMs: flag(
      "--trace-slow-ms <ms>",
      "trace every request that takes at least this many milliseconds; 0 = none",
      parseMilliseconds,
    )
      .byDefault("1000")
      .withVariable(),
  },
} as const satisfies Readonly<Record<string, FlagTable>>;

/** The groups in help and manual. */
export const GROUP_TITLES: Readonly<Record<keyof typeof MEMBER_FLAGS, string>> = {
  member: "The member",
  ports: "Ports and addresses",
  peers: "Other members",
  place: "Under an operator",
  tls: "TLS towards clients",
  limits: "Limits of clients",
  proxies: "Proxies",
  mail: "Mail",
  backup: "Backups",
  restore: "Founding from a backup",
  traces: "Traces",
};

/** The values of the flags of a group, before checks of flags that depend on each other. */
export type MemberValues<Group extends keyof typeof MEMBER_FLAGS> = FlagValues<(typeof MEMBER_FLAGS)[Group]>;
