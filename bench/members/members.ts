/** Three members. Each can be killed, started again, and replaced by a new one. */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AdminClient, createAdminClient, isQuoinError } from "@quoin/client";
import { type Endpoints, freeBasePort, type LocalCluster, type RestartedMember } from "@quoin/node/local";
import { type Attempt, until } from "../../testing/index.ts";
import { buildMemberPrograms, type Launcher, sumOfMetric } from "../clusters/index.ts";
import { usageOf } from "../measuring/index.ts";

export const MEMBERS = 3;
const WAIT = { limitMs: 60_000, pollMs: 50 };
/** A new member, or one with a lot of data, may need long. */
const READY_WAIT = { limitMs: 60 * 60_000, pollMs: 50 };
const STATUS_TIMEOUT_MS = 1_000;
const ENTRIES_METRIC = "quoin_storage_log_written_entries_total";
const RECEIVED = /direction="received",result="completed"/;
/** Refusals of a change of the membership that pass by themselves. */
const PASSING = ["CONFIG_CHANGE_IN_PROGRESS", "LEARNER_NOT_READY", "QUORUM_UNSAFE", "LEADER_CHANGED"] as const;
const PASSING_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED"]);

/** A member that leads, by its position, and its term. */
export interface Leadership {
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

/** A backup that is complete. */
export interface Backup {
  readonly seconds: number;
  readonly bytes: number;
}

/** A new member in the place of another one. */
export interface Replacement {
  /** Milliseconds from the start of its process until it votes and serves. */
  readonly ms: number;
  /** Snapshots that it has received, and how long that took; none if the log of the leader had everything. */
  readonly snapshots: number;
  readonly snapshotSeconds: number;
}

type Options = Parameters<Launcher["LocalCluster"]["start"]>[0];

export class Members {
  readonly directory: string;
  readonly #launcher: Launcher;
  readonly #options: Options;
  readonly #ending: AbortSignal;
  readonly #admins: readonly AdminClient[];
  readonly #pids: (number | null)[];
  readonly #restarted = new Map<number, RestartedMember>();
  #cluster: LocalCluster;

  private constructor(options: Options, launcher: Launcher, cluster: LocalCluster, ending: AbortSignal) {
    this.directory = options.dataDirectory;
    this.#options = options;
    this.#ending = ending;
    this.#launcher = launcher;
    this.#cluster = cluster;
    this.#pids = [...cluster.memberPids];
    const credentials = { token: readFileSync(join(this.directory, "admin-token"), "utf8").trim() };
    this.#admins = cluster.endpoints.admin.map((endpoint) => createAdminClient({ endpoint, credentials }));
  }

  /**
   * @param memberFlags flags of each member, besides those of a local cluster.
   * @param ending ends all waiting, with its reason.
   */
  static async start(directory: string, memberFlags: readonly string[], ending: AbortSignal): Promise<Members> {
    const launcher = await buildMemberPrograms(join(directory, "programs"));
    const options = { members: MEMBERS, basePort: await freeBasePort(), dataDirectory: directory, memberFlags };
    return new Members(options, launcher, await launcher.LocalCluster.start(options, ending), ending);
  }

  get endpoints(): Endpoints {
    return this.#cluster.endpoints;
  }

  /** The process of each member; null while there is none. */
  get pids(): readonly (number | null)[] {
    return this.#pids;
  }

  nameOf(at: number): string {
    return this.#cluster.members[at]?.name as string;
  }

  dataOf(at: number): string {
    return join(this.directory, this.nameOf(at));
  }

