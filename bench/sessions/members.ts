/** Three members with their default limits. The leader can be killed, and is then started again. */

import { join } from "node:path";
import { type AdminClient, createAdminClient } from "@quoin/client";
import { type Endpoints, freeBasePort, type LocalCluster, type RestartedMember } from "@quoin/node/local";
import { until } from "../../testing/index.ts";
import { buildMemberPrograms, type Launcher, sumOfMetric } from "../clusters/index.ts";
import { usageOf } from "../measuring/index.ts";

const MEMBERS = 3;
const WAIT = { limitMs: 60_000, pollMs: 50 };
const STATUS_TIMEOUT_MS = 1_000;
const ENTRIES_METRIC = "quoin_storage_log_written_entries_total";

/** A member that leads, by its position, and its term. */
interface Leadership {
  readonly at: number;
  readonly term: number;
}

/** What the members have done so far. */
export interface Work {
  /** Position of the leader. */
  readonly leader: number;
  /** Processor time of each member, in milliseconds; null if this machine does not report it. */
  readonly cpuMs: readonly number[] | null;
  /** Entries that the leader has written to its log since its start. */
  readonly entries: number;
}

export class Members {
  readonly directory: string;
  readonly #launcher: Launcher;
  readonly #cluster: LocalCluster;
  readonly #admins: readonly AdminClient[];
  readonly #pids: number[];
  readonly #restarted = new Map<number, RestartedMember>();

  private constructor(directory: string, launcher: Launcher, cluster: LocalCluster) {
    const { grpc, apiKey } = cluster.endpoints;
    this.directory = directory;
    this.#launcher = launcher;
    this.#cluster = cluster;
    this.#pids = [...cluster.memberPids];
    this.#admins = grpc.map((endpoint) => createAdminClient({ endpoint, credentials: { apiKey } }));
  }

  static async start(directory: string): Promise<Members> {
    const options = { members: MEMBERS, basePort: await freeBasePort(), dataDirectory: directory };
    const launcher = await buildMemberPrograms(join(directory, "programs"));
    return new Members(directory, launcher, await launcher.LocalCluster.start(options));
  }

  get endpoints(): Endpoints {
    return this.#cluster.endpoints;
  }

  async version(): Promise<string> {
    return (await (this.#admins[0] as AdminClient).getStatus()).status.version;
  }

  /** Processor time of each member so far, in milliseconds; null if this machine does not report it. */
  cpuMs(): readonly number[] | null {
    const usages = this.#pids.map(usageOf).filter((usage) => usage !== null);
    return usages.length === MEMBERS ? usages.map(({ cpuMs }) => cpuMs) : null;
  }

  async work(): Promise<Work> {
    const { at: leader } = await this.#untilLeader(0);
    const response = await fetch(`${this.#cluster.members[leader]?.health}/metrics`);
    return { leader, cpuMs: this.cpuMs(), entries: sumOfMetric(await response.text(), ENTRIES_METRIC) };
  }

  /** Kills the leader, starts it again when another one leads, and returns when all members serve. */
  async killLeader(): Promise<void> {
    const { at, term } = await this.#untilLeader(0);
    const pid = this.#pids[at] as number;
    process.kill(pid, "SIGKILL");
    await this.#restarted.get(at)?.stop();
    await until("the killed leader to end", () => !isRunning(pid), WAIT);
    await this.#untilLeader(term + 1);
    const member = this.#cluster.members[at]?.name as string;
    const { RestartedMember } = this.#launcher;
    const restarted = await RestartedMember.start({ member, dataDirectory: this.directory }, "npm start");
    this.#restarted.set(at, restarted);
    this.#pids[at] = restarted.pid;
    await until(`${member} to serve`, () => isReady(`${this.#cluster.members[at]?.health}/readyz`), WAIT);
  }

  async stop(): Promise<void> {
    for (const admin of this.#admins) {
      admin.close();
    }
    await Promise.all([...this.#restarted.values()].map((member) => member.stop()));
    await this.#cluster.stop();
  }

  /** The leader, as soon as there is one in this term or a later one. */
  #untilLeader(termMin: number): Promise<Leadership> {
    const find = async (): Promise<Leadership | null> => {
      let found: Leadership | null = null;
      const asked = this.#admins.map((admin) => admin.getStatus({ timeoutMs: STATUS_TIMEOUT_MS }));
      for (const [at, answer] of (await Promise.allSettled(asked)).entries()) {
        const status = answer.status === "fulfilled" ? answer.value.status : null;
        if (status?.role === "LEADER" && status.term >= Math.max(termMin, found?.term ?? 0)) {
          found = { at, term: status.term };
        }
      }
      return found;
    };
    return until("a leader", find, WAIT);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch (error) {
    if (error instanceof TypeError) {
      // Nothing listens there yet.
      return false;
    }
    throw error;
  }
}
