/**
 * The admin gRPC port of a member: only ClusterAdminService, for callers with an admin token. It answers in every state
 * of the member, and is the only port on which a cluster can be founded.
 */

import type { Derive } from "../../access/index.ts";
import type { MemberBackups } from "../../archive/index.ts";
import type { ServerTls } from "../../peers/index.ts";
import type { Clock } from "../../replica/index.ts";
import type { MemberAddress } from "../../state/index.ts";
import { CallAdmission, type CallObserver, type CallStatistics, type PortContext } from "../calls/index.ts";
import type { ClientLimits, ConnectionLimiter } from "../connections/index.ts";
import {
  type AuditLog,
  BackupListingMethods,
  BackupMethods,
  BootstrapMethod,
  ClusterAdminMethods,
  Executor,
  type HostMember,
  MemberCountersMethod,
  type MemberInspection,
  OwnerResetMethod,
} from "../methods/index.ts";
import { type ConnectionLog, QuoinHost } from "../quoin-host/index.ts";
import { AdminAccess, type Administrator } from "./admin-access.ts";
import { clusterAdminService } from "./cluster-admin-service.ts";
import { leaderEndpointOf } from "./leader-endpoint.ts";
import { GrpcServer } from "./server.ts";

export interface AdminServerOptions {
  readonly member: HostMember;
  /** What this member knows about itself. */
  readonly inspection: MemberInspection;
  readonly backups: MemberBackups;
  /** Path of the admin token file: one token per line. */
  readonly tokenFile: string;
  /** The address of this member for others, for the record of a cluster that it founds. */
  readonly address: MemberAddress;
  readonly clock: Clock;
  readonly logger: ConnectionLog & AuditLog;
  readonly observer: CallObserver;
  readonly connectionLimiter: ConnectionLimiter;
  /** What administrators may have open at the same time. */
  readonly clientLimits: ClientLimits;
  /** Hashes the passwords of owners; in the thread pool by default. */
  readonly derive?: Derive | undefined;
}

export class AdminServer {
  readonly #server: GrpcServer;
  readonly #callAdmission: CallAdmission<Administrator>;

  constructor(options: AdminServerOptions) {
    const { member, backups, tokenFile, address, clock, logger, observer, connectionLimiter, clientLimits } = options;
    const access = new AdminAccess(tokenFile, logger);
    const endpoint = leaderEndpointOf(member);
    this.#callAdmission = new CallAdmission({
      port: connectionLimiter.port,
      access,
      requestId: "optional",
      limits: clientLimits,
      clock,
      logger,
    });
    const port: PortContext<Administrator> = {
      access,
      callAdmission: this.#callAdmission,
      limiter: null,
      clock,
      logger,
    };
    const host = new QuoinHost({
      leaderEndpoint: endpoint,
      observer,
      callAdmission: this.#callAdmission,
      log: logger,
      portName: connectionLimiter.port,
      monotonicMs: observer.monotonicMs,
      connections: connectionLimiter,
    });
    this.#server = new GrpcServer({ host, callAdmission: this.#callAdmission, connectionLimiter });
    const executor = new Executor(member);
    const cluster = new ClusterAdminMethods(executor, member);
    const bootstrap = new BootstrapMethod(member, address, options.derive);
    const ownerReset = new OwnerResetMethod(executor, logger, options.derive);
    const counters = new MemberCountersMethod(member, options.inspection, clock);
    const backupListing = new BackupListingMethods({ member, backups, clock, shows: "all clusters" });
    const shared = { cluster, counters, backupListing };
    const service = clusterAdminService(port, shared, { bootstrap, ownerReset, backups: new BackupMethods(backups) });
    host.addMethods(service);
  }

  /** Statistics of refused calls. */
  get callAdmission(): CallStatistics {
    return this.#callAdmission;
  }

  /** Serves on host:port, unencrypted without `tls`, and resolves to the port. */
  listen(address: string, tls: ServerTls | null = null): Promise<number> {
    return this.#server.listen(address, tls);
  }

  /** Finishes open calls, for at most `graceMs` milliseconds. */
  stop(graceMs: number): Promise<void> {
    return this.#server.stop(graceMs);
  }
}
