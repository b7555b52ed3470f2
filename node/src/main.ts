/**
 * Starts one member: reads the configuration, connects the parts, and ends them in order. With `reset-owner`, `recover`
 * or `export` as the first argument, it starts no member but works on the data of a stopped one. `backup` and `restore`
 * read backups.
 */

import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { CONSOLE_DIRECTORY } from "@quoin/console";
import {
  Access,
  AccountMail,
  type LeadingMember,
  QueuedHashing,
  type ReadArea,
  ReplicatedRateLimits,
  type ReportDone,
  rateLimiters,
  SigningKeyRotation,
  UseReports,
} from "./access/index.ts";
import { CallObserver, type CallStatistics } from "./api/calls/index.ts";
import { type ConnectionReports, DEFAULT_CLIENT_LIMITS } from "./api/connections/index.ts";
import { AdminServer, PublicServer } from "./api/grpc/index.ts";
import {
  accountRoutes,
  ClientAddresses,
  ConsoleFiles,
  CrossOrigin,
  createHealthApplication,
  createHttpApplication,
  logRoutes,
  RequestObserver,
  TrustedProxies,
  watchRoutes,
} from "./api/http/index.ts";
import { accountMethods, EventLogMethods, Executor, MemberInspection } from "./api/methods/index.ts";
import { CounterSampler, memberMetrics, SAMPLE_INTERVAL_MS } from "./api/metrics/index.ts";
import { MemberBackups } from "./archive/index.ts";
import { UsageError } from "./command-line/index.ts";
import { memberPodLabel, type PodLabel, roleReportOf } from "./kubernetes/index.ts";
import {
  BACKUP,
  backupCommand,
  EXPORT,
  exportOffline,
  memberBackup,
  noteIgnoredBackup,
  RECOVER,
  RESET_OWNER,
  RESTORE,
  recoverOffline,
  resetOwnerOffline,
  restoreOffline,
} from "./offline/index.ts";
import { JoinTokenFile } from "./peers/index.ts";
import { InvariantViolation } from "./primitives/index.ts";
import {
  abortProcess,
  bound,
  ClientConnectionLimiters,
  type Configuration,
  DISK_STUCK_MESSAGE,
  ExitCode,
  exitCodeOf,
  formatListen,
  isLoopback,
  kindOf,
  listenHttp,
  memberHealth,
  memberMailer,
  openTls,
  parseConfiguration,
  SharedTimer,
  type Stoppable,
} from "./process/index.ts";
import {
  DEFAULT_REPLICA_LIMITS,
  Member,
  type MemberEnd,
  type MemberOptions,
  type MemberPeering,
  type ReplicaLimits,
  type Scheduler,
  systemClock,
  systemScheduler,
} from "./replica/index.ts";
import { CoordinationError, type Principal, type ReportedUse } from "./state/index.ts";
import { FoundingRecord, measureDisk } from "./storage/index.ts";
import { BEAT_INTERVAL_MS, createLogger, EventLoopDelay, type Logger, RequestLog } from "./telemetry/index.ts";
import { type Tracer, Tracing } from "./tracing/index.ts";
import { DEFAULT_EVENT_HUB_LIMITS, EventHub, NamespaceStreams } from "./watch/index.ts";

/** Commands that run without a member, by the first argument of the program. */
const OFFLINE_COMMANDS: ReadonlyMap<string, (args: readonly string[], version: string) => Promise<number>> = new Map([
  [RESET_OWNER, resetOwnerOffline],
  [RECOVER, recoverOffline],
  [EXPORT, exportOffline],
  [BACKUP, backupCommand],
  [RESTORE, restoreOffline],
]);

