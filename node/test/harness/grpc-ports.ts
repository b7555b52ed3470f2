/**
 * The gRPC ports of a SingleMember on 127.0.0.1, with callers that hold the right credentials. `close` stops and
 * removes everything.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CounterSample } from "@quoin/proto";
import { temporaryDirectory } from "../../../testing/index.ts";
import { AccountMail, DEFAULT_RATE_LIMITS, rateLimiters } from "../../src/access/index.ts";
import { CallObserver } from "../../src/api/calls/index.ts";
import { ConnectionLimiter, DEFAULT_CLIENT_LIMITS } from "../../src/api/connections/index.ts";
import { AdminServer, PublicServer } from "../../src/api/grpc/index.ts";
import { accountMethods, EventLogMethods, Executor, MemberInspection } from "../../src/api/methods/index.ts";
import { MemberBackups } from "../../src/archive/index.ts";
import { invariant } from "../../src/primitives/index.ts";
import { systemScheduler } from "../../src/replica/index.ts";
import type { User } from "../../src/state/index.ts";
import { RequestLog } from "../../src/telemetry/index.ts";
import type { Tracer } from "../../src/tracing/index.ts";
import { DEFAULT_EVENT_HUB_LIMITS, EventHub, NamespaceStreams } from "../../src/watch/index.ts";
import { cheapHashing, deriveCheaply, secrets } from "../index.ts";
import { GrpcCaller } from "./grpc-caller.ts";
import { SingleMember } from "./single-member.ts";
import type { SingleReplica } from "./single-replica.ts";

/** What a server reported as a bug. */
export interface ReportedError {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** What differs from the defaults. */
interface PortOptions {
  readonly limits?: typeof DEFAULT_RATE_LIMITS;
  readonly clientLimits?: typeof DEFAULT_CLIENT_LIMITS;
  readonly tracer?: Tracer;
}

const ADDRESS = { peerEndpoint: "127.0.0.1:7402", grpcEndpoint: "127.0.0.1:7400", httpEndpoint: "127.0.0.1:7401" };
const ADMIN_TOKEN = "admin-token-of-the-spec";
const GRACE_MS = 1_000;

export class GrpcPorts {
  readonly member: SingleMember;
  readonly reported: ReportedError[];
  /** The log lines of the public port about its clients. */
  readonly warned: ReportedError[];
  /** File with the admin token, which the spec may change. */
  readonly adminTokenFile: string;
  readonly publicServer: PublicServer;
  /** Counts the streams of each namespace; other ports of the member share it. */
  readonly namespaceStreams: NamespaceStreams;
  /** What the member knows about itself. */
  readonly inspection: MemberInspection;
  /** The samples of its counters, which the spec sets. */
  readonly samples: CounterSample[];
  /** Observes the calls of both ports. */
  readonly observer: CallObserver;
  /** The log lines about calls, at level debug. */
  readonly requestLines: Readonly<Record<string, unknown>>[];
  /** The audit log of the admin port. */
  readonly audited: Readonly<Record<string, unknown>>[];
  readonly publicPort: number;
  readonly adminPort: number;
  /** Calls the admin port with its token and without request ids. */
  readonly admin: GrpcCaller;
  readonly #adminServer: AdminServer;
  readonly #clock: PortClock;
  readonly #callers: GrpcCaller[] = [];
  #owner: GrpcCaller | null = null;

  private constructor(
    member: SingleMember,
    observed: {
      readonly reported: ReportedError[];
      readonly warned: ReportedError[];
      readonly observer: CallObserver;
      readonly requestLines: Readonly<Record<string, unknown>>[];
      readonly audited: Readonly<Record<string, unknown>>[];
    },
    servers: {
      readonly publicServer: PublicServer;
      readonly adminServer: AdminServer;
      readonly namespaceStreams: NamespaceStreams;
      readonly inspection: MemberInspection;
      readonly samples: CounterSample[];
    },
    ports: { readonly publicPort: number; readonly adminPort: number },
    tokenFile: string,
    clock: PortClock,
  ) {
    this.#clock = clock;
    this.member = member;
    this.reported = observed.reported;
    this.warned = observed.warned;
    this.observer = observed.observer;
    this.requestLines = observed.requestLines;
    this.audited = observed.audited;
    this.publicServer = servers.publicServer;
    this.namespaceStreams = servers.namespaceStreams;
    this.inspection = servers.inspection;
    this.samples = servers.samples;
    this.#adminServer = servers.adminServer;
    this.publicPort = ports.publicPort;
    this.adminPort = ports.adminPort;
    this.adminTokenFile = tokenFile;
    this.admin = this.#caller(ports.adminPort, ADMIN_TOKEN);
  }

