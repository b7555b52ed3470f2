/**
 * How far this member is behind the leader, and whether it may serve clients.
 *
 * A follower's own commit index never exceeds its log, so it cannot see its own lag: the leader sends its commit index.
 * A member that has just started serves no client before it has applied what was committed when it first heard a
 * leader.
 */

import type { CoreLimits } from "../../raft/index.ts";
import type { ReplicaContext } from "../context/index.ts";

/**
 * A member that has heard no leader, or lags behind in applying, for longer than this does not serve, in milliseconds.
 */
const LAG_MS_MAX = 5_000;

/** What this part shares with others. */
export type FreshnessContext = Pick<ReplicaContext, "core" | "coreTickMs" | "commitTimes"> & {
  readonly limits: { readonly core: Pick<CoreLimits, "contactTicks"> };
};

export class Freshness {
  readonly #context: FreshnessContext;
  /** The commit index when this process first heard a leader; null = it has heard none. */
  #catchUpIndex: number | null = null;

  constructor(context: FreshnessContext) {
    this.#context = context;
  }

  /** The leader that was heard lately. 0 = none: the applied state may be of any age then. */
  get leader(): number {
    const { leader, contactAgeTicks } = this.#context.core;
    return contactAgeTicks > this.#context.limits.core.contactTicks ? 0 : leader;
  }

  /** The leader has sent its commit index. */
  onLeaderCommit(commitIndex: number, nowMs: number): void {
    this.#context.commitTimes.observe(commitIndex, nowMs);
    this.#catchUpIndex ??= commitIndex;
  }

  /** Why no leader can serve clients now; null if one can. */
  noLeaderReason(): string | null {
    const { role, leader, contactAgeTicks, hasCommittedInTerm } = this.#context.core;
    const isLeader = role === "leader";
    if (leader === 0 || (!isLeader && role !== "follower")) {
      return "no leader is known";
    }
    const contactAgeMs = contactAgeTicks * this.#context.coreTickMs;
    if (contactAgeMs > LAG_MS_MAX) {
      return `${isLeader ? "a majority" : "the leader"} was heard ${contactAgeMs} ms ago, more than ${LAG_MS_MAX}`;
    }
    return isLeader && !hasCommittedInTerm ? "this member leads, and has not committed an entry of its term yet" : null;
  }

  /** Why this member, with entries applied up to the index, cannot answer clients now; null if it can. */
  lagReason(appliedIndex: number, nowMs: number): string | null {
    const isLeader = this.#context.core.role === "leader";
    if (!isLeader && (this.#catchUpIndex === null || appliedIndex < this.#catchUpIndex)) {
      return "this member has not applied what was committed when it first heard a leader";
    }
    const lagMs = this.#context.commitTimes.lagMs(appliedIndex, nowMs);
    return lagMs > LAG_MS_MAX ? `what is applied is ${lagMs} ms behind, more than ${LAG_MS_MAX}` : null;
  }
}