/** When the member must stop, running calls may take at most this long to finish, in milliseconds (S47). */
const DRAIN_MS = 10_000;
/** A leader that stops first transfers the leadership, which may take at most this long, in milliseconds. */
const HAND_OVER_MS = 5_000;
/** Interval at which the member checks for due reports of use, in milliseconds. */
const USE_INTERVAL_MS = 1_000;
/** Interval at which the leader checks the keys that sign tokens, in milliseconds. */
const SIGNING_KEYS_INTERVAL_MS = 60_000;
/** Minimum time between two log lines about refused connections of proxies, in milliseconds. */
const PROXY_LINE_MS = 10_000;
/** Deadline of the member's own proposals, in milliseconds. */
const OWN_PROPOSAL_MS = 10_000;

/** The parts that stop, in this order. */
interface Running {
  readonly publicServer: PublicServer;
  readonly mail: AccountMail;
  readonly eventHub: EventHub;
  readonly podLabel: PodLabel | null;
  readonly backups: MemberBackups;
  readonly tracing: Tracing | null;
  readonly others: readonly Stoppable[];
  readonly member: Member;
  readonly lingerMs: number;
}

async function start(configuration: Configuration, version: string, logger: Logger): Promise<Running> {
  // The configuration is safe to log: secrets come in files, and it contains only their names.
  logger.info({ version, node: process.version, pid: process.pid, configuration }, "starting");
  const mailer = memberMailer(configuration.mail, logger);
  const podLabel = memberPodLabel(configuration, process.env, logger);
  let isListening = false;
  const proxies = new TrustedProxies(configuration.proxies.trusted);
  const connectionLimiters = new ClientConnectionLimiters(configuration.clientLimits, proxies, logger, systemClock);
  const { monotonicMs } = systemClock;
  const tracing = tracingOf(configuration, version, logger);
  const tracer = tracing?.tracer ?? null;
  const eventLoopDelay = new EventLoopDelay(monotonicMs);
  // Each reader of the largest delay has its own.
  const sampledLoopDelay = new EventLoopDelay(monotonicMs);
  /** Updates the gRPC health service and the pod's label. */
  let lookAtHealth = (): void => undefined;
  // The ticks of the replica come with the pulse.
  const sharedTimer = new SharedTimer(BEAT_INTERVAL_MS, () => {
    eventLoopDelay.beat();
    sampledLoopDelay.beat();
    lookAtHealth();
  });
  let inspection: MemberInspection | null = null;
  const member = await openMember(configuration, version, logger, {
    connectionLimiters,
    scheduler: sharedTimer.scheduler,
    tracer,
    onMemberCall: (question) => inspection?.answer(question) ?? null,
  });
  tracer?.connect(member);
  const uses = new UseReports(systemClock, (told, done) => reportUse(member, told, done));
  const replicated = replicatedState(member);
  const access = new Access(replicated, systemClock, (principal) => uses.used(principal));
  const onRead = (principal: Principal, area: ReadArea): void => uses.read(principal, area);
  const health = memberHealth(member, { isListening: () => isListening, isStopping: () => stopping });
  const reportBug = (error: unknown, requestId?: string, traceId?: string): void => {
    if (error instanceof InvariantViolation) {
      die(logger, error);
    }
    logger.error({ err: error, requestId, trace_id: traceId }, "a request failed because of a bug");
  };
  const tls = await openTls(configuration.tls, logger);
  warnOfPlainText(configuration, logger);
  const limits = new ReplicatedRateLimits(configuration.limits, member, monotonicMs);
  const requestLog = new RequestLog(logger, configuration.slowRequestMs, monotonicMs);
  const calls = new CallObserver(requestLog, monotonicMs, tracer);
  const clients = clientAddresses(configuration, proxies, logger, connectionLimiters.http);
  const requests = new RequestObserver(requestLog, monotonicMs, clients, tracer);
  const { peer, grpc } = configuration;
  const listening = new Map<string, string>();
  const peerPort = await bound("--peer", peer, () => member.listenForPeers(peer.host, peer.port));
  if (peerPort !== null) {
    listening.set("peer", formatListen({ ...peer, port: peerPort }));
  }
  const namespaceStreams = new NamespaceStreams();
  const counters = new CounterSampler({
    member,
    calls,
    requests,
    process,
    clock: systemClock,
    eventLoopDelay: sampledLoopDelay,
    streams: () => publicServer.watches.statistics.streams + eventHub.size,
    connections: () => connectionLimiters.all.reduce((sum, { open }) => sum + open, 0),
  });
  inspection = new MemberInspection(member, counters);
  const timing = { clock: systemClock, scheduler: systemScheduler };
  const backups = new MemberBackups({ host: member, configuration: configuration.backup, ...timing, log: logger });
  const mail = new AccountMail({ mailer, clusterName: configuration.clusterName, log: logger });
  const eventHub = new EventHub({ member, ...timing, limits: DEFAULT_EVENT_HUB_LIMITS, namespaceStreams });
  inspection.addStreams(eventHub);
  const executor = new Executor(member, onRead);
  const logs = new EventLogMethods(member, executor, eventHub, systemClock);
  const limiters = rateLimiters(limits, systemClock);
  const accounts = accountMethods({
    member,
    replicated,
    access,
    executor,
    clock: systemClock,
    hashing: new QueuedHashing(systemClock, systemScheduler),
    limits,
    limiters,
    mail,
  });
  const publicServer = new PublicServer({
    member,
    inspection,
    backups,
    access,
    limiters,
    logs,
    accounts,
    logger,
    observer: calls,
    ...timing,
    connectionLimiter: connectionLimiters.grpc,
    clientLimits: configuration.clientLimits,
    onRead,
    namespaceStreams,
    httpClients: clients,
  });
  const intakes: CallStatistics[] = [...publicServer.callAdmissions];
  const metrics = memberMetrics(
    {
      process: { version, wallMs: systemClock.wallMs, eventLoopDelay },
      health,
      raft: member,
      storage: member,
      state: member,
      certificates: {
        wallMs: systemClock.wallMs,
        expiresMs: {
          members: () => member.certificate?.expiresMs ?? null,
          clients: () => tls?.set.certificate.validToDate.getTime() ?? null,
        },
      },
      backups,
      watch: publicServer.watches,
      grpc: calls,
      http: requests,
      http2: publicServer.http2,
      connections: connectionLimiters.all,
      intakes,
      traces: tracing,
    },
    monotonicMs,
  );
  const edge = { access, health, metrics, limiters, clock: systemClock, reportBug };
  const grpcPort = await bound("--grpc", grpc, () => publicServer.listen(formatListen(grpc), tls));
  listening.set("grpc", formatListen({ ...grpc, port: grpcPort }));
  const routes = [
    ...accountRoutes(accounts, limiters, replicated),
    ...logRoutes(logs, systemScheduler),
    ...watchRoutes(publicServer.watchMethods, systemScheduler),
  ];
  const clientApplication = requests.observed(
    createHttpApplication({
      ...edge,
      clients,
      routes,
      calls: publicServer.httpCalls,
      consoleFiles: new ConsoleFiles(CONSOLE_DIRECTORY),
      crossOrigin: new CrossOrigin(configuration.corsOrigins),
    }),
  );
  const http = await listenHttp(clientApplication, "--http", configuration.http, {
    tls,
    connectionLimiter: connectionLimiters.http,
    clients,
  });
  listening.set("http", http.address);
  const others: Stoppable[] = [http];
  if (configuration.health !== null) {
    const application = requests.observed(createHealthApplication(edge), false);
    const server = await listenHttp(application, "--health", configuration.health, {
      tls: null,
      connectionLimiter: connectionLimiters.health,
    });
    others.push(server);
    listening.set("health", server.address);
  }
  const address = {
    peerEndpoint: configuration.advertisePeer ?? listening.get("peer") ?? formatListen(peer),
    grpcEndpoint: configuration.advertiseGrpc ?? listening.get("grpc") ?? "",
    httpEndpoint: configuration.advertiseHttp ?? listening.get("http") ?? "",
  };
  // Before the admin port, which founds: by then this member must know the seeds (P47).
  member.setEndpoints(address);
  if (configuration.admin !== null && configuration.adminTokenFile !== null) {
    const { admin, adminTokenFile: tokenFile } = configuration;
    const server = new AdminServer({
      member,
      inspection,
      backups,
      tokenFile,
      address,
      clock: systemClock,
      logger,
      observer: calls,
      connectionLimiter: connectionLimiters.admin,
      clientLimits: DEFAULT_CLIENT_LIMITS,
    });
    intakes.push(server.callAdmission);
    const port = await bound("--admin", admin, () => server.listen(formatListen(admin), tls));
    others.push(server);
    listening.set("admin", formatListen({ ...admin, port }));
  }
  lookAtHealth = () => {
    publicServer.setServing(!stopping && health.ready().every(({ ok }) => ok));
    podLabel?.update(roleReportOf(member));
  };
  setInterval(() => uses.onSecond(), USE_INTERVAL_MS).unref();
  setInterval(() => counters.sample(), SAMPLE_INTERVAL_MS).unref();
  const signingKeys = new SigningKeyRotation(systemClock, () => leadingMember(member));
  setInterval(
    () => void signingKeys.rotateIfDue().catch((error: unknown) => reportBug(error)),
    SIGNING_KEYS_INTERVAL_MS,
  ).unref();
  isListening = true;
  logger.info(Object.fromEntries(listening), "listening");
  const { lingerMs } = configuration;
  return { member, publicServer, mail, eventHub, podLabel, backups, tracing, others, lingerMs };
}