  async version(): Promise<string> {
    return (await this.#admin(0).getStatus()).status.version;
  }

  /** Processor time of each member so far, in milliseconds; null if this machine does not report it. */
  cpuMs(): readonly number[] | null {
    const usages = this.#pids.map((pid) => (pid === null ? null : usageOf(pid))).filter((usage) => usage !== null);
    return usages.length === MEMBERS ? usages.map(({ cpuMs }) => cpuMs) : null;
  }

  async work(): Promise<Work> {
    const { at: leader } = await this.untilLeader();
    const text = (await this.metrics(leader)) ?? "";
    return { leader, cpuMs: this.cpuMs(), entries: sumOfMetric(text, ENTRIES_METRIC) };
  }

  /** The current metrics of a member, as text for Prometheus; null if it does not answer. */
  async metrics(at: number): Promise<string | null> {
    try {
      return await (await fetch(`${this.#healthOf(at)}/metrics`)).text();
    } catch (error) {
      if (error instanceof TypeError) {
        return null;
      }
      throw error;
    }
  }

  /** Kills the leader, starts it again when another one leads, and returns when all members serve. */
  async killLeader(): Promise<void> {
    const { at, term } = await this.untilLeader();
    await this.kill(at);
    await this.untilLeader(term + 1);
    await this.start(at);
    await this.untilReady(at);
  }

  /** Kills a member, and returns when its process has ended. */
  async kill(at: number): Promise<void> {
    const pid = this.#pids[at];
    if (pid === null || pid === undefined) {
      throw new Error(`member ${this.nameOf(at)} does not run`);
    }
    this.#pids[at] = null;
    process.kill(pid, "SIGKILL");
    await this.#restarted.get(at)?.stop();
    await this.#until("the killed member to end", () => !isRunning(pid), WAIT);
  }

  /** Starts a member that was killed, without waiting for it. */
  async start(at: number): Promise<void> {
    const member = this.nameOf(at);
    const { RestartedMember: Restarted } = this.#launcher;
    const restarted = await Restarted.start({ member, dataDirectory: this.directory }, "npm start");
    this.#restarted.set(at, restarted);
    this.#pids[at] = restarted.pid;
  }

  /** Waits until the member serves. */
  untilReady(at: number): Promise<boolean> {
    return this.#until(`${this.nameOf(at)} to serve`, () => isReady(`${this.#healthOf(at)}/readyz`), READY_WAIT);
  }

  /** Waits until all members serve. */
  async untilAllReady(): Promise<void> {
    await Promise.all(this.#pids.map((_, at) => this.untilReady(at)));
  }

  /**
   * Removes the member from the cluster, with its data, and starts a new one of its name. Returns when the new one votes
   * and serves.
   */
  async replace(at: number): Promise<Replacement> {
    const name = this.nameOf(at);
    await this.kill(at);
    await this.#change(async (admin) => admin.removeMembers([await idOf(admin, name)]));
    rmSync(this.dataOf(at), { recursive: true });
    await this.#change((admin) => admin.addMember(name));
    const startMs = performance.now();
    await this.start(at);
    await this.#change(async (admin) => admin.promoteMembers([await idOf(admin, name)]));
    await this.untilReady(at);
    const ms = performance.now() - startMs;
    const metrics = (await this.metrics(at)) ?? "";
    return {
      ms,
      snapshots: sumOfMetric(metrics, "quoin_raft_snapshots_total", RECEIVED),
      snapshotSeconds: sumOfMetric(metrics, "quoin_raft_snapshot_duration_seconds_sum", /"received"/),
    };
  }

  /** Stops all members in order, and starts them again. Returns the milliseconds of the start, until all serve. */
  async restartAll(): Promise<number> {
    await this.#stopProcesses();
    const startMs = performance.now();
    this.#cluster = await this.#launcher.LocalCluster.start(this.#options, this.#ending);
    await this.untilAllReady();
    const tookMs = performance.now() - startMs;
    this.#pids.splice(0, MEMBERS, ...this.#cluster.memberPids);
    return tookMs;
  }

  /** Lets the member lead. */
  async transferLeadership(at: number): Promise<void> {
    await this.#change(async (admin) => admin.transferLeadership({ targetId: await idOf(admin, this.nameOf(at)) }));
  }

  /** Changes settings of the cluster; see `AdminClient.putSettings`. */
  async putSettings(values: ReadonlyMap<string, number>): Promise<void> {
    await this.#change((admin) => admin.putSettings(values));
  }

  /** Writes a backup into the store of this member, with every write so far. */
  async backUp(at: number): Promise<Backup> {
    const startMs = performance.now();
    const id = await this.#admin(at).startBackup();
    const ended = async () => {
      const { run } = await this.#admin(at).getBackupStatus(id);
      return run === undefined || run.endedMs === 0 ? null : run;
    };
    const { bytes, error } = await this.#until("the backup to end", ended, READY_WAIT);
    if (error !== "") {
      throw new Error(`the backup failed: ${error}`);
    }
    return { seconds: (performance.now() - startMs) / 1_000, bytes };
  }

  /** Reads a snapshot of this member to its end, and returns its bytes. */
  async readSnapshot(at: number): Promise<number> {
    let bytes = 0;
    for await (const chunk of (await this.#admin(at).snapshot()).chunks) {
      bytes += chunk.length;
    }
    return bytes;
  }

  async stop(): Promise<void> {
    for (const admin of this.#admins) {
      admin.close();
    }
    await this.#stopProcesses();
  }

  /** The leader, as soon as there is one in this term or a later one. */
  untilLeader(termMin = 0): Promise<Leadership> {
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
    return this.#until("a leader", find, WAIT);
  }

  #until<Result>(what: string, attempt: Attempt<Result>, limits: typeof WAIT): Promise<Result> {
    const unlessEnding = (): ReturnType<Attempt<Result>> => {
      this.#ending.throwIfAborted();
      return attempt();
    };
    return until(what, unlessEnding, limits);
  }

  async #stopProcesses(): Promise<void> {
    await Promise.all([...this.#restarted.values()].map((member) => member.stop()));
    this.#restarted.clear();
    await this.#cluster.stop();
  }

  /** Changes the cluster at its leader, as soon as that is possible. */
  async #change(change: (admin: AdminClient) => Promise<unknown>): Promise<void> {
    const attempt = async (): Promise<boolean> => {
      const { at } = await this.untilLeader();
      try {
        await change(this.#admin(at));
        return true;
      } catch (error) {
        if (isQuoinError(error, ...PASSING) || (isQuoinError(error) && PASSING_CODES.has(error.code))) {
          return false;
        }
        throw error;
      }
    };
    await this.#until("the change of the cluster", attempt, READY_WAIT);
  }

  #admin(at: number): AdminClient {
    return this.#admins[at] as AdminClient;
  }

  #healthOf(at: number): string {
    return this.#cluster.members[at]?.health as string;
  }
}

async function idOf(admin: AdminClient, name: string): Promise<string> {
  const { members } = await admin.listMembers();
  const id = members.find((member) => member.name === name)?.id;
  if (id === undefined) {
    throw new Error(`the cluster has no member ${name}`);
  }
  return id;
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
