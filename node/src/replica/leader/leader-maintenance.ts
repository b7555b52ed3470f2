/**
 * The leader's periodic work: it proposes due maintenance commands, compares the states of the members, and sends the
 * cluster tick.
 *
 * One maintenance command is in flight at a time. A follower that knows the tick continues from it after it becomes the
 * leader, so that TTLs keep their remaining time (S21).
 */

import { encodeLeaderTick, FrameType } from "../../peers/index.ts";
import { members } from "../../raft/index.ts";
import type { StateReader } from "../../state/index.ts";
import { type ApplyLoop, StateComparison } from "../apply/index.ts";
import { clusterProposalOf, Maintenance, type ReplicaContext, type ReplicaLimits } from "../context/index.ts";
import type { Proposals } from "../proposals/index.ts";
import { VersionRaise } from "./version-raise.ts";

/** What this part shares with others; it only reads the state. */
export type LeaderDutiesContext = Pick<
  ReplicaContext,
  "memberId" | "clusterVersionMax" | "core" | "transport" | "tick" | "clock" | "onDiverged"
> & {
  readonly state: StateReader;
  readonly limits: Pick<ReplicaLimits, "maintenance">;
};

export interface LeaderMaintenanceOptions {
  readonly applyLoop: Pick<ApplyLoop, "progress" | "checkpoints">;
  readonly proposals: Proposals;
}

/** How long a maintenance command may wait, in milliseconds; it is proposed again if it is still due. */
const MAINTENANCE_DEADLINE_MS = 60_000;
/** Interval between two tick frames, in milliseconds; they are sent independently of the heartbeats. */
const TICK_INTERVAL_MS = 100;

export class LeaderMaintenance {
  /** Compares the states of the members. */
  readonly comparison: StateComparison;
  /** Knows the cluster versions that the members can run. */
  readonly versions: VersionRaise;
  readonly #context: LeaderDutiesContext;
  readonly #options: LeaderMaintenanceOptions;
  readonly #maintenance: Maintenance;
  #isMaintaining = false;
  #isStopped = false;
  #tickSentMs = Number.NEGATIVE_INFINITY;

  constructor(context: LeaderDutiesContext, options: LeaderMaintenanceOptions) {
    this.#context = context;
    this.#options = options;
    this.#maintenance = new Maintenance(context.state, context.limits.maintenance);
    this.comparison = new StateComparison(context, options.applyLoop);
    this.versions = new VersionRaise(context);
  }

  /** Called at every tick. */
  onTick(nowMs: number): void {
    this.#compare();
    this.#maintain();
    if (nowMs - this.#tickSentMs >= TICK_INTERVAL_MS) {
      this.#tickSentMs = nowMs;
      this.sendTick();
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  #compare(): void {
    const { core, onDiverged } = this.#context;
    if (core.role !== "leader") {
      this.comparison.clear();
      this.versions.reset();
      return;
    }
    this.comparison.catchUp();
    const { objection } = this.comparison;
    if (objection !== null) {
      onDiverged(objection);
    }
  }

  #maintain(): void {
    const { core, tick, clock } = this.#context;
    const { applyLoop, proposals } = this.#options;
    if (this.#isMaintaining || this.#isStopped || !core.hasCommittedInTerm) {
      return;
    }
    const due = this.#maintenance.due(applyLoop.progress, tick.nowMs) ?? this.comparison.next();
    const operation = due ?? this.versions.next(clock.monotonicMs());
    if (operation === null) {
      return;
    }
    this.#isMaintaining = true;
    const deadlineMs = clock.monotonicMs() + MAINTENANCE_DEADLINE_MS;
    proposals.add(clusterProposalOf(operation), deadlineMs, () => {
      this.#isMaintaining = false;
      this.#maintain();
    });
  }

  /** If this member leads, sends the periodic tick frame to the others now. */
  sendTick(): void {
    const { memberId, core, transport, tick } = this.#context;
    if (core.role !== "leader") {
      return;
    }
    const { term, commitIndex, quorumKnownConfigIndex } = core;
    const body = encodeLeaderTick({ term, tickMs: tick.nowMs, commitIndex, quorumKnownConfigIndex });
    for (const id of members(core.configuration)) {
      if (id !== memberId && transport.isConnected(id, "control")) {
        transport.send(id, "control", FrameType.ClusterTick, body);
      }
    }
  }
}