/** The traces of this process; null if it keeps none. */
function tracingOf(configuration: Configuration, version: string, logger: Logger): Tracing | null {
  const { tracing, tracingProblem, name, clusterName } = configuration;
  if (tracingProblem !== null) {
    logger.warn({ problem: tracingProblem }, "no traces: the environment asks for what this member cannot do");
  }
  const clocks = { ...systemClock, originMs: performance.timeOrigin };
  return tracing === null
    ? null
    : new Tracing(tracing, { version, member: name, cluster: clusterName }, clocks, logger);
}

function replicaLimits({ logCatchUpBytes }: Configuration): ReplicaLimits {
  const compaction = { ...DEFAULT_REPLICA_LIMITS.compaction, neededBytes: logCatchUpBytes };
  return { ...DEFAULT_REPLICA_LIMITS, compaction };
}

/** The parts of the process that a member uses. */
interface MemberParts {
  readonly connectionLimiters: ClientConnectionLimiters;
  readonly scheduler: Scheduler;
  readonly tracer: Tracer | null;
  readonly onMemberCall: MemberOptions["onMemberCall"];
}

async function openMember(
  configuration: Configuration,
  version: string,
  logger: Logger,
  { connectionLimiters, scheduler, tracer, onMemberCall }: MemberParts,
): Promise<Member> {
  const { name, clusterName, dataDirectory: directory, admin, foundingRecord } = configuration;
  const member = await Member.open({
    directory,
    clusterName,
    name,
    version,
    acceptMissingFence: configuration.acceptMissingFence,
    clock: systemClock,
    scheduler,
    limits: replicaLimits(configuration),
    peering: peeringOf(configuration, logger),
    record: foundingRecord === null ? null : new FoundingRecord(foundingRecord),
    foundingBackup: memberBackup(configuration.restore, systemClock, logger),
    log: logger,
    tracer,
    onMemberCall,
    measureDisk,
    hasReserve: configuration.hasDiskReserve,
    stateCacheBytes: configuration.stateCacheBytes,
    onRole: (role, term, leaderId) => logger.info({ role, term, leaderId }, "role changed"),
    onFatal: (error) => die(logger, error),
    processAlarms: () => connectionLimiters.alarms,
    onEnd: (end, reason) => {
      logger.error({ end, reason }, "this member stops serving");
      if (admin === null || end === "too-old") {
        // Closes its stores in order; an error while closing ends the process as well.
        void member.stop().then(() => process.exit(EXIT_OF_END[end]));
      }
    },
    onDiskStuck: () => {
      writeSync(process.stderr.fd, `quoin-node: ${DISK_STUCK_MESSAGE}\n`);
      abortProcess();
    },
  });
  const { state, memberId, clusterId, reason } = member;
  logger.info({ state, memberId, clusterId }, "data directory opened");
  noteIgnoredBackup(configuration.restore, member, logger);
  if (
    state === "MEMBER_REFUSED" ||
    state === "MEMBER_REMOVED" ||
    state === "WRONG_CLUSTER" ||
    (state === "MEMBER_DAMAGED" && member.replica === null)
  ) {
    logger.error({ state, reason }, "the data of this member is not served");
    if (admin === null) {
      await member.stop();
      process.exit(state === "MEMBER_REMOVED" ? ExitCode.Removed : ExitCode.DataRefused);
    }
  } else if (state === "MEMBER_DAMAGED") {
    logger.warn({ state, reason }, "acknowledged data was lost here: this member heals from the others");
  }
  return member;
}

