/** A cluster of this repository, started from its sources as `npm start` does it, as something to measure. */

import { randomUUID } from "node:crypto";
import { credentials, Metadata } from "@grpc/grpc-js";
import { type AdminClient, createAdminClient, createTokenSource, type TokenSource } from "@quoin/client";
import { freeBasePort, LocalCluster } from "@quoin/node/local";
import { GetKeyRequest, KeyValueServiceClient, PutKeyRequest, ReadConsistency } from "@quoin/proto";
import { connectionOptions } from "./connection-options.ts";
import type { Connection, MeasuredCluster, MeasuredMember } from "./measured-cluster.ts";

const NAMESPACE = "default";

export class QuoinCluster implements MeasuredCluster {
  readonly name = "quoin";
  readonly version: string;
  readonly members: readonly MeasuredMember[];
  readonly #cluster: LocalCluster;
  readonly #tokens: TokenSource;
  readonly #admins: readonly AdminClient[];

  private constructor(cluster: LocalCluster, tokens: TokenSource, admins: readonly AdminClient[], version: string) {
    const pids = cluster.memberPids;
    this.#cluster = cluster;
    this.#tokens = tokens;
    this.#admins = admins;
    this.version = version;
    this.members = cluster.endpoints.grpc.map((endpoint, at) => ({ endpoint, pid: pids[at] as number }));
  }

  /** Starts that many members with their data below the directory, and returns when they serve. */
  static async start(members: number, dataDirectory: string): Promise<QuoinCluster> {
    const cluster = await LocalCluster.start({ members, basePort: await freeBasePort(), dataDirectory });
    const { grpc, http, apiKey } = cluster.endpoints;
    const tokens = createTokenSource({ apiKey, httpEndpoints: http }, undefined);
    const admins = grpc.map((endpoint) => createAdminClient({ endpoint, credentials: tokens }));
    try {
      if (admins.length !== members || cluster.memberPids.length !== members) {
        throw new Error(`${members} members were asked for, ${cluster.memberPids.length} were started`);
      }
      const statuses = (await Promise.all(admins.map((admin) => admin.getStatus()))).map(({ status }) => status);
      const absent = statuses.find(({ state }) => state !== "RUNNING");
      if (absent !== undefined) {
        throw new Error(`member ${absent.name} is ${absent.state}`);
      }
      return new QuoinCluster(cluster, tokens, admins, statuses[0]?.version ?? "");
    } catch (error) {
      await stopAll(cluster, admins);
      throw error;
    }
  }

  async findLeader(): Promise<MeasuredMember | null> {
    const answers = await Promise.all(this.#admins.map((admin) => admin.getStatus()));
    const leaders = this.members.filter((_, at) => answers[at]?.status.role === "LEADER");
    return leaders.length === 1 ? (leaders[0] as MeasuredMember) : null;
  }

  async connect(member: MeasuredMember): Promise<Connection> {
    return new QuoinConnection(member.endpoint, await this.#tokens.token());
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

class QuoinConnection implements Connection {
  readonly #client: KeyValueServiceClient;
  readonly #token: string;

  constructor(endpoint: string, token: string) {
    this.#client = new KeyValueServiceClient(endpoint, credentials.createInsecure(), connectionOptions);
    this.#token = token;
  }

  put(key: string, value: Buffer): Promise<bigint> {
    const request = PutKeyRequest.fromPartial({ namespace: NAMESPACE, key, value });
    return new Promise((resolve, reject) => {
      this.#client.putKey(request, this.#metadata(), (error, response) => {
        if (error === null) {
          resolve(response.revision);
        } else {
          reject(error);
        }
      });
    });
  }

  get(key: string): Promise<{ readonly value: Uint8Array; readonly revision: bigint }> {
    const request = GetKeyRequest.fromPartial({
      namespace: NAMESPACE,
      key,
      consistency: ReadConsistency.LINEARIZABLE,
    });
    return new Promise((resolve, reject) => {
      this.#client.getKey(request, this.#metadata(), (error, response) => {
        if (error === null) {
          resolve(response);
        } else {
          reject(error);
        }
      });
    });
  }

  close(): void {
    this.#client.close();
  }

  /** Every request has an id of its own: a repeated one would be answered from memory, without being done. */
  #metadata(): Metadata {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${this.#token}`);
    metadata.set("api-version", "v1");
    metadata.set("request-id", randomUUID());
    return metadata;
  }
}
