/**
 * Whether the members still have the same state, as far as the leader is told (P44).
 *
 * Members tell the leader the digest that their state had at their newest checkpoint. The leader compares it with its own
 * at the same index. When most voters have what it has, it logs that digest, and every member that has another one stops
 * serving when it applies the entry. When most voters have another one than the leader, it is the leader that is wrong: it
 * logs nothing and stops. While neither is known, because others are away, nothing is decided, so that no good state is
 * given up for a bad one; but it is said. If nobody is away and there is no majority, as between two, the leader's counts.
 */

import { members, type RaftCore } from "../raft/index.ts";
import type { CheckDigest, Checkpoint, Checkpoints, Divergence } from "../state/index.ts";

export interface StateComparisonOptions {
  readonly memberId: number;
  readonly core: RaftCore;
  readonly checkpoints: () => Checkpoints;
}

/** How the state of another member stands to the own one: what differs once, differs for ever. */
interface Verdict {
  /** The newest checkpoint that was compared. */
  readonly index: number;
  readonly isSame: boolean;
}

export class StateComparison {
  readonly #options: StateComparisonOptions;
  readonly #verdicts = new Map<number, Verdict>();
  /** What others have told of indexes to which this member has not come yet. */
  readonly #ahead = new Map<number, Checkpoint>();
  /** Index of the newest checkpoint that this member, leading, has logged. */
  #loggedIndex = 0;

  constructor(options: StateComparisonOptions) {
    this.#options = options;
  }

  /** Another member has told what its state is. */
  onReport(peer: number, checkpoint: Checkpoint | null): void {
    if (checkpoint === null) {
      return;
    }
    if (checkpoint.index <= this.#newestIndex) {
      this.#compare(peer, checkpoint);
    } else if (!this.#ahead.has(peer)) {
      // The first one stays: under load the newest may always be ahead.
      this.#ahead.set(peer, checkpoint);
    }
  }

  /** This member may have applied more. */
  catchUp(): void {
    for (const [peer, checkpoint] of this.#ahead) {
      if (checkpoint.index <= this.#newestIndex) {
        this.#ahead.delete(peer);
        this.#compare(peer, checkpoint);
      }
    }
  }

  /** Forgets what others told: this member does not lead. */
  clear(): void {
    this.#verdicts.clear();
    this.#ahead.clear();
    this.#loggedIndex = 0;
  }

  /** What is wrong, for operators. */
  get alarms(): string[] {
    const others = [...this.#verdicts].filter(([, { isSame }]) => !isSame);
    if (others.length === 0) {
      return [];
    }
    const present = members(this.#options.core.configuration);
    const left = others.filter(([id]) => present.includes(id));
    return left.map(([id, { index }]) => `member ${id} had another state than this one at log index ${index}`);
  }

  /** Why the state of this member, leading, is not that of the cluster; null unless that is certain. */
  get objection(): string | null {
    const { voters } = this.#options.core.configuration;
    const others = voters.filter((id) => this.#verdicts.get(id)?.isSame === false);
    const isMost = others.length * 2 > voters.length;
    return isMost ? `most voters, members ${others.join(", ")}, have another state than this one` : null;
  }

  /** What this member, leading, is to log next; null if nothing. */
  next(): CheckDigest | null {
    const index = this.#agreedIndex();
    const digest = this.#options.checkpoints().digestAt(index);
    if (index <= this.#loggedIndex || digest === undefined) {
      return null;
    }
    this.#loggedIndex = index;
    return { kind: "check-digest", index, digest };
  }

  get #newestIndex(): number {
    return this.#options.checkpoints().newest?.index ?? 0;
  }

  #compare(peer: number, { index, digest }: Checkpoint): void {
    const own = this.#options.checkpoints().digestAt(index);
    const isNews = index >= (this.#verdicts.get(peer)?.index ?? 0);
    if (own !== undefined && isNews) {
      this.#verdicts.set(peer, { index, isSame: digest === own });
    }
  }

  /** The newest checkpoint at which the state of this member counts as that of the cluster; 0 if there is none. */
  #agreedIndex(): number {
    const { core, memberId } = this.#options;
    const { voters } = core.configuration;
    const own = this.#newestIndex;
    if (members(core.configuration).every((id) => id === memberId)) {
      // There is nobody to compare with.
      return 0;
    }
    const verdicts = voters.map((id) => (id === memberId ? { index: own, isSame: true } : this.#verdicts.get(id)));
    const same = verdicts.map((verdict) => (verdict?.isSame === true ? verdict.index : 0)).sort((a, b) => b - a);
    const byMost = same[Math.floor(voters.length / 2)] ?? 0;
    const isOpen = verdicts.some((verdict) => verdict === undefined);
    return byMost > 0 || isOpen ? byMost : Math.min(...verdicts.map((verdict) => verdict?.index ?? 0));
  }
}

/** Why a member whose state has diverged stops, for operators. */
export function describeDivergence({ index, digest, toldDigest }: Divergence): string {
  const [own, cluster] = [hexOf(digest), hexOf(toldDigest)];
  return `at log index ${index} the state of this member had the digest ${own}, and that of the cluster ${cluster}`;
}

function hexOf(digest: number): string {
  return digest.toString(16).padStart(8, "0");
}
