/**
 * A cluster of this repository, started from its bundled programs in the same way as `npx quoin start`, as an object of
 * measurement.
 */

import { join } from "node:path";
import { type AdminClient, createAdminClient, createTokenSource, type TokenSource } from "@quoin/client";
import { freeBasePort, type LocalCluster } from "@quoin/node/local";
import { GetKeyRequest, PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import type { Connection, WatchConnection } from "./connection.ts";
import type { Leadership, MeasuredCluster, MeasuredMember } from "./measured-cluster.ts";
import { buildMemberPrograms } from "./member-programs.ts";
import { readMetric } from "./prometheus-text.ts";
import { type OnCall, QuoinConnection } from "./quoin-connection.ts";
import { NAMESPACE, quoinHeaders } from "./quoin-headers.ts";
import { SESSIONS_MAX } from "./quoin-sessions.ts";
import { QuoinWatches } from "./quoin-watches.ts";
import type { RawCalls } from "./raw-calls.ts";

const LOOP_DELAY_METRIC = "quoin_event_loop_delay_max_seconds";
const MS_PER_SECOND = 1000;
/** One user causes all load, and the cluster is what is measured. */
const UNLIMITED = ["--rate-limit", "grpc=0", "--rate-limit", "http=0"];

/** How a second cluster differs from the first. */
export interface OtherQuoin {
  readonly name: string;
  /** Folder of the repository whose sources it runs; null = this one. */
  readonly checkout: string | null;
}

const THIS: OtherQuoin = { name: "quoin", checkout: null };

export class QuoinCluster implements MeasuredCluster {
  readonly name: string;
  readonly settings = `no rate limits; up to ${SESSIONS_MAX} sessions in a namespace where sessions are measured`;
  readonly version: string;
  readonly members: readonly MeasuredMember[];
  readonly #cluster: LocalCluster;
  readonly #tokens: TokenSource;
  readonly #admins: readonly AdminClient[];

  private constructor(
    name: string,
    cluster: LocalCluster,
    tokens: TokenSource,
    admins: readonly AdminClient[],
    version: string,
  ) {
    const pids = cluster.memberPids;
    this.name = name;
    this.#cluster = cluster;
    this.#tokens = tokens;
    this.#admins = admins;
    this.version = version;
    this.members = cluster.endpoints.grpc.map((endpoint, at) => ({ endpoint, pid: pids[at] as number }));
  }

  /**
   * Starts this many members with their data below the directory, and returns when they serve.
   *
   * @param memberFlags flags of each member, besides those that remove its rate limits.
   * @param other for a second cluster, the name and the checkout by which it differs from the first.
   */
  static async start(
    members: number,
    dataDirectory: string,
    memberFlags: readonly string[] = [],
    { name, checkout }: OtherQuoin = THIS,
  ): Promise<QuoinCluster> {
    const launcher = await buildMemberPrograms(join(dataDirectory, "programs"), checkout);
    const basePort = await freeBasePort();
    const options = { members, basePort, dataDirectory, memberFlags: [...UNLIMITED, ...memberFlags] };
    const cluster = await launcher.LocalCluster.start(options);
    const { grpc, apiKey } = cluster.endpoints;
    const tokens = createTokenSource({ credentials: { apiKey }, endpoints: grpc });
    const admins = grpc.map((endpoint) => createAdminClient({ endpoint, credentials: tokens }));
    try {
      if (admins.length !== members || cluster.memberPids.length !== members) {
        throw new Error(`${members} members were requested, but ${cluster.memberPids.length} were started`);
      }
      const statuses = (await Promise.all(admins.map((admin) => admin.getStatus()))).map(({ status }) => status);
      const absent = statuses.find(({ state }) => state !== "RUNNING");
      if (absent !== undefined) {
        throw new Error(`member ${absent.name} is ${absent.state}`);
      }
      return new QuoinCluster(name, cluster, tokens, admins, statuses[0]?.version ?? "");
    } catch (error) {
      await stopAll(cluster, admins);
      throw error;
    }
  }

  async findLeader(): Promise<Leadership | null> {
    const answers = await Promise.all(this.#admins.map((admin) => admin.getStatus()));
    const [leadership, ...others] = answers.flatMap(({ status: { role, term } }, at) =>
      role === "LEADER" ? [{ leader: this.members[at] as MeasuredMember, term }] : [],
    );
    return leadership !== undefined && others.length === 0 ? leadership : null;
  }

  /** @param onCall receives the request id of each call before the call starts. */
  async connect(member: MeasuredMember, onCall?: OnCall): Promise<Connection> {
    const url = this.#cluster.endpoints.http[this.members.indexOf(member)];
    if (url === undefined) {
      throw new Error(`${member.endpoint} is not a member of this cluster`);
    }
    return new QuoinConnection(member.endpoint, url, await this.#tokens.token(), onCall);
  }

  async connectWatches(member: MeasuredMember): Promise<WatchConnection> {
    return new QuoinWatches(member.endpoint, await this.#tokens.token());
  }

  async rawCalls(): Promise<RawCalls> {
    const { "request-id": _, ...headers } = quoinHeaders(await this.#tokens.token());
    const call = { headers, requestIdHeader: "request-id" };
    const { putKey, getKey } = serviceDefinitions.KeyValueService;
    const namespace = NAMESPACE;
    const putBody = (key: string, value: Buffer) => PutKeyRequest.fromPartial({ namespace, key, value });
    const getBody = (key: string) => GetKeyRequest.fromPartial({ namespace, key });
    return {
      put: (key, value) => ({ ...call, method: putKey.path, body: putKey.requestSerialize(putBody(key, value)) }),
      get: (key) => ({ ...call, method: getKey.path, body: getKey.requestSerialize(getBody(key)) }),
    };
  }

  takeLoopDelaysMs(): Promise<readonly number[]> {
    return Promise.all(
      this.members.map(async (member) => {
        return readMetric(await this.readMetrics(member), LOOP_DELAY_METRIC) * MS_PER_SECOND;
      }),
    );
  }

  /** The current metrics of a member, as text for Prometheus. */
  async readMetrics(member: MeasuredMember): Promise<string> {
    const health = this.#cluster.members[this.members.indexOf(member)]?.health;
    const response = await fetch(`${health}/metrics`);
    return response.text();
  }

  /** The command lines of its members contain everything relevant. */
  async readReports(): Promise<null> {
    return null;
  }

  async stop(): Promise<void> {
    await stopAll(this.#cluster, this.#admins);
  }
}

async function stopAll(cluster: LocalCluster, admins: readonly AdminClient[]): Promise<void> {
  for (const admin of admins) {
    admin.close();
  }
  await cluster.stop();
}
