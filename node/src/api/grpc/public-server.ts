/**
 * The public services of a member: KeyValueService, LockService, MemoryService, SessionService, TransactionService,
 * WatchService, EventLogService, AccountService, ClusterService and ClusterAdminService for callers with a token, on the gRPC port and, by the Connect protocol, on the HTTP port; health
 * and reflection for all clients of the gRPC port.
 *
 * One table of methods serves both ports, with the same checks and the same rate limits. Each port counts its own open
 * calls.
 */

import { qualifiedServiceName, SERVICE_NAMES, SERVICE_PACKAGE, serviceDefinitions } from "@quoin/proto";
import type { Access, Caller, RateLimiters } from "../../access/index.ts";
import type { MemberBackups } from "../../archive/index.ts";
import type { ServerTls } from "../../peers/index.ts";
import type { Clock, Scheduler } from "../../replica/index.ts";
import { DEFAULT_WATCH_LIMITS, type NamespaceStreams, WatchHub, type WatchStatistics } from "../../watch/index.ts";
import {
  CallAdmission,
  type CallObserver,
  type CallPort,
  type CallStatistics,
  type PortContext,
  type ServedMethod,
  serve,
} from "../calls/index.ts";
import { ConnectHost } from "../connect-host/index.ts";
import type { ClientLimits, ConnectionLimiter } from "../connections/index.ts";
import { ClientAddresses, type ServiceCalls } from "../http/index.ts";
import {
  type AccountMethods,
  BackupListingMethods,
  ClusterAdminMethods,
  ClusterMethods,
  type EventLogMethods,
  Executor,
  type HostMember,
  KeyListingMethods,
  KeyValueMethods,
  LockListingMethods,
  LockMethods,
  MemberCountersMethod,
  type MemberInspection,
  MemoryMethods,
  SessionMethods,
  StreamListingMethod,
  TransactionMethods,
  WatchMethods,
} from "../methods/index.ts";
import { type ConnectionLog, type Http2Statistics, QuoinHost } from "../quoin-host/index.ts";
import { accountService } from "./account-service.ts";
import { clusterAdminService } from "./cluster-admin-service.ts";
import { eventLogService } from "./event-log-service.ts";
import { HealthService } from "./health.ts";
import { leaderEndpointOf } from "./leader-endpoint.ts";
import { lockService } from "./lock-service.ts";
import { memoryService } from "./memory-service.ts";
import { PublicAccess } from "./public-access.ts";
import { addReflection } from "./reflection.ts";
import { GrpcServer } from "./server.ts";
import { sessionService } from "./session-service.ts";
import { transactionService } from "./transaction-service.ts";

export interface PublicServerOptions {
  readonly member: HostMember;
  /** What this member knows about itself. */
  readonly inspection: MemberInspection;
  readonly backups: MemberBackups;
  /** Decides from the state of the member's replica; it is not called while there is no replica. */
  readonly access: Pick<Access, "authenticate" | "authorize" | "recheck">;
  readonly limiters: Pick<RateLimiters, "grpc" | "tokenRequests" | "loginRequests">;
  readonly logs: EventLogMethods;
  readonly accounts: AccountMethods;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly logger: ConnectionLog;
  readonly observer: CallObserver;
  readonly connectionLimiter: ConnectionLimiter;
  /** What clients may have open at the same time. */
  readonly clientLimits: ClientLimits;
  /** Counts the member's streams of each namespace, on all of its ports. */
  readonly namespaceStreams: NamespaceStreams;
  /** Finds the addresses of clients of the HTTP port. By default, no proxy is trusted. */
  readonly httpClients?: ClientAddresses;
  /** Called for every read that was answered, for the usage counts. */
  readonly onRead?: ConstructorParameters<typeof Executor>[1];
}

/** Name of the HTTP port in the metrics of calls. */
const HTTP_PORT = "http";

export class PublicServer {
  /** Statistics of its HTTP/2. */
  readonly http2: Http2Statistics;
  readonly #server: GrpcServer;
  readonly #health: HealthService;
  readonly #watches: WatchHub;
  readonly #callAdmission: CallAdmission<Caller>;
  readonly #httpAdmission: CallAdmission<Caller>;
  readonly #connectHost: ConnectHost;
  /** The methods of watches, for the routes of HTTP. */
  readonly watchMethods: WatchMethods;

