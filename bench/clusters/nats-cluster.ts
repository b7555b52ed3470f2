/** A new cluster of NATS on this machine, with JetStream that syncs every write, as an object of measurement. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "./connection.ts";
import type { Leadership, MeasuredCluster, MeasuredMember, MemberReport } from "./measured-cluster.ts";
import { type NatsPlan, natsConfig, OPEN_BATCHES_MAX } from "./nats-config.ts";
import { NatsConnection } from "./nats-connection.ts";
import { leadershipOf, NatsMonitoring } from "./nats-monitoring.ts";
import { PeerProcess } from "./peer-process.ts";
import { portsOfMembers } from "./ports-of-members.ts";

const HOST = "127.0.0.1";
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
/** Only its user may read the files of the benchmark. */
const CONFIG_FILE_MODE = 0o600;

export class NatsCluster implements MeasuredCluster {
  readonly name = "nats";
  readonly version: string;
  readonly settings: string;
  readonly members: readonly MeasuredMember[];
  readonly #processes: readonly PeerProcess[];
  readonly #monitoring: readonly NatsMonitoring[];

  private constructor(
    processes: readonly PeerProcess[],
    plans: readonly NatsPlan[],
    monitoring: readonly NatsMonitoring[],
    version: string,
  ) {
    this.version = version;
    this.settings =
      `JetStream with sync_interval: always; streams in files with allow_atomic, replicas: ${plans.length}; ` +
      `up to ${OPEN_BATCHES_MAX} open batches a stream`;
    this.members = processes.map(({ pid }, at) => ({ endpoint: (plans[at] as NatsPlan).client, pid }));
    this.#processes = processes;
    this.#monitoring = monitoring;
  }

  /**
   * Starts this many members of the built program with their data below the directory. Returns when all of them follow
   * one leader. It needs more than one member, because a single server has no leader.
   */
  static async start(
    program: string,
    members: number,
    directory: string,
    interrupted: AbortSignal,
  ): Promise<NatsCluster> {
    mkdirSync(directory, { recursive: true });
    const processes: PeerProcess[] = [];
    try {
      const plans = await planMembers(members);
      for (const plan of plans) {
        const configFile = join(directory, `${plan.name}.conf`);
        writeFileSync(configFile, natsConfig(plan, plans, join(directory, plan.name)), { mode: CONFIG_FILE_MODE });
        processes.push(new PeerProcess("nats", program, ["-c", configFile], join(directory, `${plan.name}.log`)));
      }
      const monitoring = plans.map((plan) => new NatsMonitoring(plan.monitoring));
      const version = await untilServing(processes, monitoring, interrupted);
      return new NatsCluster(processes, plans, monitoring, version);
    } catch (error) {
      await stopAll(processes);
      throw error;
    }
  }

  /**
   * The leader of the cluster. Each stream has its own leader, at any member. The term grows with those elections too.
   */
  async findLeader(): Promise<Leadership | null> {
    const groups = await Promise.all(this.#monitoring.map((member) => member.readGroups()));
    const leadership = leadershipOf(groups);
    return leadership && { leader: this.members[leadership.at] as MeasuredMember, term: leadership.term };
  }

  connect({ endpoint }: MeasuredMember): Promise<Connection> {
    return NatsConnection.open(endpoint, this.members.length);
  }

  async connectWatches(): Promise<never> {
    throw new Error("this system has no watches of keys");
  }

  async rawCalls(): Promise<null> {
    return null;
  }

  /** Its runtime has threads, and no loop that one task could block for all others. */
  async takeLoopDelaysMs(): Promise<null> {
    return null;
  }

  readReports(): Promise<readonly MemberReport[]> {
    return Promise.all(
      this.#monitoring.map((member, at) => member.readReport((this.members[at] as MeasuredMember).endpoint)),
    );
  }

  async stop(): Promise<void> {
    await stopAll(this.#processes);
  }
}

async function planMembers(members: number): Promise<NatsPlan[]> {
  const ports = await portsOfMembers(members);
  return ports.map((port, at) => ({
    name: `n-${at}`,
    client: `${HOST}:${port}`,
    route: `${HOST}:${port + 1}`,
    monitoring: `${HOST}:${port + 2}`,
  }));
}

/** Waits until every member is healthy and the others follow the leader; returns its version. */
async function untilServing(
  processes: readonly PeerProcess[],
  monitoring: readonly NatsMonitoring[],
  interrupted: AbortSignal,
): Promise<string> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    for (const process of processes) {
      process.assertRunning();
    }
    const healths = await Promise.all(monitoring.map((member) => member.isHealthy()));
    if (healths.every((isHealthy) => isHealthy)) {
      const servers = await Promise.all(monitoring.map((member) => member.readServer()));
      const leader = servers.find(({ followers }) => followers === servers.length - 1);
      if (leader !== undefined && servers.every(({ clusterSize }) => clusterSize === servers.length)) {
        return leader.version;
      }
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`nats did not become ready within ${START_TIMEOUT_MS} ms`);
    }
    await sleep(POLL_MS, undefined, { signal: interrupted });
  }
}

async function stopAll(processes: readonly PeerProcess[]): Promise<void> {
  await Promise.all(processes.map((process) => process.stop()));
}
