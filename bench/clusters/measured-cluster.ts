/**
 * A cluster of any kind, as an object of measurement: its members, its leader, and connections to them. The same
 * program measures every kind of cluster through this interface.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Connection, WatchConnection } from "./connection.ts";
import type { RawCalls } from "./raw-calls.ts";

export interface MeasuredMember {
  /** The address for clients, as `host:port`. */
  readonly endpoint: string;
  readonly pid: number;
}

export interface Leadership {
  readonly leader: MeasuredMember;
  /** Grows with each election. */
  readonly term: number;
}

/** A running member's own report of its settings, as far as a comparison depends on them. */
export interface MemberReport {
  readonly endpoint: string;
  /** Whether it acknowledges a write only when the write is synced. */
  readonly isSynced: boolean;
  /** The number of members of its cluster, including itself. */
  readonly clusterSize: number;
  /** The streams with a replica on this member. */
  readonly streams: readonly StreamReport[];
}

export interface StreamReport {
  readonly name: string;
  readonly replicas: number;
  readonly isInFiles: boolean;
  /** Whether its messages are acknowledged before they are synced, independent of the member's setting. */
  readonly isAsynchronous: boolean;
}

export interface MeasuredCluster {
  /** The name of the system, such as `etcd`, and its version. */
  readonly name: string;
  readonly version: string;
  /** Settings that differ from the defaults of the system, in one line for reports; empty = none. */
  readonly settings: string;
  readonly members: readonly MeasuredMember[];
  /** The current leader; null if no member leads, or several report that they lead. */
  findLeader(): Promise<Leadership | null>;
  connect(member: MeasuredMember): Promise<Connection>;
  /** Rejects for a system without watches of keys. */
  connectWatches(member: MeasuredMember): Promise<WatchConnection>;
  /**
   * The largest delay of each member's event loop since the last call, in milliseconds and in the order of the members;
   * null for a system without event loops.
   */
  takeLoopDelaysMs(): Promise<readonly number[] | null>;
  /** Its calls for keys, as bytes; null for a system without such calls. */
  rawCalls(): Promise<RawCalls | null>;
  /** Each running member's report of its settings; null for a system whose command lines contain them. */
  readReports(): Promise<readonly MemberReport[] | null>;
  stop(): Promise<void>;
}

const POLL_MS = 50;
/** An election takes a second or two; a busy machine needs longer. */
const LEADER_TIMEOUT_MS = 60_000;

/** Returns the leader as soon as there is one. Raises an error after a minute without one, or when interrupted. */
export async function untilLeader(cluster: MeasuredCluster, interrupted: AbortSignal): Promise<Leadership> {
  const deadlineMs = performance.now() + LEADER_TIMEOUT_MS;
  for (;;) {
    interrupted.throwIfAborted();
    const leadership = await cluster.findLeader();
    if (leadership !== null) {
      return leadership;
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`${cluster.name} has no leader after ${LEADER_TIMEOUT_MS} ms`);
    }
    await sleep(POLL_MS, undefined, { signal: interrupted });
  }
}
