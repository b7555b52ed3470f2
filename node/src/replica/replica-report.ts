/**
 * What a driver says of itself: how far it is, whether it can serve clients and if not why, and, while it leads, how the
 * others are.
 */

import type { RaftCore } from "../raft/index.ts";
import type { Progress } from "../state/index.ts";
import type { ApplyLoop } from "./apply-loop.ts";
import type { Clock } from "./clock.ts";
import type { CommitTimes } from "./commit-times.ts";
import type { Fitness } from "./fitness.ts";
import type { Freshness } from "./freshness.ts";
import type { ReplicaStatus } from "./replica-options.ts";
import type { Snapshots } from "./snapshots.ts";

export interface ReplicaReportOptions {
  readonly memberId: number;
  readonly core: RaftCore;
  readonly applyLoop: ApplyLoop;
  readonly snapshots: Snapshots;
  readonly fitness: Fitness;
  readonly freshness: Freshness;
  readonly commitTimes: CommitTimes;
  readonly clock: Clock;
  /** Milliseconds of a tick of the core. */
  readonly tickMs: number;
  /** In what the states of others differ from that of this member, as far as it can tell. */
  readonly divergences: () => readonly string[];
}

/** What keeps a member from serving linearizable reads, by what was looked at; null where nothing does. */
export interface Readiness {
  /** Whether this member counts in a majority. */
  readonly voter: string | null;
  /** Whether it hears a leader, or is one that a majority hears. */
  readonly leader: string | null;
  /** Whether it has applied what it must have applied to answer. */
  readonly applied: string | null;
  /** Whether its disk and its data let it serve. */
  readonly disk: string | null;
}

/** What a leader knows of another member. */
export interface PeerReport {
  readonly id: number;
  /** Entries that are in the log of the leader and not known to be in its log. */
  readonly missingEntries: number;
  /** Age of the oldest committed entry that it has not acknowledged, in milliseconds; 0 = there is none. */
  readonly lagMs: number;
  /** How long ago it was heard, in milliseconds; infinity if it never was. */
  readonly contactAgeMs: number;
}

export class ReplicaReport {
  readonly #options: ReplicaReportOptions;

  constructor(options: ReplicaReportOptions) {
    this.#options = options;
  }

  /** How far the state is, as of the last applied slice. */
  get progress(): Progress {
    return this.#options.applyLoop.progress;
  }

  /** @param loopLagMs how late the event loop was at the last tick. */
  status(loopLagMs: number, isStopped: boolean): ReplicaStatus {
    const { core, memberId, applyLoop, freshness, commitTimes, clock, fitness } = this.#options;
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
      alarms: [...fitness.alarms, ...this.divergences],
    };
  }

  /** In what the states of others differ from that of this member, if it leads; for people. */
  get divergences(): readonly string[] {
    return this.#options.divergences();
  }

  readiness(): Readiness {
    const { core, memberId, applyLoop, snapshots, freshness, fitness, clock } = this.#options;
    const { appliedIndex } = applyLoop.progress;
    const isVoter = core.configuration.voters.includes(memberId);
    const behind = freshness.behind(appliedIndex, clock.monotonicMs());
    return {
      voter: isVoter ? null : "this member has no vote",
      leader: freshness.unled(),
      applied: snapshots.isCatchingUp ? "this member is being caught up by a snapshot" : behind,
      disk: fitness.isFit ? null : fitness.alarms.join("; "),
    };
  }

  /** The other members, if this one leads. */
  peers(): PeerReport[] {
    const { core, memberId, commitTimes, clock, tickMs } = this.#options;
    const { voters, outgoing, learners, learnersNext } = core.configuration;
    const nowMs = clock.monotonicMs();
    return [...new Set([...voters, ...outgoing, ...learners, ...learnersNext])].flatMap((id) => {
      const peer = core.peer(id);
      if (id === memberId || peer === undefined) {
        return [];
      }
      const missingEntries = Math.max(0, core.lastIndex - peer.match);
      const contactAgeMs = core.contactTicksOf(id) * tickMs;
      return [{ id, missingEntries, lagMs: commitTimes.lagMs(peer.match, nowMs), contactAgeMs }];
    });
  }
}
