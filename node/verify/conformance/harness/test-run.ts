/**
 * One run of the suite on a cluster: its connections, and its own namespaces with unique names.
 *
 * At its end it removes users, keys, regions and event logs. Namespaces and free locks stay, because the service has no operation
 * that removes them.
 */

import { randomBytes } from "node:crypto";
import { credentials } from "@grpc/grpc-js";
import { Accounts, type TestUser } from "./accounts.ts";
import { ConnectConnection } from "./connect-connection.ts";
import type { Connection, Protocol } from "./connection.ts";
import { succeeded } from "./expectations.ts";
import { GrpcConnection } from "./grpc-connection.ts";
import { HttpConnection } from "./http-connection.ts";
import { Mailbox } from "./mailbox.ts";
import { NotApplicable } from "./not-applicable.ts";
import {
  createNamespace,
  deleteKey,
  deleteLog,
  freeMemory,
  getCluster,
  listKeys,
  listLogs,
  listMemoryRegions,
} from "./operations.ts";
import type { Origin } from "./raw-call.ts";
import { type Claims, claimsOf, hasExpired, type Target } from "./target.ts";

const RANDOM_BYTES = 6;
const PAGE_SIZE = 1_000;

/** Users that a run has from its beginning. Entries must not change them. */
export interface StockUsers {
  /** These two have all namespaces. */
  readonly viewer: TestUser;
  readonly member: TestUser;
  /** Has one namespace, which need not exist. */
  readonly admin: TestUser;
  readonly adminNamespace: string;
}

/** The leader of a term. */
interface Leadership {
  readonly term: bigint;
  /** "" where it is not known. */
  readonly endpoint: Readonly<Record<Protocol, string>>;
  /** The endpoints of all members, for each protocol. */
  readonly endpoints: Readonly<Record<Protocol, readonly string[]>>;
}

const NO_LEADER: Leadership = {
  term: 0n,
  endpoint: { grpc: "", connect: "" },
  endpoints: { grpc: [], connect: [] },
};

export class TestRun {
  readonly target: Target;
  /** How entries call the operations. */
  readonly protocol: Protocol;
  /** Prefix of all names that this run creates. */
  readonly prefix = `conformance-${randomBytes(RANDOM_BYTES).toString("hex")}`;
  /** The namespace that most entries use, each with unique names. */
  readonly namespace = this.prefix;
  readonly claims: Claims;
  readonly accounts: Accounts;
  readonly #connections = new Map<string, Connection>();
  readonly #httpConnections = new Map<string, HttpConnection>();
  /** HTTP endpoints of members, by gRPC endpoint. */
  readonly #httpEndpoints = new Map<string, string>();
  readonly #namespaces: string[] = [];
  #stockUsers: StockUsers | null = null;
  #leadership: Leadership = NO_LEADER;

  /** Raises Error if the token lacks rights that the suite needs. */
  constructor(target: Target, protocol: Protocol) {
    this.target = target;
    this.protocol = protocol;
    this.claims = claimsOf(target.token);
    this.accounts = new Accounts(this.prefix, new Mailbox(target.mailLogs));
    if (!this.claims.access.includes("admin") || !this.claims.namespaces.includes("*")) {
      throw new Error('the token must have the access "admin" and the namespaces ["*"]');
    }
  }

  async begin(): Promise<void> {
    await this.makeNamespace(this.namespace);
    await this.findLeader(this.first);
    await this.#learnHttpEndpoints();
    await this.#makeStockUsers();
  }

  /** Users besides the one of the token; null if none could be created. */
  get stockUsers(): StockUsers | null {
    return this.#stockUsers;
  }

  /** By gRPC, in every run. */
  get first(): Connection {
    return this.#connection(this.target.endpoints[0] as string, this.target.token, "grpc");
  }

  /**
   * A connection to the member with this gRPC endpoint, with the token; without one, the token of the run.
   */
  at(endpoint: string, token = this.target.token): Connection {
    return this.#connection(endpoint, token, this.protocol);
  }

