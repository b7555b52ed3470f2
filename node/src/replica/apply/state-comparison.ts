/**
 * Detects whether the members still have the same state, from their reports to the leader (P44).
 *
 * Members report the digest of their state at their newest checkpoint. The leader compares it with its own at the same
 * index. If most voters have the leader's digest, the leader logs it. Every member with another digest stops serving
 * when it applies that entry. If most voters have another digest than the leader, the leader is wrong: it logs nothing
 * and stops.
 *
 * While members are away and neither is certain, the leader decides nothing, so that no good state is given up for a
 * bad one; it only raises an alarm. If no voter is away and there is no majority, as with two voters, the leader's
 * digest counts.
 */

import { members } from "../../raft/index.ts";
import type { CheckDigest, Checkpoint } from "../../state/index.ts";
import type { ReplicaContext } from "../context/index.ts";
import type { ApplyLoop } from "./apply-loop.ts";

/** What this part shares with others. */
export type StateComparisonContext = Pick<ReplicaContext, "memberId" | "core">;

/** Result of the comparison with another member. A state that differs once differs for ever. */
interface Verdict {
  /** The newest checkpoint that was compared. */
  readonly index: number;
  readonly isSame: boolean;
}

export class StateComparison {
  readonly #context: StateComparisonContext;
  readonly #applyLoop: Pick<ApplyLoop, "checkpoints">;
  readonly #verdicts = new Map<number, Verdict>();
  /** Reports of others about indexes that this member has not reached yet. */
  readonly #ahead = new Map<number, Checkpoint>();
  /** Index of the newest checkpoint that this member has logged as leader. */
  #loggedIndex = 0;

  constructor(context: StateComparisonContext, applyLoop: Pick<ApplyLoop, "checkpoints">) {
    this.#context = context;
    this.#applyLoop = applyLoop;
  }

  /** Another member has reported its digest. */
  onReport(peer: number, checkpoint: Checkpoint | null): void {
    if (checkpoint === null) {
      return;
    }
    if (checkpoint.index <= this.#newestIndex) {
      this.#compare(peer, checkpoint);
    } else if (!this.#ahead.has(peer)) {
      // Keep the first one: under load the newest may always be ahead.
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

  /** Forgets all reports, because this member does not lead. */
  clear(): void {
    this.#verdicts.clear();
    this.#ahead.clear();
    this.#loggedIndex = 0;
  }

  /** Current problems, for operators. */
  get alarms(): string[] {
    const others = [...this.#verdicts].filter(([, { isSame }]) => !isSame);
    if (others.length === 0) {
      return [];
    }
    const present = members(this.#context.core.configuration);
    const left = others.filter(([id]) => present.includes(id));
    return left.map(([id, { index }]) => `member ${id} had another state than this one at log index ${index}`);
  }

  /** Why the state of this leader is certainly wrong; null if that is not certain. */
  get objection(): string | null {
    const { voters } = this.#context.core.configuration;
    const others = voters.filter((id) => this.#verdicts.get(id)?.isSame === false);
    const isMost = others.length * 2 > voters.length;
    return isMost ? `most voters, members ${others.join(", ")}, have another state than this one` : null;
  }

  /** The digest that this leader must log next; null if there is none. */
  next(): CheckDigest | null {
    const index = this.#agreedIndex();
    const digest = this.#applyLoop.checkpoints.digestAt(index);
    if (index <= this.#loggedIndex || digest === undefined) {
      return null;
    }
    this.#loggedIndex = index;
    return { kind: "check-digest", index, digest };
  }

  get #newestIndex(): number {
    return this.#applyLoop.checkpoints.newest?.index ?? 0;
  }

  #compare(peer: number, { index, digest }: Checkpoint): void {
    const own = this.#applyLoop.checkpoints.digestAt(index);
    const isNews = index >= (this.#verdicts.get(peer)?.index ?? 0);
    if (own !== undefined && isNews) {
      this.#verdicts.set(peer, { index, isSame: digest === own });
    }
  }

  /** The newest checkpoint at which the state of this member counts as that of the cluster; 0 if there is none. */
  #agreedIndex(): number {
    const { core, memberId } = this.#context;
    const { voters } = core.configuration;
    const own = this.#newestIndex;
    if (members(core.configuration).every((id) => id === memberId)) {
      // There is no other member to compare with.
      return 0;
    }
    const verdicts = voters.map((id) => (id === memberId ? { index: own, isSame: true } : this.#verdicts.get(id)));
    const same = verdicts.map((verdict) => (verdict?.isSame === true ? verdict.index : 0)).sort((a, b) => b - a);
    const byMost = same[Math.floor(voters.length / 2)] ?? 0;
    const isOpen = verdicts.some((verdict) => verdict === undefined);
    return byMost > 0 || isOpen ? byMost : Math.min(...verdicts.map((verdict) => verdict?.index ?? 0));
  }
}
