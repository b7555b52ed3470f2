/** A NATS server's reports about itself over HTTP, as far as the benchmark needs them. */

import type { MemberReport, StreamReport } from "./measured-cluster.ts";

/** Accounts with Raft groups: that of the cluster itself, and that of all streams. */
const ACCOUNTS = ["$SYS", "$G"];
const STATE_LEADER = "LEADER";
const PERSIST_ASYNC = "async";
const STORAGE_FILE = "file";
/** The Raft group that places streams. */
export const META_GROUP = "_meta_";

export interface Server {
  readonly version: string;
  /** Whether every write is synced before it is acknowledged. */
  readonly isSynced: boolean;
  /** Members of the cluster, including this one; 0 while it knows none. */
  readonly clusterSize: number;
  /** Other members that follow this one closely; 0 unless this one leads the cluster. */
  readonly followers: number;
}

/** A Raft group, in the view of one of its members. */
export interface RaftGroup {
  readonly name: string;
  readonly isLeader: boolean;
  readonly term: number;
}

export class NatsMonitoring {
  readonly #url: string;

  /** @param endpoint host:port of the server's monitoring. */
  constructor(endpoint: string) {
    this.#url = `http://${endpoint}`;
  }

  /** Whether the server has started and has caught up with its cluster; false also while it does not listen. */
  async isHealthy(): Promise<boolean> {
    try {
      return (await fetch(`${this.#url}/healthz`)).ok;
    } catch {
      return false;
    }
  }

  async readServer(): Promise<Server> {
    return serverOf(await this.#read("/varz"));
  }

  /** The Raft groups of this member. */
  async readGroups(): Promise<readonly RaftGroup[]> {
    const answers = await Promise.all(
      ACCOUNTS.map((account) => this.#read(`/raftz?acc=${encodeURIComponent(account)}`)),
    );
    return answers.flatMap(raftGroupsOf);
  }

  /** @param endpoint address of the member for clients. */
  async readReport(endpoint: string): Promise<MemberReport> {
    const [server, streams] = await Promise.all([
      this.readServer(),
      this.#read("/jsz?accounts=true&streams=true&config=true"),
    ]);
    return { endpoint, isSynced: server.isSynced, clusterSize: server.clusterSize, streams: streamsOf(streams) };
  }

  async #read(path: string): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`);
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`GET ${path} of NATS was answered with ${response.status}: ${text}`);
    }
    return JSON.parse(text);
  }
}

interface Varz {
  readonly version: string;
  readonly jetstream?: {
    readonly config?: { readonly sync_always?: boolean };
    readonly meta?: {
      readonly cluster_size: number;
      readonly replicas?: readonly { readonly current: boolean; readonly offline?: boolean }[];
    };
  };
}

/** The figures of an answer to `/varz`. */
export function serverOf(answer: unknown): Server {
  const { version, jetstream } = answer as Varz;
  const { cluster_size: clusterSize = 0, replicas = [] } = jetstream?.meta ?? {};
  return {
    version,
    isSynced: jetstream?.config?.sync_always === true,
    clusterSize,
    followers: replicas.filter(({ current, offline }) => current && offline !== true).length,
  };
}

/** Groups by account and by name. */
type Raftz = Readonly<Record<string, Readonly<Record<string, { readonly state: string; readonly term: number }>>>>;

/** The groups of an answer to `/raftz`. */
export function raftGroupsOf(answer: unknown): readonly RaftGroup[] {
  return Object.values(answer as Raftz).flatMap((groups) =>
    Object.entries(groups).map(([name, { state, term }]) => ({ name, isLeader: state === STATE_LEADER, term })),
  );
}

interface Jsz {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly {
      readonly name: string;
      readonly config: { readonly num_replicas: number; readonly storage: string; readonly persist_mode?: string };
    }[];
  }[];
}

/** The streams in an answer to `/jsz`; the request must include their configurations. */
export function streamsOf(answer: unknown): readonly StreamReport[] {
  const { account_details: accounts = [] } = answer as Jsz;
  return accounts
    .flatMap(({ stream_detail: streams = [] }) => streams)
    .map(({ name, config }) => ({
      name,
      replicas: config.num_replicas,
      isInFiles: config.storage === STORAGE_FILE,
      isAsynchronous: config.persist_mode === PERSIST_ASYNC,
    }));
}

/**
 * The position of the cluster's leader among the members, and a number that grows with each election of the cluster or
 * of a stream: the sum of all terms. Null while a group has no leader, or several members report that they lead.
 */
export function leadershipOf(members: readonly (readonly RaftGroup[])[]): { at: number; term: number } | null {
  const names = new Set(members.flatMap((groups) => groups.map(({ name }) => name)));
  let leaderAt: number | null = null;
  let term = 0;
  for (const name of names) {
    const views = members.map((groups) => groups.find((group) => group.name === name));
    if (views.filter((view) => view?.isLeader).length !== 1) {
      return null;
    }
    term += Math.max(...views.map((view) => view?.term ?? 0));
    if (name === META_GROUP) {
      leaderAt = views.findIndex((view) => view?.isLeader);
    }
  }
  return leaderAt === null ? null : { at: leaderAt, term };
}
