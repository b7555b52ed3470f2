/**
 * A cluster that can be measured, whatever it is made of: where its members are, which of them leads, and how to connect
 * to them. Every kind of cluster is measured by the same program through this.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Connection, WatchConnection } from "./connection.ts";
import type { RawCalls } from "./raw-calls.ts";

export interface MeasuredMember {
  /** Where clients reach it, as `host:port`. */
  readonly endpoint: string;
  readonly pid: number;
}

export interface Leadership {
  readonly leader: MeasuredMember;
  /** Grows with each election. */
  readonly term: number;
}

/** What a running member says of its own settings, as far as a comparison depends on them. */
export interface MemberReport {
  readonly endpoint: string;
  /** Whether it acknowledges a write only when the write is synced. */
  readonly isSynced: boolean;
  /** How many members its cluster has, itself included. */
  readonly clusterSize: number;
  /** The streams that it has a replica of. */
  readonly streams: readonly StreamReport[];
}

export interface StreamReport {
  readonly name: string;
  readonly replicas: number;
  readonly isInFiles: boolean;
  /** Whether its messages are acknowledged before they are synced, whatever its member does. */
  readonly isAsynchronous: boolean;
}

export interface MeasuredCluster {
  /** What it is, such as `etcd`, and its version. */
  readonly name: string;
  readonly version: string;
  /** Its settings that are not the defaults of the system, in one line for reports; empty = none. */
  readonly settings: string;
  readonly members: readonly MeasuredMember[];
  /** The member that leads; null while none does, or more than one says so. */
  findLeader(): Promise<Leadership | null>;
  connect(member: MeasuredMember): Promise<Connection>;
  /** Rejects for a system that has no watches of keys. */
  connectWatches(member: MeasuredMember): Promise<WatchConnection>;
  /**
   * The largest delay of each member's event loop since this was called last, in milliseconds and in the order of the
   * members; null for a system that has no event loop.
   */
  takeLoopDelaysMs(): Promise<readonly number[] | null>;
  /** Its calls for keys, as bytes; null for a system without such calls. */
  rawCalls(): Promise<RawCalls | null>;
  /** What each running member says of its settings; null for a system whose command lines say it. */
  readReports(): Promise<readonly MemberReport[] | null>;
  stop(): Promise<void>;
}

const POLL_MS = 50;
/** An election takes a second or two; a machine that is busy with other things needs longer. */
const LEADER_TIMEOUT_MS = 60_000;

/** Who leads, as soon as somebody does. Raises an error if nobody does for a minute, or when interrupted. */
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
