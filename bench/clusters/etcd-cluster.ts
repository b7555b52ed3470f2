/**
 * A new cluster of etcd on this machine, as an object of measurement. Only its names, its addresses and the limit of a
 * transaction are configured.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { status as grpcStatus, type ServiceError } from "@grpc/grpc-js";
import type { Connection, WatchConnection } from "./connection.ts";
import { EtcdConnection, EtcdWatches } from "./etcd-connection.ts";
import { encodePutRequest, encodeRangeRequest, type Status } from "./etcd-messages.ts";
import type { Leadership, MeasuredCluster, MeasuredMember } from "./measured-cluster.ts";
import { PeerProcess } from "./peer-process.ts";
import { portsOfMembers } from "./ports-of-members.ts";
import type { RawCalls } from "./raw-calls.ts";

const HOST = "127.0.0.1";
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
/** As many as a transaction of Quoin may have. */
const OPERATIONS_MAX = 10_000;

export class EtcdCluster implements MeasuredCluster {
  readonly name = "etcd";
  readonly settings = `transactions of up to ${OPERATIONS_MAX} operations instead of 128`;
  readonly version: string;
  readonly members: readonly MeasuredMember[];
  readonly #processes: readonly PeerProcess[];
  readonly #connections: readonly EtcdConnection[];

  private constructor(processes: readonly PeerProcess[], connections: readonly EtcdConnection[], version: string) {
    this.version = version;
    this.members = processes.map(({ pid }, at) => ({ endpoint: (connections[at] as EtcdConnection).endpoint, pid }));
    this.#processes = processes;
    this.#connections = connections;
  }

  /**
   * Starts this many members of the built program with their data below the directory. Returns when all of them follow
   * one leader.
   */
  static async start(
    program: string,
    members: number,
    directory: string,
    interrupted: AbortSignal,
  ): Promise<EtcdCluster> {
    mkdirSync(directory, { recursive: true });
    const processes: PeerProcess[] = [];
    const connections: EtcdConnection[] = [];
    try {
      const plans = await planMembers(members);
      for (const { name, client, peer } of plans) {
        const flags = {
          name,
          "data-dir": join(directory, name),
          "listen-client-urls": `http://${client}`,
          "advertise-client-urls": `http://${client}`,
          "listen-peer-urls": `http://${peer}`,
          "initial-advertise-peer-urls": `http://${peer}`,
          "max-txn-ops": OPERATIONS_MAX,
          "initial-cluster": plans.map((plan) => `${plan.name}=http://${plan.peer}`).join(","),
        };
        const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
        processes.push(new PeerProcess("etcd", program, args, join(directory, `${name}.log`)));
        connections.push(new EtcdConnection(client));
      }
      const version = await untilServing(processes, connections, interrupted);
      return new EtcdCluster(processes, connections, version);
    } catch (error) {
      await stopAll(processes, connections);
      throw error;
    }
  }

  async findLeader(): Promise<Leadership | null> {
    const answers = await Promise.all(this.#connections.map((connection) => connection.status()));
    const [leadership, ...others] = answers.flatMap(({ memberId, leaderId, term }, at) =>
      memberId === leaderId ? [{ leader: this.members[at] as MeasuredMember, term: Number(term) }] : [],
    );
    return leadership !== undefined && others.length === 0 ? leadership : null;
  }

  async connect(member: MeasuredMember): Promise<Connection> {
    return new EtcdConnection(member.endpoint);
  }

  async connectWatches(member: MeasuredMember): Promise<WatchConnection> {
    return new EtcdWatches(member.endpoint);
  }

  async rawCalls(): Promise<RawCalls> {
    const call = { headers: {}, requestIdHeader: "" };
    return {
      put: (key, value) => ({ ...call, method: "/etcdserverpb.KV/Put", body: encodePutRequest(key, value) }),
      get: (key) => ({ ...call, method: "/etcdserverpb.KV/Range", body: encodeRangeRequest(key) }),
    };
  }

  /** Its runtime has threads, and no loop that one task could block for all others. */
  async takeLoopDelaysMs(): Promise<null> {
    return null;
  }

  /** The command lines of its members contain everything relevant. */
  async readReports(): Promise<null> {
    return null;
  }

  async stop(): Promise<void> {
    await stopAll(this.#processes, this.#connections);
  }
}

interface MemberPlan {
  readonly name: string;
  /** Addresses for clients and for the other members. */
  readonly client: string;
  readonly peer: string;
}

async function planMembers(members: number): Promise<MemberPlan[]> {
  const ports = await portsOfMembers(members);
  return ports.map((port, at) => ({ name: `e-${at}`, client: `${HOST}:${port}`, peer: `${HOST}:${port + 1}` }));
}

/** Waits until every member answers and knows the same leader; returns their version. */
async function untilServing(
  processes: readonly PeerProcess[],
  connections: readonly EtcdConnection[],
  interrupted: AbortSignal,
): Promise<string> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    for (const process of processes) {
      process.assertRunning();
    }
    const answers = await Promise.all(connections.map(statusIfAny));
    const first = answers[0];
    const leaderId = first?.leaderId ?? 0n;
    if (first && leaderId !== 0n && answers.every((answer) => answer?.leaderId === leaderId)) {
      return first.version;
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`etcd did not become ready within ${START_TIMEOUT_MS} ms`);
    }
    await sleep(POLL_MS, undefined, { signal: interrupted });
  }
}

/** The member's answer; null while the member does not listen, or starts. */
async function statusIfAny(connection: EtcdConnection): Promise<Status | null> {
  try {
    return await connection.status();
  } catch (error) {
    if ((error as ServiceError).code === grpcStatus.UNAVAILABLE) {
      return null;
    }
    throw error;
  }
}

async function stopAll(processes: readonly PeerProcess[], connections: readonly EtcdConnection[]): Promise<void> {
  for (const connection of connections) {
    connection.close();
  }
  await Promise.all(processes.map((process) => process.stop()));
}