const EXIT_OF_END: Readonly<Record<MemberEnd, number>> = {
  removed: ExitCode.Removed,
  refused: ExitCode.DataRefused,
  "too-old": ExitCode.TooOld,
};

function peeringOf({ peering, peer }: Configuration, logger: Logger): MemberPeering | null {
  if (peering === null) {
    return null;
  }
  const { seeds, joinTokenFile, dialHint, tls } = peering;
  if (tls === null && !isLoopback(peer)) {
    logger.warn(
      { peer: formatListen(peer) },
      "members use plain text: anyone who can read the traffic learns the join token",
    );
  }
  const tokenFile = new JoinTokenFile(joinTokenFile, logger);
  return {
    seeds,
    joinTokens: () => tokenFile.tokens,
    tls:
      tls === null
        ? null
        : {
            files: { certificate: tls.certificate, key: tls.key, authorities: tls.authorities },
            joinNamePattern: tls.joinName,
          },
    random: Math.random,
    dialHint,
  };
}

function warnOfPlainText({ tls, grpc, http, admin }: Configuration, logger: Logger): void {
  const open = [grpc, http, ...(admin === null ? [] : [admin])].filter((listen) => !isLoopback(listen));
  if (tls === null && open.length > 0) {
    const ports = open.map(formatListen);
    logger.warn({ ports }, "clients use plain text: anyone who can read the traffic learns their tokens");
  }
}

