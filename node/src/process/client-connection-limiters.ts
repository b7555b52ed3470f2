/** The gates of a member's ports: which connections each of them accepts. */

import {
  ADMINISTRATION_CONNECTIONS,
  type ClientLimits,
  ConnectionLimiter,
  DescriptorBudget,
  DescriptorProbe,
  descriptorLimit,
} from "../api/connections/index.ts";
import type { TrustedProxies } from "../api/http/index.ts";
import type { Clock } from "../replica/index.ts";
import type { Logger } from "../telemetry/index.ts";

export class ClientConnectionLimiters {
  readonly grpc: ConnectionLimiter;
  readonly http: ConnectionLimiter;
  readonly admin: ConnectionLimiter;
  readonly health: ConnectionLimiter;
  readonly #probe: DescriptorProbe;

  /** @param proxies proxies that connect to the HTTP port for many clients */
  constructor(limits: ClientLimits, proxies: TrustedProxies, log: Logger, { monotonicMs }: Clock) {
    this.#probe = new DescriptorProbe(log, monotonicMs);
    const descriptorBudget = new DescriptorBudget(descriptorLimit());
    const ofClients = { limits: limits.connections, descriptorBudget, log, monotonicMs };
    const ofAdministrators = { limits: ADMINISTRATION_CONNECTIONS, descriptorBudget: null, log, monotonicMs };
    this.grpc = new ConnectionLimiter({ port: "grpc", ...ofClients });
    this.http = new ConnectionLimiter({ port: "http", ...ofClients, isProxy: (address) => proxies.includes(address) });
    this.admin = new ConnectionLimiter({ port: "admin", ...ofAdministrators });
    this.health = new ConnectionLimiter({ port: "health", ...ofAdministrators });
  }

  get all(): readonly ConnectionLimiter[] {
    return [this.grpc, this.http, this.admin, this.health];
  }

  /** Why the ports accept no connections now, as texts for people. */
  get alarms(): string[] {
    return this.#probe.alarms;
  }
}
