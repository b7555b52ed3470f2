/**
 * Reports of a driver: its progress, whether it can serve clients or why not, and, while it leads, the lag of its
 * peers.
 */

import type { Progress } from "../../state/index.ts";
import type { ApplyLoop, StateComparison } from "../apply/index.ts";
import type { Eligibility, ReplicaContext, ReplicaStatus } from "../context/index.ts";
import type { Snapshots } from "../snapshots/index.ts";
import type { Freshness } from "./freshness.ts";

/** What this part shares with others. */
export type ReplicaReportContext = Pick<ReplicaContext, "memberId" | "core" | "coreTickMs" | "commitTimes" | "clock">;

export interface ReplicaReportOptions {
  readonly applyLoop: ApplyLoop;
  readonly snapshots: Snapshots;
  readonly eligibility: Eligibility;
  readonly freshness: Freshness;
  readonly comparison: StateComparison;
}

/** Reasons why a member cannot serve linearizable reads, by check; null = the check passes. */
export interface Readiness {
  /** It is a voter. */
  readonly voter: string | null;
  /** It hears a leader, or leads and hears a majority. */
  readonly leader: string | null;
  /** Its applied state is recent enough to answer. */
  readonly applied: string | null;
  /** Its disk and data are healthy. */
  readonly disk: string | null;
}

/** What a leader knows about another member. */
export interface PeerReport {
  readonly id: number;
  /** Entries in the leader's log that the peer has not acknowledged. */
  readonly missingEntries: number;
  /** Age of the oldest committed entry that it has not acknowledged, in milliseconds; 0 = there is none. */
  readonly lagMs: number;
  /** Time since its last message, in milliseconds; infinity if there was none. */
  readonly contactAgeMs: number;
}

export class ReplicaReport {
  readonly #context: ReplicaReportContext;
  readonly #options: ReplicaReportOptions;

  constructor(context: ReplicaReportContext, options: ReplicaReportOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** The progress of the state, as of the last applied slice. */
  get progress(): Progress {
    return this.#options.applyLoop.progress;
  }

  /** @param loopLagMs how late the event loop was at the last tick. */
  status(loopLagMs: number, isStopped: boolean): ReplicaStatus {
    const { core, memberId, commitTimes, clock } = this.#context;
    const { applyLoop, freshness, eligibility } = this.#options;
    const { appliedIndex, revision, digest } = applyLoop.progress;
    const { learners, learnersNext } = core.configuration;
    return {
      memberId,
      role: core.role,
      isLearner: learners.includes(memberId) || learnersNext.includes(memberId),
      term: core.term,
      leaderId: freshness.leader,
      commitIndex: core.commitIndex,
      appliedIndex,
      firstIndex: core.firstIndex,
      lastIndex: core.lastIndex,
      lastTerm: core.lastTerm,
      revision,
      digest,
      isServing: !isStopped && Object.values(this.readiness()).every((problem) => problem === null),
      lagMs: commitTimes.lagMs(appliedIndex, clock.monotonicMs()),
      loopLagMs,
      alarms: [...eligibility.alarms, ...this.divergences],
    };
  }

  /** If this member leads: descriptions of members whose state differs from its own, for people. */
  get divergences(): readonly string[] {
    return this.#options.comparison.alarms;
  }

  readiness(): Readiness {
    const { core, memberId, clock } = this.#context;
    const { applyLoop, snapshots, freshness, eligibility } = this.#options;
    const { appliedIndex } = applyLoop.progress;
    const isVoter = core.configuration.voters.includes(memberId);
    const behind = freshness.lagReason(appliedIndex, clock.monotonicMs());
    return {
      voter: isVoter ? null : "this member has no vote",
      leader: freshness.noLeaderReason(),
      applied: snapshots.isCatchingUp ? "this member is being caught up by a snapshot" : behind,
      disk: eligibility.mayServe ? null : eligibility.alarms.join("; "),
    };
  }

  /** The other members, if this one leads. */
  peers(): PeerReport[] {
    const { core, memberId, commitTimes, clock, coreTickMs } = this.#context;
    const { voters, outgoing, learners, learnersNext } = core.configuration;
    const nowMs = clock.monotonicMs();
    return [...new Set([...voters, ...outgoing, ...learners, ...learnersNext])].flatMap((id) => {
      const peer = core.peer(id);
      if (id === memberId || peer === undefined) {
        return [];
      }
      const missingEntries = Math.max(0, core.lastIndex - peer.match);
      const contactAgeMs = core.contactTicksOf(id) * coreTickMs;
      return [{ id, missingEntries, lagMs: commitTimes.lagMs(peer.match, nowMs), contactAgeMs }];
    });
  }
}
