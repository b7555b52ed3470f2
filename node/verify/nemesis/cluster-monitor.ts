/**
 * Watches a cluster while faults are made: checks that members that have applied the same log have the same state, and
 * how processes end. It also gives the load new keys from time to time, so that the history of each key stays short
 * enough to judge.
 */

import type { ClusterMember, ClusterUnderTest, ConcurrentLoad, ProcessEnd } from "../../test/harness/index.ts";
import { pause } from "../../test/harness/index.ts";
import { isSpecified } from "./specified-end.ts";

const INTERVAL_MS = 250;
/** Operations of one generation of keys, of all outcomes and of unknown outcome. */
const OPERATIONS_MAX = 1_500;
const UNKNOWN_MAX = 15;

/** The time in which a member's process may end because of its disk or data. */
interface Excuse {
  readonly name: string;
  readonly fromMs: number;
  toMs: number;
}

export class ClusterMonitor {
  readonly #cluster: ClusterUnderTest;
  readonly #load: ConcurrentLoad;
  readonly #excuses: Excuse[] = [];
  readonly #mayBeKilled = new Set<number>();
  /** State hashes by log index, and the member that reported each first. */
  readonly #hashes = new Map<number, { readonly hash: string; readonly name: string }>();
  /** All members that ever existed. */
  readonly #members = new Set<ClusterMember>();
  readonly #violations = new Set<string>();
  #renewedAt = { operations: 0, unknown: 0 };
  #isStopping = false;
  #watching: Promise<void> = Promise.resolve();

  constructor(cluster: ClusterUnderTest, load: ConcurrentLoad) {
    this.#cluster = cluster;
    this.#load = load;
  }

  start(): void {
    this.#watching = this.#watch().catch((error: unknown) => {
      this.#violations.add(`a member gave no status: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#watching;
  }

  /**
   * A member's disk may refuse writes from now on, or its data is damaged: it may end because of that until the
   * returned function is called.
   */
  excuse(name: string): () => void {
    const excuse: Excuse = { name, fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY };
    this.#excuses.push(excuse);
    return () => {
      excuse.toMs = performance.now();
    };
  }

  /** The system may kill this process, which gets too little memory. */
  excuseKill(pid: number): void {
    this.#mayBeKilled.add(pid);
  }

  /** Descriptions of the violations so far. */
  get violations(): readonly string[] {
    const unspecified = [...this.#members].flatMap(({ name, ends }) =>
      ends
        .filter((end) => !this.#isSpecified(name, end))
        .map(({ pid, code, signal }) => {
          return `the process ${pid} of ${name} ended with ${code ?? signal} without a fault that explains it, see its log`;
        }),
    );
    return [...this.#violations, ...unspecified];
  }

  async #watch(): Promise<void> {
    while (!this.#isStopping) {
      await Promise.all(this.#cluster.members.map((member) => this.#check(member)));
      this.#renewKeys();
      await pause(INTERVAL_MS);
    }
  }

  async #check(member: ClusterMember): Promise<void> {
    this.#members.add(member);
    const { name } = member;
    const status = await member.status();
    if (status === null || status.stateHash === "" || status.stateHashIndex === 0) {
      return;
    }
    const { stateHash: hash, stateHashIndex: index } = status;
    const known = this.#hashes.get(index);
    if (known === undefined) {
      this.#hashes.set(index, { hash, name });
    } else if (known.hash !== hash) {
      this.#violations.add(`states differ at index ${index}: ${known.name} has ${known.hash}, ${name} has ${hash}`);
    }
  }

  #renewKeys(): void {
    const { operations, unknown } = this.#load.progress;
    const last = this.#renewedAt;
    if (operations - last.operations >= OPERATIONS_MAX || unknown - last.unknown >= UNKNOWN_MAX) {
      this.#load.renewKeys();
      this.#renewedAt = { operations, unknown };
    }
  }

  #isSpecified(name: string, end: ProcessEnd): boolean {
    const isExcused = this.#excuses.some((one) => one.name === name && one.fromMs <= end.atMs && end.atMs <= one.toMs);
    return isSpecified(end, { isExcused, mayBeKilled: this.#mayBeKilled.has(end.pid) });
  }
}
