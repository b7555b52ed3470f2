/**
 * How far a member is behind the leader, and whether it may serve clients.
 *
 * What a follower knows as committed is never more than what it holds, so it cannot see its own lag: the leader tells
 * how far it is. A member that has just started serves nobody before it has what was committed when it heard a leader.
 */

import type { CoreLimits, RaftCore } from "../raft/index.ts";
import type { CommitTimes } from "./commit-times.ts";

/** Who has heard no leader, or lags behind in applying, for longer does not serve, in milliseconds. */
const BEHIND_MS_MAX = 5_000;

export class Freshness {
  readonly #core: RaftCore;
  readonly #commitTimes: CommitTimes;
  readonly #limits: CoreLimits;
  readonly #tickMs: number;
  /** What was committed when this start first heard of a leader; null = it has heard of none. */
  #catchUpIndex: number | null = null;

  /** `tickMs` are the milliseconds of a tick of the core. */
  constructor(core: RaftCore, commitTimes: CommitTimes, limits: CoreLimits, tickMs: number) {
    this.#core = core;
    this.#commitTimes = commitTimes;
    this.#limits = limits;
    this.#tickMs = tickMs;
  }

  /** The leader that was heard lately, 0 = none: what is applied here may be of any age then. */
  get leader(): number {
    const { leader, contactAgeTicks } = this.#core;
    return contactAgeTicks > this.#limits.contactTicks ? 0 : leader;
  }

  /** The leader has told how far it is. */
  onLeaderCommit(commitIndex: number, nowMs: number): void {
    this.#commitTimes.observe(commitIndex, nowMs);
    this.#catchUpIndex ??= commitIndex;
  }

  /** Whether a voter that has applied so much can answer clients now. */
  isFresh(appliedIndex: number, nowMs: number): boolean {
    const core = this.#core;
    const hasCaughtUp = this.#catchUpIndex !== null && appliedIndex >= this.#catchUpIndex;
    const isLed = core.role === "leader" ? core.isSettledLeader : core.role === "follower" && hasCaughtUp;
    const isInContact = core.leader !== 0 && core.contactAgeTicks * this.#tickMs <= BEHIND_MS_MAX;
    return isLed && isInContact && this.#commitTimes.lagMs(appliedIndex, nowMs) <= BEHIND_MS_MAX;
  }
}
