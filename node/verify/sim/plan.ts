/** What a seed draws first: which faults there are and how often, how slow everything is, and the limits. */

import type { RetentionPolicy } from "@quoin/backup";
import { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from "../../src/archive/index.ts";
import { DEFAULT_CORE_LIMITS } from "../../src/raft/index.ts";
import { DEFAULT_REPLICA_LIMITS, type ReplicaLimits } from "../../src/replica/index.ts";
import { DEFAULT_WATCH_LIMITS, type WatchLimits } from "../../src/watch/index.ts";
import type { NetworkPlan } from "./network.ts";
import type { RandomStream } from "./random.ts";

/** Kinds of faults. */
export const FAULTS = [
  "crash",
  "power",
  "stop",
  "partition",
  "reset",
  "pause",
  "stall",
  "hang",
  "failure",
  "space",
  "clock",
  "damage",
  "wipe",
  "stream",
  "spoil",
  "lag",
  "slow",
  "usurp",
  "moment",
] as const;
export type FaultKind = (typeof FAULTS)[number];

/**
 * Marks of the program at which little time passes and much depends on the next event: a fault that waits for one comes
 * at a bad time.
 */
export const MOMENTS = [
  "raft.pre-campaign",
  "raft.campaign",
  "raft.elected",
  "raft.stepped-down",
  "raft.append.replaces",
  "raft.append.busy",
  "raft.change.appended",
  "raft.change.applied",
  "raft.change.joint",
  "raft.leave",
  "raft.transfer.begun",
  "raft.transfer.told",
  "raft.transfer.campaign",
  "raft.snapshot.wanted",
  "raft.snapshot.installed",
  "raft.vote.teaches-commit",
  "replica.answers.before",
  "replica.answers.after",
  "replica.attempt.refuted",
  "replica.compacted",
  "replica.long-entry-paused",
  "replica.forward.held",
  "replica.forward.unsent",
  "replica.healed",
  "replica.healing.asked",
  "replica.install.begun",
  "replica.install.placed",
  "replica.install.switched",
  "replica.install.cancelled",
  "replica.propose.held",
  "replica.snapshot.sent",
  "replica.snapshot.started",
] as const;

/** The same where clients use locks, or watch keys. */
export const LOCK_MOMENTS = [
  "replica.acquisition.queued",
  "replica.acquisition.settled",
  "replica.acquisition.cancelled",
] as const;
export const WATCH_MOMENTS = ["watch.read-from-history", "watch.compacted"] as const;

/** The faults that can happen at such a moment. */
export const AT_MOMENTS = [
  "crash",
  "crash",
  "power",
  "stop",
  "partition",
  "reset",
  "pause",
  "stall",
  "failure",
  "lag",
  "slow",
  "usurp",
] as const satisfies readonly FaultKind[];

/** What an administrator does. */
export const CHANGES = ["add", "remove", "replace", "demote", "transfer", "grow", "shrink"] as const;
export type ChangeKind = (typeof CHANGES)[number];

/** Faults of the archive's store; `twins`: every member considers itself the archiver. */
export const STORE_FAULTS = ["away", "slow", "twins"] as const;
export type StoreFaultKind = (typeof STORE_FAULTS)[number];

/** The credential that an administrator takes from the guest. */
export type RevocationKind = "api-key" | "user";

export interface Plan {
  /** There are no faults: there is one election, and every request is answered. */
  readonly isSteady: boolean;
  /** More is lost than a cluster survives: it must break no rule, but it may stop. */
  readonly isBeyond: boolean;
  /** Voters before the faults begin. */
  readonly members: number;
  /** How long faults and changes last, in milliseconds. */
  readonly durationMs: number;
  /** Mean milliseconds between two faults of the kind; missing kinds do not happen. */
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly changes: ReadonlyMap<ChangeKind, number>;
  /** There are two administrators that do not know of each other. */
  readonly isContended: boolean;
  readonly network: NetworkPlan;
  /** Mean milliseconds of a log write, and of a sync of the state. */
  readonly writeMs: number;
  readonly syncMs: number;
  /** Clients, their mean pause between two operations, and their keys. */
  readonly clients: number;
  readonly pauseMs: number;
  /** The share of operations that only read. */
  readonly readShare: number;
  readonly keys: number;
  readonly valueBytesMax: number;
  /** The share of writes that last for a few seconds only. */
  readonly ttlShare: number;
  readonly isSmall: boolean;
  /** When the faults are over, the clients go on until all members have caught up with them. */
  readonly isBusyAtRest: boolean;
  readonly limits: ReplicaLimits;
  /** Null if no client uses locks. */
  readonly locks: LockPlan | null;
  /** Null if no client uses memory regions. */
  readonly memory: MemoryPlan | null;
  /** Null if there are no watchers. */
  readonly watches: WatchPlan | null;
  /** Null if no client uses event logs. */
  readonly logs: EventLogPlan | null;
  /** Null if no client uses semaphores, and locks with values. */
  readonly semaphores: LockPlan | null;
  /** Null if no client runs transactions. */
  readonly transactions: TransactionPlan | null;
  /** Null if no client has sessions. */
  readonly sessions: SessionPlan | null;
  /** Null if all clients act as the owner of the cluster. */
  readonly accounts: AccountPlan | null;
  /** Null if the log is not archived. */
  readonly archive: ArchivePlan | null;
  /** Null if all processes are of this release from the beginning. */
  readonly releases: ReleasePlan | null;
}

/** How the log is archived, and how reliable its store is. */
export interface ArchivePlan {
  readonly limits: ArchiveLimits;
  /** Between two snapshots, in milliseconds. */
  readonly intervalMs: number;
  /** Null if all objects are kept. */
  readonly retention: RetentionPolicy | null;
  /** Mean duration of a request, in milliseconds. */
  readonly requestMs: number;
  /** The share of requests that fail. */
  readonly failureShare: number;
  /** Objects that a request lists at most. */
  readonly pageObjects: number;
  /** Mean milliseconds between two faults of the kind; missing kinds do not happen. */
  readonly faults: ReadonlyMap<StoreFaultKind, number>;
}

/** The previous release has founded the cluster, and some processes still run it. */
export interface ReleasePlan {
  /** The share of the starts with the previous release, while the cluster version allows it. */
  readonly formerShare: number;
}

/** Which clients act as a guest, and for how long. */
export interface AccountPlan {
  /** One client of each kind in this many is a guest: half of those with an API key, the others with a login. */
  readonly guestOneIn: number;
  /** What the administrator takes away, each at a time of its own. */
  readonly revocations: readonly RevocationKind[];
}

/** The clients that use event logs. */
export interface EventLogPlan {
  readonly clients: number;
  /** Mean pause between two operations of a client, in milliseconds. */
  readonly pauseMs: number;
}

/** The clients that run transactions. */
export interface TransactionPlan {
  readonly clients: number;
  /** Mean pause between two operations of a client, in milliseconds. */
  readonly pauseMs: number;
  /** At least 2. */
  readonly keys: number;
}

/** The clients that have sessions. */
export interface SessionPlan {
  readonly clients: number;
  /** Mean pause between two operations of a client, in milliseconds. */
  readonly pauseMs: number;
  readonly keys: number;
}

/** The watchers of keys and of locks. */
export interface WatchPlan {
  /** Number of watchers of keys: their ids begin at 1. */
  readonly clients: number;
  /** Number of watchers of locks: their ids follow. */
  readonly lockClients: number;
  /** Mean pause between two decisions of a watcher, in milliseconds. */
  readonly pauseMs: number;
  readonly limits: WatchLimits;
}

/** The clients that use memory regions, and the number of regions at a time. */
export interface MemoryPlan {
  readonly clients: number;
  /** Mean pause between two operations of a client, in milliseconds. */
  readonly pauseMs: number;
  readonly regions: number;
  /** Some regions have more than one segment. */
  readonly isLarge: boolean;
  /** The share of operations that only read. */
  readonly readShare: number;
}

/** The clients that use locks, and the locks. */
export interface LockPlan {
  readonly clients: number;
  /** Mean pause between two operations of a client, in milliseconds. */
  readonly pauseMs: number;
  readonly exclusiveLocks: number;
  readonly readWriteLocks: number;
  readonly semaphores: number;
  /** TTL of every lock. */
  readonly ttlSeconds: number;
  readonly lockDelaySeconds: number;
  /** The share of requests for a read-write lock that only read. */
  readonly readShare: number;
  /** Keys that are written under holds. */
  readonly keys: number;
}

/** One run in this many has no faults. */
const STEADY_ONE_IN = 12;
/** The share of the usual duration of such a run: it has many operations, and few new situations. */
const STEADY_SHARE = 0.4;
/** One in this many of the others loses more than a minority of its disks. */
const BEYOND_ONE_IN = 15;
/** Entries between two comparisons of the states of all members. */
const CHECKPOINT_ENTRIES = 50;
/** How long answers are stored in runs in which they must be dropped. */
const SHORT_WINDOW_MS = 30_000;
/** Hanging disks are this many times rarer than other faults: a cluster needs half a minute to get over one. */
const HANGS_ONE_IN = 5;
/** Each kind of fault or change is there in this share of the runs. */
const PRESENCE = 0.6;
/** There are locks in this share of the runs. */
const LOCKS_PRESENCE = 0.5;
/** There are semaphores in this share of the runs. */
const SEMAPHORES_PRESENCE = 0.4;
/** Share of the runs with memory regions. */
const MEMORY_PRESENCE = 0.4;
/** Snapshots with regions are sent this many times faster. */
const REGIONS_SENT_FASTER = 10;
/** Share of the runs with watchers of keys. */
const WATCHES_PRESENCE = 0.5;
/** Of the runs with locks and watchers of keys, the share with watchers of locks. */
const LOCK_WATCHES_PRESENCE = 0.8;
/** Share of the runs with event logs. */
const LOGS_PRESENCE = 0.3;
/** Share of the runs with transactions. */
const TRANSACTIONS_PRESENCE = 0.4;
/** Share of the runs with sessions. */
const SESSIONS_PRESENCE = 0.3;
/** Share of the runs with guests. */
const ACCOUNTS_PRESENCE = 0.5;
/** Share of the runs with an archive. */
const ARCHIVE_PRESENCE = 0.35;

/** Share of the runs whose cluster was founded by the previous release. */
const RELEASES_PRESENCE = 0.4;

/** Draws that only some clients need, each from a stream of its own, so that they change nothing else. */
export interface ClientStreams {
  readonly locks: RandomStream;
  readonly memory: RandomStream;
  readonly watches: RandomStream;
  readonly "lock-watches": RandomStream;
  readonly logs: RandomStream;
  readonly accounts: RandomStream;
  readonly archive: RandomStream;
  readonly releases: RandomStream;
  readonly transactions: RandomStream;
  readonly semaphores: RandomStream;
  readonly sessions: RandomStream;
}

export function drawPlan(random: RandomStream, streams: ClientStreams): Plan {
  const { locks, memory, watches, logs, accounts, archive, releases, transactions, semaphores, sessions } = streams;
  const isSteady = random.below(STEADY_ONE_IN) === 0;
  const isSmall = random.below(3) === 0;
  const rates = <Kind extends string>(kinds: readonly Kind[], fromMs: number, toMs: number): Map<Kind, number> => {
    const present = kinds.map(
      (kind) =>
        [kind, random.chance(PRESENCE), random.between(fromMs, toMs) * (kind === "hang" ? HANGS_ONE_IN : 1)] as const,
    );
    return new Map(present.filter(([, isThere]) => isThere && !isSteady).map(([kind, , meanMs]) => [kind, meanMs]));
  };
  const isSlow = !isSteady && random.chance(0.3);
  const lockPlan = drawLocks(locks);
  const watchPlan = drawWatches(watches, lockPlan === null ? null : streams["lock-watches"]);
  const memoryPlan = drawMemory(memory);
  const drawn = withHistory(drawLimits(random, isSmall, isSteady), watchPlan === null ? null : watches);
  const limits = withReleases(memoryPlan === null ? drawn : withRegions(drawn), releases);
  // If the log is not kept for lagging members, or each message takes one entry, clients that go on are too fast.
  const isKept = isLogKept(limits);
  return {
    isSteady,
    isBeyond: !isSteady && random.below(BEYOND_ONE_IN) === 0,
    isSmall,
    isBusyAtRest: isKept && random.chance(0.6) && !isSmall,
    members: random.pick([1, 3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 7]) ?? 3,
    durationMs: random.between(12_000, 40_000) * (isSteady ? STEADY_SHARE : 1),
    faults: rates(FAULTS, 2_500, 20_000),
    changes: rates(CHANGES, 3_000, 15_000),
    isContended: random.chance(0.5),
    network: {
      delayMsMin: 0.05,
      delayMs: isSlow ? random.between(1, 25) : random.between(0.1, 2),
      slowShare: isSteady || random.chance(0.4) ? 0 : random.between(0, 0.05),
      slowMs: random.between(20, 400),
      socketBytes: random.pick([1, 1_000, 64 * 1024]) ?? 1,
    },
    writeMs: isSlow ? random.between(1, 20) : random.between(0.2, 3),
    syncMs: isSlow ? random.between(5, 100) : random.between(0.5, 10),
    clients: random.whole(2, 8),
    pauseMs: random.between(isSteady ? 60 : 30, 250),
    readShare: random.pick([0.2, 0.35, 0.7]) ?? 0.35,
    keys: random.whole(1, 8),
    valueBytesMax: random.pick([8, 64, 600]) ?? 64,
    ttlShare: random.pick([0, 0.1, 0.5]) ?? 0,
    limits,
    locks: lockPlan,
    memory: memoryPlan,
    watches: watchPlan,
    logs: drawLogs(logs),
    transactions: drawTransactions(transactions),
    semaphores: drawSemaphores(semaphores),
    sessions: drawSessions(sessions),
    accounts: drawAccounts(accounts),
    archive: drawArchive(archive, isSteady),
    releases: drawReleases(releases),
  };
}

/** Whether the log is kept for lagging members: otherwise they need a snapshot, which may take long. */
export function isLogKept({ compaction }: ReplicaLimits): boolean {
  return compaction.neededBytes === DEFAULT_REPLICA_LIMITS.compaction.neededBytes;
}

/** `lockWatches` is null where there are no locks. */
function drawWatches(random: RandomStream, lockWatches: RandomStream | null): WatchPlan | null {
  if (!random.chance(WATCHES_PRESENCE)) {
    return null;
  }
  const usual = DEFAULT_WATCH_LIMITS;
  return {
    clients: random.whole(1, 4),
    lockClients: lockWatches?.chance(LOCK_WATCHES_PRESENCE) ? lockWatches.whole(1, 3) : 0,
    pauseMs: random.between(1_000, 5_000),
    limits: {
      ...usual,
      recentBytesMax: random.pick([1, 5_000, usual.recentBytesMax]) ?? 1,
      messageBytes: random.pick([1, 300, usual.messageBytes]) ?? 1,
      readRevisionsMax: random.pick([1, 6, usual.readRevisionsMax]) ?? 1,
      readBytesMax: random.pick([1, 500, usual.readBytesMax]) ?? 1,
      servedPerTurn: random.pick([1, 3, usual.servedPerTurn]) ?? 1,
    },
  };
}

/** With watchers, the history of changes is often so short that some watchers do not keep up with it. */
function withHistory(limits: ReplicaLimits, random: RandomStream | null): ReplicaLimits {
  if (random === null) {
    return limits;
  }
  const usual = limits.state.history;
  const history = {
    ...usual,
    revisionsMax: random.pick([15, 100, usual.revisionsMax]) ?? usual.revisionsMax,
    ageMsMax: random.pick([2_000, usual.ageMsMax, usual.ageMsMax]) ?? usual.ageMsMax,
  };
  const { trimsMax, trimDelayMs } = limits.maintenance;
  const trims = {
    trimsMax: random.pick([1, 10, trimsMax]) ?? trimsMax,
    trimDelayMs: random.pick([0, 1_000, trimDelayMs]) ?? trimDelayMs,
  };
  return {
    ...limits,
    state: { ...limits.state, history },
    maintenance: { ...limits.maintenance, history, ...trims },
  };
}

/**
 * Regions make states large. Their snapshots are sent faster, so that several members, one after the other, catch up in
 * time.
 */
function withRegions(limits: ReplicaLimits): ReplicaLimits {
  const { snapshots } = limits;
  const bytesPerSecond = snapshots.bytesPerSecond * REGIONS_SENT_FASTER;
  return { ...limits, snapshots: { ...snapshots, bytesPerSecond } };
}

/** Draws that came with later releases. */
function withReleases(limits: ReplicaLimits, random: RandomStream): ReplicaLimits {
  const maintenance = { ...limits.maintenance, versionRaiseMs: random.whole(100, 2_000) };
  return { ...limits, maintenance };
}

function drawReleases(random: RandomStream): ReleasePlan | null {
  return random.chance(RELEASES_PRESENCE) ? { formerShare: random.pick([0, 0.3, 0.7]) ?? 0 } : null;
}

function drawMemory(random: RandomStream): MemoryPlan | null {
  if (!random.chance(MEMORY_PRESENCE)) {
    return null;
  }
  return {
    clients: random.whole(1, 3),
    pauseMs: random.between(300, 1_000),
    regions: random.whole(1, 3),
    isLarge: random.chance(0.4),
    readShare: random.pick([0.2, 0.5]) ?? 0.2,
  };
}

function drawLogs(random: RandomStream): EventLogPlan | null {
  if (!random.chance(LOGS_PRESENCE)) {
    return null;
  }
  return { clients: random.whole(1, 3), pauseMs: random.between(300, 1_000) };
}

function drawTransactions(random: RandomStream): TransactionPlan | null {
  if (!random.chance(TRANSACTIONS_PRESENCE)) {
    return null;
  }
  return { clients: random.whole(2, 4), pauseMs: random.between(300, 1_000), keys: random.whole(2, 6) };
}

function drawSessions(random: RandomStream): SessionPlan | null {
  if (!random.chance(SESSIONS_PRESENCE)) {
    return null;
  }
  return { clients: random.whole(2, 4), pauseMs: random.between(200, 900), keys: random.whole(2, 8) };
}

function drawAccounts(random: RandomStream): AccountPlan | null {
  if (!random.chance(ACCOUNTS_PRESENCE)) {
    return null;
  }
  const revocations: readonly (readonly RevocationKind[])[] = [
    [],
    ["api-key"],
    ["api-key"],
    ["user"],
    ["api-key", "user"],
  ];
  return { guestOneIn: random.pick([2, 2, 3]) ?? 2, revocations: random.pick(revocations) ?? [] };
}

function drawArchive(random: RandomStream, isSteady: boolean): ArchivePlan | null {
  if (!random.chance(ARCHIVE_PRESENCE)) {
    return null;
  }
  const usual = DEFAULT_ARCHIVE_LIMITS;
  const retentions: readonly (RetentionPolicy | null)[] = [
    null,
    { keepSnapshots: 1 },
    { keepSnapshots: 2 },
    { keepSnapshots: 1, keepMs: 5_000 },
  ];
  const faults = STORE_FAULTS.map((kind) => [kind, random.chance(PRESENCE), random.between(4_000, 15_000)] as const);
  const failureShare = random.pick([0, 0.02, 0.15]) ?? 0;
  return {
    limits: {
      segmentMs: random.pick([300, 1_000, 3_000]) ?? 1_000,
      idleSegmentMs: usual.idleSegmentMs,
      segmentBytes: random.pick([1, 2_000, usual.segmentBytes]) ?? 1,
      turnBytes: random.pick([1, 1_000, usual.turnBytes]) ?? 1,
    },
    intervalMs: random.pick([2_000, 6_000, 20_000]) ?? 6_000,
    retention: random.pick(retentions) ?? null,
    requestMs: random.pick([1, 10, 100]) ?? 10,
    failureShare: isSteady ? 0 : failureShare,
    pageObjects: random.pick([1, 5, 1_000]) ?? 5,
    faults: new Map(faults.filter(([, isThere]) => isThere && !isSteady).map(([kind, , meanMs]) => [kind, meanMs])),
  };
}

function drawLocks(random: RandomStream): LockPlan | null {
  if (!random.chance(LOCKS_PRESENCE)) {
    return null;
  }
  return {
    clients: random.whole(2, 5),
    pauseMs: random.between(200, 700),
    exclusiveLocks: random.whole(1, 2),
    readWriteLocks: random.whole(0, 2),
    semaphores: 0,
    ttlSeconds: random.whole(1, 3),
    lockDelaySeconds: random.pick([0, 0, 1, 2]) ?? 0,
    readShare: random.pick([0.3, 0.6, 0.85]) ?? 0.6,
    keys: random.whole(1, 2),
  };
}

/** The holds of exclusive locks have values where there are semaphores. */
function drawSemaphores(random: RandomStream): LockPlan | null {
  if (!random.chance(SEMAPHORES_PRESENCE)) {
    return null;
  }
  return {
    clients: random.whole(2, 5),
    pauseMs: random.between(150, 500),
    exclusiveLocks: random.whole(0, 1),
    readWriteLocks: 0,
    semaphores: random.whole(1, 2),
    ttlSeconds: random.whole(1, 3),
    lockDelaySeconds: random.pick([0, 0, 1]) ?? 0,
    readShare: 0,
    keys: 1,
  };
}

function drawLimits(random: RandomStream, isSmall: boolean, isSteady: boolean): ReplicaLimits {
  const isPruning = random.chance(0.3);
  const replayWindowMs = isPruning ? SHORT_WINDOW_MS : DEFAULT_REPLICA_LIMITS.state.replayWindowMs;
  const base: ReplicaLimits = {
    ...DEFAULT_REPLICA_LIMITS,
    // Runs are short, but their members must still compare states.
    state: { ...DEFAULT_REPLICA_LIMITS.state, replayWindowMs, checkpointEntries: CHECKPOINT_ENTRIES },
    maintenance: { ...DEFAULT_REPLICA_LIMITS.maintenance, replayWindowMs },
    // Logs are short in every run, so that snapshots are needed.
    compaction: {
      keptEntries: random.pick([0, 5, 50]) ?? 5,
      keptBytes: DEFAULT_REPLICA_LIMITS.compaction.keptBytes,
      dueEntries: random.whole(2, 60),
      dueBytes: DEFAULT_REPLICA_LIMITS.compaction.dueBytes,
      neededBytes: random.pick([1, 4_000, DEFAULT_REPLICA_LIMITS.compaction.neededBytes]) ?? 1,
    },
    snapshots: {
      ...DEFAULT_REPLICA_LIMITS.snapshots,
      chunkBytes: random.pick([64, 1_000, 20_000]) ?? 1_000,
      streamMs: random.pick([20_000, DEFAULT_REPLICA_LIMITS.snapshots.streamMs]) ?? 20_000,
    },
    syncBytes: random.pick([300, 5_000, DEFAULT_REPLICA_LIMITS.syncBytes]) ?? 5_000,
    syncMs: random.pick([100, 1_000, DEFAULT_REPLICA_LIMITS.syncMs]) ?? 1_000,
  };
  if (!isSmall) {
    return base;
  }
  return {
    ...base,
    core: {
      ...DEFAULT_CORE_LIMITS,
      windowMessagesMax: random.whole(1, 4),
      windowBytesMax: random.whole(1, 2_000),
      messageBytesMax: random.whole(1, 1_000),
      uncommittedBytesMax: random.whole(1, 4_000),
      unappliedEntriesMax: random.whole(1, 30),
      followerBytesMax: random.whole(1, 4_000),
      tailBytesMax: random.pick([0, 500]) ?? 0,
      readsMax: random.whole(1, 6),
    },
    // Small pieces take long.
    snapshots: {
      ...DEFAULT_REPLICA_LIMITS.snapshots,
      chunkBytes: 64,
      streamsMax: 1,
      bytesPerSecond: random.whole(20_000, 200_000),
    },
    // A request that waits while too many others do is refused, which must not happen in a run without faults.
    waitersMax: Math.max(random.whole(4, 40), isSteady ? base.waitersMax : 0),
    queuedWaitsMax: isSteady ? base.queuedWaitsMax : 3,
    proposalsPerTurn: random.whole(1, 4),
    proposalWorkMax: random.whole(1, 20_000),
    sliceEntries: random.whole(1, 4),
    sliceBytes: random.whole(1, 1_000),
    // Every append is applied in steps, each in a turn of its own.
    longEntryBytes: 0,
    longEntryMs: -1,
  };
}
