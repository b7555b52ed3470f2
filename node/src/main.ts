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
  type HealthApplicationOptions,
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
  const observers = observersOf(configuration, version, logger);
  const { connectionLimiters, tracing, calls } = observers;
  /** Updates the gRPC health service and the pod's label. */
  let lookAtHealth = (): void => undefined;
  // The ticks of the replica come with the pulse.
  const sharedTimer = new SharedTimer(BEAT_INTERVAL_MS, () => {
    observers.eventLoopDelay.beat();
    observers.sampledLoopDelay.beat();
    lookAtHealth();
  });
  let inspection: MemberInspection | null = null;
  const member = await openMember(configuration, version, logger, {
    connectionLimiters,
    scheduler: sharedTimer.scheduler,
    tracer: tracing?.tracer ?? null,
    onMemberCall: (question) => inspection?.answer(question) ?? null,
  });
  tracing?.tracer.connect(member);
  const callers = callersOf(configuration, member);
  const health = memberHealth(member, { isListening: () => isListening, isStopping: () => stopping });
  const tls = await openTls(configuration.tls, logger);
  warnOfPlainText(configuration, logger);
  const ports = new Map<string, string>();
  const { peer, grpc, lingerMs } = configuration;
  await openPort(ports, "peer", peer, () => member.listenForPeers(peer.host, peer.port));
  const mail = new AccountMail({ mailer, clusterName: configuration.clusterName, log: logger });
  const services = servicesOf(configuration, version, logger, { member, observers, callers, health, tls, mail });
  const { publicServer, eventHub, backups, counters, metrics } = services;
  inspection = services.inspection;
  const reportBug = bugReporter(logger);
  const edge = {
    access: callers.access,
    health,
    metrics,
    limiters: services.limiters,
    clock: systemClock,
    reportBug,
  };
  await openPort(ports, "grpc", grpc, () => publicServer.listen(formatListen(grpc), tls));
  inspection.addStreams(eventHub);
  const others: Stoppable[] = [];
  const clientApplication = clientApplicationOf(configuration, edge, { observers, callers, services });
  const http = await listenHttp(clientApplication, "--http", configuration.http, {
    tls,
    connectionLimiter: connectionLimiters.http,
    clients: observers.clients,
  });
  others.push(http);
  ports.set("http", http.address);
  if (configuration.health !== null) {
    const application = observers.requests.observed(createHealthApplication(edge), false);
    const server = await listenHttp(application, "--health", configuration.health, {
      tls: null,
      connectionLimiter: connectionLimiters.health,
    });
    others.push(server);
    ports.set("health", server.address);
  }
  const address = {
    peerEndpoint: configuration.advertisePeer ?? ports.get("peer") ?? formatListen(peer),
    grpcEndpoint: configuration.advertiseGrpc ?? ports.get("grpc") ?? "",
    httpEndpoint: configuration.advertiseHttp ?? ports.get("http") ?? "",
  };
  // Before the admin port, which founds: by then this member must know the seeds (P47).
  member.setEndpoints(address);
  const { admin, adminTokenFile: tokenFile } = configuration;
  if (admin !== null && tokenFile !== null) {
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
    services.callAdmissions.push(server.callAdmission);
    await openPort(ports, "admin", admin, () => server.listen(formatListen(admin), tls));
    others.push(server);
  }
  lookAtHealth = () => {
    publicServer.setServing(!stopping && health.ready().every(({ ok }) => ok));
    podLabel?.update(roleReportOf(member));
  };
  startDuties(member, callers.uses, counters, reportBug);
  isListening = true;
  logger.info(Object.fromEntries(ports), "listening");
  return { member, publicServer, mail, eventHub, podLabel, backups, tracing, others, lingerMs };
}

/** Listens there, and notes the address by the name of the port, which is also that of the flag. */
async function openPort(
  ports: Map<string, string>,
  name: string,
  at: Configuration["grpc"],
  listen: () => Promise<number | null>,
): Promise<void> {
  const port = await bound(`--${name}`, at, listen);
  if (port !== null) {
    ports.set(name, formatListen({ ...at, port }));
  }
}

type Observers = ReturnType<typeof observersOf>;

/** What watches the ports and their requests: connections, clients, counters, log lines, traces. */
function observersOf(configuration: Configuration, version: string, logger: Logger) {
  const { monotonicMs } = systemClock;
  const proxies = new TrustedProxies(configuration.proxies.trusted);
  const connectionLimiters = new ClientConnectionLimiters(configuration.clientLimits, proxies, logger, systemClock);
  const tracing = tracingOf(configuration, version, logger);
  const tracer = tracing?.tracer ?? null;
  const requestLog = new RequestLog(logger, configuration.slowRequestMs, monotonicMs);
  const clients = clientAddresses(configuration, proxies, logger, connectionLimiters.http);
  return {
    connectionLimiters,
    tracing,
    // Each reader of the largest delay has its own.
    eventLoopDelay: new EventLoopDelay(monotonicMs),
    sampledLoopDelay: new EventLoopDelay(monotonicMs),
    clients,
    calls: new CallObserver(requestLog, monotonicMs, tracer),
    requests: new RequestObserver(requestLog, monotonicMs, clients, tracer),
  };
}

