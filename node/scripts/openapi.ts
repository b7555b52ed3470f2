/**
 * Updates docs/api/openapi.json: the OpenAPI document that every member serves at /openapi.json. It starts the HTTP
 * interface of a member that serves no data, on a free port of this machine, and reads the document there. With --check
 * it only compares, and exits with 1 if the file is stale. Exits with 2 on wrong use.
 */

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { generate } from "../../scripts/generated/index.ts";
import { Access, AccountMail, DEFAULT_RATE_LIMITS, QueuedHashing, rateLimiters } from "../src/access/index.ts";
import { CallObserver } from "../src/api/calls/index.ts";
import { ConnectionLimiter, DEFAULT_CLIENT_LIMITS } from "../src/api/connections/index.ts";
import { PublicServer } from "../src/api/grpc/index.ts";
import {
  accountRoutes,
  closeHttpServer,
  createHttpApplication,
  createHttpServer,
  logRoutes,
  watchRoutes,
} from "../src/api/http/index.ts";
import {
  accountMethods,
  EventLogMethods,
  Executor,
  type HostMember,
  MemberInspection,
} from "../src/api/methods/index.ts";
import { MemberBackups } from "../src/archive/index.ts";
import { systemClock, systemScheduler } from "../src/replica/index.ts";
import { CoordinationError } from "../src/state/index.ts";
import { RequestLog } from "../src/telemetry/index.ts";
import { DEFAULT_EVENT_HUB_LIMITS, EventHub, NamespaceStreams } from "../src/watch/index.ts";

await generate({
  script: "node/scripts/openapi.ts",
  files: async () => new Map([["docs/api/openapi.json", `${JSON.stringify(await readDocument(), null, 2)}\n`]]),
  complaint: "is not the document that a member serves: run npm run docs:api",
});

async function readDocument(): Promise<unknown> {
  const server = createHttpServer(application()).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/openapi.json`);
    return await response.json();
  } finally {
    await closeHttpServer(server, 0);
  }
}

/** The same routes as in the program of a member, around a member without a replica. */
function application() {
  // A member without a replica is asked for nothing else.
  const member = { replica: null } as HostMember;
  const unserved = () => new CoordinationError("NO_LEADER", "this member serves no data");
  const replicated = {
    get state(): never {
      throw unserved();
    },
    readBarrier: (_deadlineMs: number, done: (error: CoordinationError) => void) => done(unserved()),
  };
  const limits = DEFAULT_RATE_LIMITS;
  const timing = { clock: systemClock, scheduler: systemScheduler };
  const limiters = rateLimiters(limits, systemClock);
  const namespaceStreams = new NamespaceStreams();
  const eventHub = new EventHub({ member, ...timing, limits: DEFAULT_EVENT_HUB_LIMITS, namespaceStreams });
  const access = new Access(replicated, systemClock);
  const { monotonicMs } = systemClock;
  const log = { error: ignore, warn: ignore, info: ignore, debug: ignore, isLevelEnabled: () => false };
  // It does not listen: it only describes its methods.
  const executor = new Executor(member);
  const logs = new EventLogMethods(member, executor, eventHub, systemClock);
  const accounts = accountMethods({
    member,
    replicated,
    access,
    executor,
    clock: systemClock,
    hashing: new QueuedHashing(systemClock, systemScheduler),
    limits,
    limiters,
    mail: new AccountMail({ mailer: null, clusterName: "quoin", log }),
  });
  const publicServer = new PublicServer({
    member,
    access,
    limiters,
    logs,
    accounts,
    ...timing,
    logger: log,
    namespaceStreams,
    inspection: new MemberInspection(member, { samplesOf: () => [] }),
    backups: new MemberBackups({ host: { ...member, replica: null }, configuration: null, ...timing, log }),
    observer: new CallObserver(new RequestLog(log, 0, monotonicMs), monotonicMs),
    connectionLimiter: new ConnectionLimiter({
      port: "grpc",
      limits: DEFAULT_CLIENT_LIMITS.connections,
      descriptorBudget: null,
      log,
      monotonicMs,
    }),
    clientLimits: DEFAULT_CLIENT_LIMITS,
  });
  return createHttpApplication({
    access,
    clock: systemClock,
    limiters,
    calls: publicServer.httpCalls,
    health: { live: () => [], ready: () => [] },
    metrics: { contentType: "text/plain", metrics: async () => "" },
    reportBug: (error) => {
      throw error;
    },
    routes: [
      ...accountRoutes(accounts, limiters, replicated),
      ...logRoutes(logs, systemScheduler),
      ...watchRoutes(publicServer.watchMethods, systemScheduler),
    ],
  });
}

function ignore(): void {}
