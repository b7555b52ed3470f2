/**
 * Starts one member: reads the configuration, wires the parts, and ends them in order. Nothing else happens here.
 */

import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { Access } from "./access/index.ts";
import { AdminServer, PublicServer } from "./api/grpc/index.ts";
import { closeHttpServer, createHealthApplication, createHttpApplication, createHttpServer } from "./api/http/index.ts";
import { UsageError } from "./command-line/index.ts";
import { type Configuration, formatListen, type Listen, parseConfiguration } from "./configuration.ts";
import { InvariantViolation } from "./raft/index.ts";
import { DEFAULT_REPLICA_LIMITS, Member, systemClock, systemScheduler } from "./replica/index.ts";
import { CoordinationError } from "./state/index.ts";
import { StoreError } from "./storage/index.ts";
import { createLogger, Health, type Logger } from "./telemetry/index.ts";

const EXIT_VIOLATION = 70;
const EXIT_STORE = 71;
const EXIT_REFUSED_DATA = 73;
const EXIT_CONFIGURATION = 76;

/** Calls that run when the member is told to stop are finished for at most this long, in milliseconds (S47). */
const DRAIN_MS = 10_000;
/** A member whose event loop is this late, in milliseconds, is not ready. */
const LOOP_LAG_MS_MAX = 100;
/** How often health is looked at for the gRPC health service, in milliseconds. */
const HEALTH_INTERVAL_MS = 50;

/** What stops, in this order. */
interface Running {
  readonly publicServer: PublicServer;
  readonly others: readonly Stoppable[];
  readonly member: Member;
}

interface Stoppable {
  /** Finishes what runs, for at most so many milliseconds. */
  stop(graceMs: number): Promise<void>;
}

async function start(configuration: Configuration, version: string, logger: Logger): Promise<Running> {
  const { name, clusterName, dataDirectory: directory } = configuration;
  const member = await Member.open({
    directory,
    clusterName,
    name,
    version,
    acceptMissingFence: configuration.acceptMissingFence,
    clock: systemClock,
    scheduler: systemScheduler,
    limits: DEFAULT_REPLICA_LIMITS,
    onRole: (role, term, leaderId) => logger.info({ role, term, leaderId }, "role changed"),
    onFatal: (error) => die(logger, error),
  });
  logger.info({ state: member.state, memberId: member.memberId, clusterId: member.clusterId }, "data directory opened");
  if (member.reason !== "") {
    logger.error({ state: member.state, reason: member.reason }, "the data of this member is not served");
    if (configuration.admin === null) {
      await member.stop();
      process.exit(EXIT_REFUSED_DATA);
    }
  }

  const access = new Access(replicatedState(member), systemClock);
  const health = memberHealth(member, () => stopping);
  const publicServer = new PublicServer({ member, access, clock: systemClock, logger });
  const grpcPort = await publicServer.listen(formatListen(configuration.grpc));
  const reportBug = (error: unknown): void => {
    if (error instanceof InvariantViolation) {
      die(logger, error);
    }
    logger.error({ err: error }, "a request failed because of a bug");
  };
  const http = await listenHttp(
    createHttpApplication({ access, health, clock: systemClock, reportBug }),
    configuration.http,
  );
  const others: Stoppable[] = [http];
  const listening = new Map([
    ["grpc", formatListen({ ...configuration.grpc, port: grpcPort })],
    ["http", http.address],
  ]);
  if (configuration.health !== null) {
    const server = await listenHttp(createHealthApplication({ health, reportBug }), configuration.health);
    others.push(server);
    listening.set("health", server.address);
  }
  if (configuration.admin !== null && configuration.adminTokenFile !== null) {
    const address = {
      peerEndpoint: configuration.advertisePeer,
      grpcEndpoint: configuration.advertiseGrpc ?? listening.get("grpc") ?? "",
      httpEndpoint: configuration.advertiseHttp ?? listening.get("http") ?? "",
    };
    const tokenFile = configuration.adminTokenFile;
    const server = new AdminServer({ member, tokenFile, address, clock: systemClock, logger });
    const port = await server.listen(formatListen(configuration.admin));
    others.push(server);
    listening.set("admin", formatListen({ ...configuration.admin, port }));
  }
  setInterval(() => {
    publicServer.setServing(!stopping && health.ready().every(({ ok }) => ok));
  }, HEALTH_INTERVAL_MS).unref();
  logger.info(Object.fromEntries(listening), "listening");
  return { member, publicServer, others };
}

async function listenHttp(
  application: RequestListener,
  { host, port }: Listen,
): Promise<Stoppable & { readonly address: string }> {
  const server = createHttpServer(application);
  server.listen(port, host);
  await once(server, "listening");
  const bound = server.address() as AddressInfo;
  return {
    address: formatListen({ host, port: bound.port }),
    stop: (graceMs) => closeHttpServer(server, graceMs),
  };
}

/** The state of whatever replica the member has at the moment. */
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

function memberHealth(member: Member, isStopping: () => boolean): Health {
  const serving = (): string | null => {
    if (member.replica === null) {
      return `the member is ${member.state}`;
    }
    return member.replica.status().isServing ? null : "no leader with a quorum";
  };
  const loop = (): string | null => {
    const lagMs = member.replica?.status().loopLagMs ?? 0;
    return lagMs > LOOP_LAG_MS_MAX ? `the event loop was ${Math.round(lagMs)} ms late` : null;
  };
  return new Health(
    new Map([["event-loop", () => null]]),
    new Map([
      ["serving", serving],
      ["event-loop", loop],
      ["draining", () => (isStopping() ? "the member is stopping" : null)],
    ]),
  );
}

async function stop({ member, publicServer, others }: Running): Promise<void> {
  await publicServer.stop(DRAIN_MS);
  await Promise.all(others.map((server) => server.stop(DRAIN_MS)));
  await member.stop();
}

/** Ends the process for what no member may go on after. */
function die(logger: Logger, error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof StoreError) {
    logger.fatal({ kind: error.kind }, message);
    process.exit(EXIT_STORE);
  }
  const stack = error instanceof Error ? error.stack : undefined;
  const what = error instanceof InvariantViolation ? "invariant violated" : "unexpected failure";
  logger.fatal({ stack }, `${what}: ${message}`);
  process.exit(EXIT_VIOLATION);
}

function onStopSignals(configuration: Configuration, callback: (why: string) => void): void {
  process.on("SIGTERM", () => callback("SIGTERM"));
  process.on("SIGINT", () => callback("SIGINT"));
  if (configuration.untilStdinEnds) {
    process.stdin.on("end", () => callback("standard input ended")).resume();
  }
}

const { version } = createRequire(import.meta.url)("../package.json") as { readonly version: string };
let configuration: Configuration | null = null;
let stopping = false;
try {
  configuration = parseConfiguration(process.argv.slice(2), version);
} catch (error) {
  if (!(error instanceof UsageError)) {
    throw error;
  }
  console.error(`quoin-node: ${error.message}`);
  process.exit(EXIT_CONFIGURATION);
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
        process.exit(0);
      });
    });
    await started;
  } catch (error) {
    die(logger, error);
  }
}