type Callers = ReturnType<typeof callersOf>;

/** What the member knows about its callers: rights, limits, and what they use. */
function callersOf(configuration: Configuration, member: Member) {
  const uses = new UseReports(systemClock, (told, done) => reportUse(member, told, done));
  const replicated = replicatedState(member);
  return {
    uses,
    replicated,
    access: new Access(replicated, systemClock, (principal) => uses.used(principal)),
    limits: new ReplicatedRateLimits(configuration.limits, member, systemClock.monotonicMs),
    onRead: (principal: Principal, area: ReadArea): void => uses.read(principal, area),
  };
}

interface ServiceParts {
  readonly member: Member;
  readonly observers: Observers;
  readonly callers: Callers;
  readonly health: ReturnType<typeof memberHealth>;
  readonly tls: Awaited<ReturnType<typeof openTls>>;
  readonly mail: AccountMail;
}

/** What the ports serve to clients, and what the member tells about itself. */
function servicesOf(
  configuration: Configuration,
  version: string,
  logger: Logger,
  { member, observers, callers, health, tls, mail }: ServiceParts,
) {
  const { connectionLimiters, calls, requests, clients, sampledLoopDelay } = observers;
  const timing = { clock: systemClock, scheduler: systemScheduler };
  const namespaceStreams = new NamespaceStreams();
  const counters: CounterSampler = new CounterSampler({
    member,
    calls,
    requests,
    process,
    clock: systemClock,
    eventLoopDelay: sampledLoopDelay,
    streams: () => publicServer.watches.statistics.streams + eventHub.size,
    connections: () => connectionLimiters.all.reduce((sum, { open }) => sum + open, 0),
  });
  const inspection = new MemberInspection(member, counters);
  const backups = new MemberBackups({ host: member, configuration: configuration.backup, ...timing, log: logger });
  const { access, limits, replicated, onRead } = callers;
  const eventHub = new EventHub({ member, ...timing, limits: DEFAULT_EVENT_HUB_LIMITS, namespaceStreams });
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
  const callAdmissions: CallStatistics[] = [...publicServer.callAdmissions];
  const metrics = memberMetrics(
    {
      process: { version, wallMs: systemClock.wallMs, eventLoopDelay: observers.eventLoopDelay },
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
      callAdmissions,
      traces: observers.tracing,
    },
    systemClock.monotonicMs,
  );
  return { counters, inspection, backups, publicServer, eventHub, logs, accounts, limiters, callAdmissions, metrics };
}

interface ClientParts {
  readonly observers: Observers;
  readonly callers: Callers;
  readonly services: ReturnType<typeof servicesOf>;
}

/** What the HTTP port serves: the routes, the methods of the services, and the console. */
function clientApplicationOf(
  { corsOrigins }: Configuration,
  edge: HealthApplicationOptions,
  { observers, callers, services }: ClientParts,
) {
  const { publicServer, logs, accounts, limiters } = services;
  const routes = [
    ...accountRoutes(accounts, limiters, callers.replicated),
    ...logRoutes(logs, systemScheduler),
    ...watchRoutes(publicServer.watchMethods, systemScheduler),
  ];
  return observers.requests.observed(
    createHttpApplication({
      ...edge,
      clients: observers.clients,
      routes,
      calls: publicServer.httpCalls,
      consoleFiles: new ConsoleFiles(CONSOLE_DIRECTORY),
      crossOrigin: new CrossOrigin(corsOrigins),
    }),
  );
}

function bugReporter(logger: Logger) {
  return (error: unknown, requestId?: string, traceId?: string): void => {
    if (error instanceof InvariantViolation) {
      die(logger, error);
    }
    logger.error({ err: error, requestId, trace_id: traceId }, "a request failed because of a bug");
  };
}

/** What the member does by the clock: reports of use, samples of its counters and, while it leads, new signing keys. */
function startDuties(
  member: Member,
  uses: UseReports,
  counters: CounterSampler,
  reportBug: (error: unknown) => void,
): void {
  setInterval(() => uses.onSecond(), USE_INTERVAL_MS).unref();
  setInterval(() => counters.sample(), SAMPLE_INTERVAL_MS).unref();
  const signingKeys = new SigningKeyRotation(systemClock, () => leadingMember(member));
  setInterval(
    () => void signingKeys.rotateIfDue().catch((error: unknown) => reportBug(error)),
    SIGNING_KEYS_INTERVAL_MS,
  ).unref();
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
