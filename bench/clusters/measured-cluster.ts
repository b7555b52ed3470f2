/**
 * A cluster that can be measured, whatever it is made of: where its members are, which of them leads, and how to put and
 * get over a connection. Every kind of cluster is measured by the same program through this.
 */

import { setTimeout as sleep } from "node:timers/promises";

export interface MeasuredMember {
  /** Where clients reach it, as `host:port`. */
  readonly endpoint: string;
  readonly pid: number;
}

/** One connection to one member. A call that fails rejects; nothing is retried. */
export interface Connection {
  /** Stores the value and returns the revision of the cluster after it. */
  put(key: string, value: Buffer): Promise<bigint>;
  /** Reads linearizably. A key that is not there is an error. */
  get(key: string): Promise<{ readonly value: Uint8Array; readonly revision: bigint }>;
  close(): void;
}

export interface MeasuredCluster {
  /** What it is, such as `etcd`, and its version. */
  readonly name: string;
  readonly version: string;
  readonly members: readonly MeasuredMember[];
  /** The member that leads; null while none does, or more than one says so. */
  findLeader(): Promise<MeasuredMember | null>;
  connect(member: MeasuredMember): Promise<Connection>;
  stop(): Promise<void>;
}

const POLL_MS = 50;
/** An election takes a second or two; a machine that is busy with other things needs longer. */
const LEADER_TIMEOUT_MS = 60_000;

/** The member that leads, as soon as there is one. Raises an error if there is none for a minute, or when interrupted. */
export async function untilLeader(cluster: MeasuredCluster, interrupted: AbortSignal): Promise<MeasuredMember> {
  const deadlineMs = performance.now() + LEADER_TIMEOUT_MS;
  for (;;) {
    interrupted.throwIfAborted();
    const leader = await cluster.findLeader();
    if (leader !== null) {
      return leader;
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`${cluster.name} has no leader after ${LEADER_TIMEOUT_MS} ms`);
    }
    await sleep(POLL_MS, undefined, { signal: interrupted });
  }
}