/** The addresses of HTTP clients, as their connections or trusted proxies report them. */
function clientAddresses(
  { proxies }: Configuration,
  trusted: TrustedProxies,
  logger: Logger,
  connections: ConnectionReports,
): ClientAddresses {
  let linesUntilMs = Number.NEGATIVE_INFINITY;
  return new ClientAddresses({
    trusted,
    connections,
    speaksProxyProtocol: proxies.speakProxyProtocol,
    onRefused: (proxy) => {
      const nowMs = systemClock.monotonicMs();
      if (nowMs >= linesUntilMs) {
        linesUntilMs = nowMs + PROXY_LINE_MS;
        logger.warn({ proxy }, "a connection was cut off: the proxy did not begin it with a PROXY header");
      }
    },
  });
}

/** Proposes a report of use, if the member belongs to a cluster. */
function reportUse(member: Member, uses: readonly ReportedUse[], done: ReportDone): boolean {
  const { replica } = member;
  if (replica === null) {
    return false;
  }
  replica.proposeClusterOperation({ kind: "report-use", uses }, deadlineOfOwn(), (error) => {
    done(error !== null && error.outcome === "not-executed");
  });
  return true;
}

/** The member while it leads, for the duties of a leader. */
function leadingMember({ replica }: Member): LeadingMember | null {
  if (replica === null || replica.status().role !== "leader") {
    return null;
  }
  const { state } = replica;
  return {
    state,
    propose: (operation, done) => replica.proposeClusterOperation(operation, deadlineOfOwn(), done),
  };
}

