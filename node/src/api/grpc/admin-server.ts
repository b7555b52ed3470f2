/**
 * The admin gRPC port of a member: ClusterAdminService, and nothing else, for whoever shows an admin token. It answers in
 * every state of the member, and is the only port that founds a cluster.
 */

import { serviceDefinitions } from "@quoin/proto";
import type { ServerTls } from "../../peers/index.ts";
import type { Clock } from "../../replica/index.ts";
import type { MemberAddress } from "../../state/index.ts";
import { BootstrapMethod, ClusterAdminMethods, Executor, type HostMember } from "../methods/index.ts";
import { AdminAccess, type Administrator } from "./admin-access.ts";
import type { CallObserver } from "./call-observer.ts";
import type { PortContext } from "./checked-call.ts";
import { clusterAdminService } from "./cluster-admin-service.ts";
import type { ErrorLog } from "./error-log.ts";
import { leaderEndpoint } from "./leader-endpoint.ts";
import { GrpcServer } from "./server.ts";

export interface AdminServerOptions {
  readonly member: HostMember;
  /** Path of the admin token file: one token a line. */
  readonly tokenFile: string;
  /** Where others reach this member, for the record of a cluster that it founds. */
  readonly address: MemberAddress;
  readonly clock: Clock;
  readonly logger: ErrorLog;
  readonly observer: CallObserver;
}

export class AdminServer {
  readonly #server: GrpcServer;

  constructor({ member, tokenFile, address, clock, logger, observer }: AdminServerOptions) {
    const port: PortContext<Administrator> = {
      access: new AdminAccess(tokenFile, logger),
      requestId: "optional",
      limiter: null,
      clock,
      logger,
      leaderEndpoint: () => leaderEndpoint(member),
    };
    this.#server = new GrpcServer(port.leaderEndpoint, observer);
    const methods = new ClusterAdminMethods(new Executor(member), member);
    const bootstrap = new BootstrapMethod(member, address);
    this.#server.addService(serviceDefinitions.ClusterAdminService, clusterAdminService(port, methods, bootstrap));
  }

  /** Serves on host:port, without `tls` in plain text, and resolves to the port. */
  listen(address: string, tls: ServerTls | null = null): Promise<number> {
    return this.#server.listen(address, tls);
  }

  /** Finishes what runs, for at most `graceMs` milliseconds. */
  stop(graceMs: number): Promise<void> {
    return this.#server.stop(graceMs);
  }
}
