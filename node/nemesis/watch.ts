/**
 * Watches a cluster while faults are made: whether members that have applied the same log have the same state, and how
 * processes end. It also gives the load new keys from time to time, so that each history of a key stays short enough to
 * be judged.
 */

import type { ClusterMember, ClusterUnderTest, ConcurrentLoad, Ended } from "../test/harness/index.ts";
import { pause } from "../test/harness/index.ts";

const INTERVAL_MS = 250;
/** Operations of one generation of keys, of all outcomes and of unknown outcome. */
const OPERATIONS_MAX = 1_500;
const UNKNOWN_MAX = 15;
/** Specified ends: in order, or because the member was removed. */
const ORDINARY_CODES: ReadonlySet<number> = new Set([0, 74]);
/** Specified ends of a member whose disk or data is not right. */
const EXCUSED_CODES: ReadonlySet<number> = new Set([71, 73]);

interface ProcessEnd extends Ended {
  readonly name: string;
  readonly pid: number;
  readonly isKilled: boolean;
}

export class Watch {
  readonly #cluster: ClusterUnderTest;
  readonly #load: ConcurrentLoad;
  readonly #excused = new Set<string>();
  /** State hashes by the log index up to which they hold, and who said so first. */
  readonly #hashes = new Map<number, { readonly hash: string; readonly name: string }>();
  readonly #pids = new Set<number>();
  readonly #ends: ProcessEnd[] = [];
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

  /** A member's disk may refuse writes from now on, or its data be damaged: it may end because of that. */
  excuse(name: string): void {
    this.#excused.add(name);
  }

  /** Rules that were broken so far, in words. */
  get violations(): readonly string[] {
    const ends = this.#ends.filter((end) => !this.#isSpecified(end));
    const unspecified = ends.map(({ name, pid, code, signal }) => {
      return `the process ${pid} of ${name} ended with ${code ?? signal} without a fault that explains it, see its log`;
    });
    return [...this.#violations, ...unspecified];
  }

  async #watch(): Promise<void> {
    while (!this.#isStopping) {
      await Promise.all(this.#cluster.members.map((member) => this.#look(member)));
      this.#renewKeys();
      await pause(INTERVAL_MS);
    }
  }

  async #look(member: ClusterMember): Promise<void> {
    if (!member.isAlive) {
      return;
    }
    const { name, pid } = member;
    if (!this.#pids.has(pid)) {
      this.#pids.add(pid);
      void member.ended.then((end) => this.#ends.push({ ...end, name, pid, isKilled: member.isKilled }));
    }
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

  #isSpecified({ name, code, isKilled }: ProcessEnd): boolean {
    if (code === null) {
      // Not by a fault: by itself because of its disk, by a system without memory, by somebody else. Nobody can tell what
      // such a run shows.
      return isKilled;
    }
    return ORDINARY_CODES.has(code) || (EXCUSED_CODES.has(code) && this.#excused.has(name));
  }
}