  #connection(endpoint: string, token: string, protocol: Protocol): Connection {
    const key = `${protocol} ${endpoint} ${token}`;
    const known = this.#connections.get(key);
    if (known !== undefined) {
      return known;
    }
    const connection = protocol === "grpc" ? this.#grpc(endpoint, token) : this.#connect(endpoint, token);
    this.#connections.set(key, connection);
    return connection;
  }

  #grpc(endpoint: string, token: string): Connection {
    const { ca } = this.target;
    const security = ca === undefined ? credentials.createInsecure() : credentials.createSsl(ca);
    return new GrpcConnection(endpoint, security, token);
  }

  #connect(endpoint: string, token: string): Connection {
    const httpEndpoint = this.#httpEndpoints.get(endpoint);
    if (httpEndpoint === undefined) {
      throw new NotApplicable(`it is not known where ${endpoint} serves HTTP: name it with --http-endpoint`);
    }
    return new ConnectConnection(endpoint, this.originOf(httpEndpoint), token);
  }

  /**
   * HTTP at the member with this gRPC endpoint, with the token; by default the token of the run. Undefined if the
   * member's HTTP endpoint is not known.
   */
  httpAt(endpoint: string, token: string | null = this.target.token): HttpConnection | undefined {
    const httpEndpoint = this.#httpEndpoints.get(endpoint);
    if (httpEndpoint === undefined) {
      return undefined;
    }
    const key = `${httpEndpoint} ${token}`;
    const connection = this.#httpConnections.get(key) ?? new HttpConnection(this.originOf(httpEndpoint), token);
    this.#httpConnections.set(key, connection);
    return connection;
  }

  originOf(endpoint: string): Origin {
    const { ca } = this.target;
    return ca === undefined ? { url: `http://${endpoint}` } : { url: `https://${endpoint}`, ca };
  }

  /** Another token whose claims match, expired or not as requested; undefined if there is none. */
  otherToken(isWanted: (claims: Claims) => boolean, expired = false): string | undefined {
    const { viewer, member, admin } = this.#stockUsers ?? {};
    const ofStock = [viewer, member, admin].flatMap((user) => user?.token ?? []);
    return [...this.target.otherTokens, ...ofStock].find((token) => {
      const claims = claimsOf(token);
      return hasExpired(claims) === expired && isWanted(claims);
    });
  }

  async makeNamespace(namespace: string): Promise<void> {
    this.#namespaces.push(namespace);
    succeeded(await this.first.call(createNamespace, { namespace }));
  }

  /** Asks this member for the leader and its endpoints. */
  async findLeader(connection: Connection): Promise<Leadership> {
    const { members, term } = succeeded(await connection.call(getCluster, {}));
    const endpointsOf = (some: typeof members) => ({
      grpc: some.map(({ grpcEndpoint }) => grpcEndpoint),
      connect: some.map(({ httpEndpoint }) => httpEndpoint),
    });
    const leader = endpointsOf(members.filter((member) => member.leader));
    const endpoint = { grpc: leader.grpc[0] ?? "", connect: leader.connect[0] ?? "" };
    this.#leadership = { term, endpoint, endpoints: endpointsOf(members) };
    return this.#leadership;
  }

  /** The last answer of `findLeader`. */
  get leadership(): Leadership {
    return this.#leadership;
  }

  /** Removes users, keys, regions and event logs, and closes all connections. */
  async end(): Promise<void> {
    try {
      const http = this.httpAt(this.target.endpoints[0] as string);
      if (http !== undefined) {
        await this.accounts.removeAll(http);
      }
      for (const namespace of this.#namespaces) {
        await this.#removeKeys(namespace);
        await this.#removeRegions(namespace);
        await this.#removeLogs(namespace);
      }
    } finally {
      this.close();
    }
  }

  /** Only closes all connections, for a cluster that does not answer any more. */
  close(): void {
    for (const connection of [...this.#connections.values(), ...this.#httpConnections.values()]) {
      connection.close();
    }
  }

  /** Takes the HTTP endpoints from the target, or else from the members. */
  async #learnHttpEndpoints(): Promise<void> {
    const { endpoints, httpEndpoints } = this.target;
    const { members } = succeeded(await this.first.call(getCluster, {}));
    for (const [at, endpoint] of endpoints.entries()) {
      const told = members.find(({ grpcEndpoint }) => grpcEndpoint === endpoint)?.httpEndpoint ?? "";
      const httpEndpoint = httpEndpoints[at] ?? told;
      if (httpEndpoint !== "") {
        this.#httpEndpoints.set(endpoint, httpEndpoint);
      }
    }
  }

  async #makeStockUsers(): Promise<void> {
    const http = this.httpAt(this.target.endpoints[0] as string);
    if (http === undefined || this.target.mailLogs.length === 0) {
      return;
    }
    const adminNamespace = `${this.prefix}.admin`;
    const [viewer, member, admin] = await Promise.all([
      this.accounts.logInNew(http, "viewer", ["*"]),
      this.accounts.logInNew(http, "member", ["*"]),
      this.accounts.logInNew(http, "admin", [adminNamespace]),
    ]);
    this.#stockUsers = { viewer, member, admin, adminNamespace };
  }

  async #removeKeys(namespace: string): Promise<void> {
    for (;;) {
      const page = await this.first.call(listKeys, { namespace, pageSize: PAGE_SIZE, keysOnly: true });
      const items = page.response?.items ?? [];
      if (items.length === 0) {
        return;
      }
      // A key may have expired meanwhile; the next round lists the remaining ones.
      await Promise.all(items.map(({ key }) => this.first.call(deleteKey, { namespace, key })));
    }
  }

  async #removeRegions(namespace: string): Promise<void> {
    for (;;) {
      const page = await this.first.call(listMemoryRegions, { namespace, pageSize: PAGE_SIZE });
      const regions = page.response?.regions ?? [];
      if (regions.length === 0) {
        return;
      }
      await Promise.all(regions.map(({ regionId }) => this.first.call(freeMemory, { namespace, regionId })));
    }
  }

  async #removeLogs(namespace: string): Promise<void> {
    for (;;) {
      const page = await this.first.call(listLogs, { namespace, pageSize: PAGE_SIZE });
      const logs = page.response?.logs ?? [];
      if (logs.length === 0) {
        return;
      }
      await Promise.all(logs.map(({ logId }) => this.first.call(deleteLog, { logId })));
    }
  }
}