  constructor(options: PublicServerOptions) {
    const { member, access, limiters, clock, scheduler, logger, observer, connectionLimiter, clientLimits, onRead } =
      options;
    const { namespaceStreams, httpClients = new ClientAddresses() } = options;
    const publicAccess = new PublicAccess(access, member);
    const endpoint = leaderEndpointOf(member);
    const admission = { access: publicAccess, requestId: "required", limits: clientLimits, clock, logger } as const;
    this.#callAdmission = new CallAdmission({ ...admission, port: connectionLimiter.port });
    this.#httpAdmission = new CallAdmission({ ...admission, port: HTTP_PORT });
    const port: PortContext<Caller> = {
      access: publicAccess,
      callAdmission: this.#callAdmission,
      limiter: limiters.grpc,
      clock,
      logger,
    };
    const callPort: CallPort = { leaderEndpoint: endpoint, observer, callAdmission: this.#callAdmission, log: logger };
    const { monotonicMs } = observer;
    const host = new QuoinHost({
      ...callPort,
      log: logger,
      portName: connectionLimiter.port,
      monotonicMs,
      connections: connectionLimiter,
    });
    this.http2 = host;
    this.#server = new GrpcServer({ host, callAdmission: this.#callAdmission, connectionLimiter });
    const executor = new Executor(member, onRead, clock);
    this.#watches = new WatchHub({ member, clock, scheduler, limits: DEFAULT_WATCH_LIMITS, namespaceStreams });
    this.watchMethods = new WatchMethods(executor, this.#watches);
    this.#connectHost = new ConnectHost({
      observer,
      callAdmission: this.#httpAdmission,
      log: logger,
      clients: httpClients,
      leaderEndpoint: leaderEndpointOf(member, "httpEndpoint"),
      pathPrefix: `/${SERVICE_PACKAGE}.`,
    });
    const { inspection, backups, logs, accounts } = options;
    inspection.addStreams(this.#watches);
    inspection.addBackups(backups);
    const backupListing = new BackupListingMethods({ member, backups, clock, shows: "own cluster" });
    const streams = new StreamListingMethod(executor, member, inspection, clock);
    const counters = new MemberCountersMethod(member, inspection, clock);
    const services: readonly (readonly ServedMethod[])[] = [
      keyValueService(port, new KeyValueMethods(executor), new KeyListingMethods(executor)),
      lockService(port, new LockMethods(executor), new LockListingMethods(executor, member)),
      memoryService(port, new MemoryMethods(executor)),
      sessionService(port, new SessionMethods(executor, member, scheduler)),
      transactionService(port, new TransactionMethods(executor)),
      clusterService(port, new ClusterMethods(executor)),
      watchService(port, this.watchMethods, streams),
      eventLogService(port, logs),
      accountService(port, accounts, limiters),
      clusterAdminService(port, { cluster: new ClusterAdminMethods(executor, member), counters, backupListing }, null),
    ];
    for (const methods of services) {
      host.addMethods(methods);
      this.#connectHost.addMethods(methods);
    }
    const names = SERVICE_NAMES.map(qualifiedServiceName);
    this.#health = new HealthService(names);
    host.addMethods(this.#health.methods);
    addReflection(host, names);
  }

  /** Statistics of the watches of this member. */
  get watches(): { readonly statistics: WatchStatistics } {
    return this.#watches;
  }

  /** Statistics of refused calls, by port. */
  get callAdmissions(): readonly CallStatistics[] {
    return [this.#callAdmission, this.#httpAdmission];
  }

  /** The same methods for the HTTP port. */
  get httpCalls(): ServiceCalls {
    return this.#connectHost;
  }

  /** Serves on host:port, unencrypted without `tls`, and resolves to the port. */
  listen(address: string, tls: ServerTls | null = null): Promise<number> {
    return this.#server.listen(address, tls);
  }

  /** Sets the state of the health service, which begins as NOT_SERVING. Calls are served in both states. */
  setServing(serving: boolean): void {
    this.#health.setServing(serving);
  }

  /**
   * Reports NOT_SERVING first. Then it ends the watches, including those of the health service; clients resume them at
   * other members. Then it finishes other open calls, for at most `graceMs` milliseconds (S47).
   */
  async stop(graceMs: number): Promise<void> {
    this.#health.setServing(false);
    this.#health.endWatches();
    this.#watches.drain();
    await this.#server.stop(graceMs);
    this.#httpAdmission.stop();
  }
}

function keyValueService(
  port: PortContext<Caller>,
  methods: KeyValueMethods,
  listings: KeyListingMethods,
): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.KeyValueService, {
    createNamespace: (call, request, reply) => methods.createNamespace(call, request, reply),
    deleteNamespace: (call, request, reply) => methods.deleteNamespace(call, request, reply),
    getKey: (call, request, reply) => methods.getKey(call, request, reply),
    putKey: { carriesData: true, handle: (call, request, reply) => methods.putKey(call, request, reply) },
    deleteKey: (call, request, reply) => methods.deleteKey(call, request, reply),
    listKeys: (call, request, reply) => methods.listKeys(call, request, reply),
    countKeys: (call, request, reply) => methods.countKeys(call, request, reply),
    compareAndSwap: {
      carriesData: true,
      handle: (call, request, reply) => methods.compareAndSwap(call, request, reply),
    },
    touchKey: (call, request, reply) => methods.touchKey(call, request, reply),
    listNamespaces: (call, request, reply) => listings.listNamespaces(call, request, reply),
    listKeyVersions: (call, request, reply) => listings.listKeyVersions(call, request, reply),
  });
}

function watchService(
  port: PortContext<Caller>,
  methods: WatchMethods,
  listing: StreamListingMethod,
): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.WatchService, {
    watchKeys: (call, request, stream) => methods.watchKeys(call, request, stream),
    watchLocks: (call, request, stream) => methods.watchLocks(call, request, stream),
    listStreams: (call, request, reply) => listing.listStreams(call, request, reply),
  });
}

function clusterService(port: PortContext<Caller>, methods: ClusterMethods): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.ClusterService, {
    getCluster: (call, request, reply) => methods.getCluster(call, request, reply),
  });
}