/** The deadline of the member's own proposals, on the monotonic clock. */
function deadlineOfOwn(): number {
  return systemClock.monotonicMs() + OWN_PROPOSAL_MS;
}

/** The state of the member's current replica, if it has one. */
function replicatedState(member: Member) {
  const unserved = () => new CoordinationError("NO_LEADER", `this member serves no data (${member.state})`);
  return {
    get state() {
      if (member.replica === null) {
        throw unserved();
      }
      return member.replica.state;
    },
    readBarrier: (deadlineMs: number, done: (error: CoordinationError | null) => void) => {
      if (member.replica === null) {
        done(unserved());
      } else {
        member.replica.readBarrier(deadlineMs, done);
      }
    },
  };
}

async function stop({
  member,
  publicServer,
  mail,
  eventHub,
  podLabel,
  backups,
  tracing,
  others,
  lingerMs,
}: Running): Promise<void> {
  publicServer.setServing(false);
  mail.stop();
  await member.handOver(HAND_OVER_MS);
  // Load balancers that have seen the member turn unready may still route clients here for a while.
  await delay(lingerMs);
  eventHub.drain();
  await publicServer.stop(DRAIN_MS);
  await Promise.all(others.map((server) => server.stop(DRAIN_MS)));
  // Until now the label has followed the new leader.
  podLabel?.stop();
  await backups.stop();
  // Before the connections to others end: they are asked for their spans of the last calls.
  await tracing?.stop();
  await member.stop();
}

/** Ends the process after an error that no member may survive. */
function die(logger: Logger, error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  const code = exitCodeOf(error);
  if (code === ExitCode.Configuration) {
    console.error(`quoin-node: ${message}`);
  }
  const stack = error instanceof Error && code === ExitCode.Violation ? error.stack : undefined;
  logger.fatal({ stack }, `${kindOf(error)}: ${message}`);
  process.exit(code);
}

function onStopSignals(configuration: Configuration, callback: (why: string) => void): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => callback(signal));
  }
  if (configuration.untilStdinEnds) {
    process.stdin.on("end", () => callback("standard input ended")).resume();
  }
}

const { version } = createRequire(import.meta.url)("../package.json") as { readonly version: string };
// Without a listener, Node opens its debugger at this signal.
process.on("SIGUSR1", () => undefined);
const programArguments = process.argv.slice(2);
const [command = "", ...commandArguments] = programArguments;
const offline = OFFLINE_COMMANDS.get(command);
if (offline !== undefined) {
  process.exit(await offline(commandArguments, version));
}
let configuration: Configuration | null = null;
let stopping = false;
try {
  configuration = parseConfiguration(programArguments, version);
} catch (error) {
  if (!(error instanceof UsageError)) {
    throw error;
  }
  console.error(`quoin-node: ${error.message}`);
  process.exit(ExitCode.Configuration);
}
if (configuration !== null) {
  const logger = createLogger(configuration.logLevel, configuration.name);
  process.on("uncaughtException", (error) => die(logger, error));
  process.on("unhandledRejection", (error) => die(logger, error));
  try {
    const started = start(configuration, version, logger);
    onStopSignals(configuration, (why) => {
      if (stopping) {
        return;
      }
      stopping = true;
      logger.info({ why }, "stopping");
      void started.then(stop).then(() => {
        logger.info("stopped");
        process.exit(ExitCode.Stopped);
      });
    });
    await started;
  } catch (error) {
    die(logger, error);
  }
}