  /** The ports of an EMPTY member. */
  static async open(
    incarnation = "07".repeat(16),
    limits = DEFAULT_RATE_LIMITS,
    clientLimits = DEFAULT_CLIENT_LIMITS,
    tracer: Tracer | null = null,
  ): Promise<GrpcPorts> {
    const member = new SingleMember(incarnation);
    const clock = new PortClock();
    const reported: ReportedError[] = [];
    const audited: Readonly<Record<string, unknown>>[] = [];
    const warned: ReportedError[] = [];
    const logger = {
      error: (fields: object, message: string) => {
        reported.push({ fields: { ...fields }, message });
      },
      info: (fields: object) => void audited.push({ ...fields }),
      warn: (fields: object, message: string) => void warned.push({ fields: { ...fields }, message }),
    };
    const tokenFile = join(temporaryDirectory(), "admin-tokens");
    writeFileSync(tokenFile, `${ADMIN_TOKEN}\n`, { mode: 0o600 });
    const requestLines: Readonly<Record<string, unknown>>[] = [];
    const line = (fields: object) => void requestLines.push({ ...fields });
    const requestLog = new RequestLog({ debug: line, warn: line, isLevelEnabled: () => true }, 0, clock.monotonicMs);
    const observer = new CallObserver(requestLog, clock.monotonicMs, tracer);
    const namespaceStreams = new NamespaceStreams();
    const samples: CounterSample[] = [];
    const inspection = new MemberInspection(member, { samplesOf: () => samples });
    // A member of a spec has no log and no store to read: it refuses calls that need them.
    const { name, clusterName, version } = member;
    const backups = new MemberBackups({
      host: {
        name,
        clusterName,
        version,
        replica: null,
        get clusterId() {
          return member.clusterId;
        },
        get memberId() {
          return member.memberId;
        },
      },
      configuration: null,
      clock,
      scheduler: systemScheduler,
      log: logger,
    });
    const limiters = rateLimiters(limits, clock);
    const access = member.access();
    const executor = new Executor(member);
    const hubOptions = {
      member,
      clock,
      scheduler: systemScheduler,
      limits: DEFAULT_EVENT_HUB_LIMITS,
      namespaceStreams,
    };
    const mail = new AccountMail({ mailer: null, clusterName, log: { ...logger, warn: () => undefined } });
    const { replicated } = member;
    const accounts = { member, replicated, access, executor, clock, limits, limiters, mail, hashing: cheapHashing };
    const publicServer = new PublicServer({
      logs: new EventLogMethods(member, executor, new EventHub(hubOptions), clock),
      accounts: accountMethods(accounts),
      observer,
      inspection,
      backups,
      member,
      access,
      limiters,
      clock,
      scheduler: systemScheduler,
      logger,
      connectionLimiter: gateOf("grpc", clock.monotonicMs),
      clientLimits,
      namespaceStreams,
    });
    const adminServer = new AdminServer({
      member,
      inspection,
      backups,
      clock,
      logger,
      observer,
      address: ADDRESS,
      connectionLimiter: gateOf("admin", clock.monotonicMs),
      clientLimits,
      tokenFile,
      derive: deriveCheaply,
    });
    const publicPort = await publicServer.listen("127.0.0.1:0");
    const adminPort = await adminServer.listen("127.0.0.1:0");
    return new GrpcPorts(
      member,
      { reported, warned, audited, observer, requestLines },
      { publicServer, adminServer, namespaceStreams, inspection, samples },
      { publicPort, adminPort },
      tokenFile,
      clock,
    );
  }

  /** The ports of the member that founded the cluster of `secrets`. */
  static async founded({ limits, clientLimits, tracer }: PortOptions = {}): Promise<GrpcPorts> {
    const { founding } = secrets;
    const incarnation = Buffer.from(founding.incarnation).toString("hex");
    const ports = await GrpcPorts.open(incarnation, limits, clientLimits, tracer);
    await ports.member.bootstrap(founding);
    ports.#owner = ports.caller(await ports.token());
    ports.member.cluster.barriers.length = 0;
    return ports;
  }

  /** Calls the public port with a token of the owner of a founded cluster. */
  get owner(): GrpcCaller {
    invariant(this.#owner !== null, "the cluster is founded");
    return this.#owner;
  }

  get replica(): SingleReplica {
    const { replica } = this.member;
    invariant(replica !== null, "the member serves");
    return replica;
  }

  /**
   * A token of the owner. `claims` limit the token, and leave the owner's record as it is.
   *
   * @param claims role and namespaces of the owner while the token is issued.
   */
  async token(claims: Partial<Pick<User, "role" | "namespaces">> = {}): Promise<string> {
    const { cluster } = this.member;
    cluster.changeOwner(claims);
    const issued = await this.member.access().exchangeApiKey(secrets.apiKey, null, 0);
    cluster.changeOwner({ role: "owner", namespaces: ["*"] });
    invariant(issued !== null, "the owner's API key is accepted");
    return issued.accessToken;
  }

  /** Calls the public port with this token. */
  caller(token: string): GrpcCaller {
    return this.#caller(this.publicPort, token);
  }

  /** Advances the clock of the ports by this many milliseconds, in addition to real time. */
  elapse(ms: number): void {
    this.#clock.elapsedMs += ms;
  }

  async close(): Promise<void> {
    for (const caller of this.#callers) {
      caller.close();
    }
    await this.publicServer.stop(GRACE_MS);
    await this.#adminServer.stop(GRACE_MS);
  }

  #caller(port: number, token: string): GrpcCaller {
    const metadata = new Map([
      ["authorization", `Bearer ${token}`],
      ["api-version", "v1"],
    ]);
    const caller = new GrpcCaller(port, metadata);
    this.#callers.push(caller);
    return caller;
  }
}

/** The clocks of this machine. A test can put the monotonic one forward. */
class PortClock {
  elapsedMs = 0;
  readonly wallMs = () => Date.now();
  readonly monotonicMs = () => performance.now() + this.elapsedMs;
}

/** The gate of a port with the default limits, which logs nothing. */
export function gateOf(port: string, monotonicMs: () => number): ConnectionLimiter {
  const { connections: limits } = DEFAULT_CLIENT_LIMITS;
  return new ConnectionLimiter({ port, limits, descriptorBudget: null, log: { warn: () => undefined }, monotonicMs });
}
