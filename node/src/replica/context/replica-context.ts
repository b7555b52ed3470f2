/**
 * What the parts of a driver share. The driver makes it once, before its parts. The type of a part's context names what
 * this part shares with others, and its options have what only this part needs.
 */

import { crc32 } from "node:zlib";
import { NO_CONFIGURATION, RaftCore } from "../../raft/index.ts";
import { readCluster, readProgress } from "../../state/index.ts";
import type { LogStore, MemberStateStore } from "../../storage/index.ts";
import type { Timeline } from "../../tracing/index.ts";
import type { Clock, Scheduler } from "./clock.ts";
import { ClusterTick } from "./cluster-tick.ts";
import { CommitTimes } from "./commit-times.ts";
import { seededRandom } from "./random.ts";
import type { ReplicaLimits } from "./replica-limits.ts";
import type { ReplicaOptions } from "./replica-options.ts";
import { ReplicaStatistics } from "./replica-statistics.ts";
import type { Transport } from "./transport.ts";

export interface ReplicaContext {
  readonly memberId: number;
  /** Boot number of this process, which distinguishes its attempts from those of earlier ones. */
  readonly boot: number;
  /** UUID in text form. */
  readonly clusterId: string;
  /** The newest cluster version that this release can run. */
  readonly clusterVersionMax: number;
  readonly limits: ReplicaLimits;

  /** The consensus core. Only the driver drains it; a part that gives it input calls `arm`. */
  readonly core: RaftCore;
  /** Milliseconds of a tick of the core. */
  readonly coreTickMs: number;
  /** Whole numbers in [0, bound), seeded for this process; the core draws from it too. */
  readonly random: (bound: number) => number;

  /** The Raft log. The core reads it, the driver appends to it, and the apply loop compacts it. */
  readonly log: LogStore;
  /** The replicated state. The apply loop changes it, and the installation of a snapshot replaces it. */
  readonly state: MemberStateStore;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly scheduler: Scheduler;

  /** The cluster tick. The driver and the apply loop advance it. */
  readonly tick: ClusterTick;
  /** When entries were committed, as far as this member has learned it. */
  readonly commitTimes: CommitTimes;
  readonly statistics: ReplicaStatistics;
  /** Where the driver notes its steps for traces; null = it notes none. */
  readonly timeline: Timeline | null;

  /** Schedules a turn, unless one is scheduled: the core or a part has new input. */
  readonly arm: () => void;
  /** This member's state differs from the cluster's: stops the driver, so that no call is answered from that state. */
  readonly onDiverged: (reason: string) => void;
}

/** The context of a driver with these options, with a core for its log and state. */
export function replicaContextOf(
  options: ReplicaOptions,
  driver: Pick<ReplicaContext, "coreTickMs" | "arm" | "onDiverged">,
): ReplicaContext {
  const { memberId, boot, clusterId, clusterVersionMax, limits, log, state, transport, clock, scheduler } = options;
  const { coreTickMs, arm, onDiverged } = driver;
  const { appliedIndex, tickMs } = readProgress(state);
  const random = seededRandom(memberId * 0x10001 + boot);
  const core = new RaftCore({
    id: memberId,
    boot,
    term: options.term,
    vote: options.vote,
    commit: options.commit,
    log: options.bounds,
    configuration: readCluster(state)?.configuration ?? NO_CONFIGURATION,
    applied: appliedIndex,
    writeSeq: options.writeSeq,
    limits: limits.core,
    random,
    reader: log,
    checksum: crc32,
  });
  return {
    memberId,
    boot,
    clusterId,
    clusterVersionMax,
    limits,
    core,
    coreTickMs,
    random,
    log,
    state,
    transport,
    clock,
    scheduler,
    tick: new ClusterTick(clock, tickMs),
    commitTimes: new CommitTimes(),
    statistics: new ReplicaStatistics(),
    timeline: options.timeline ?? null,
    arm,
    onDiverged,
  };
}
