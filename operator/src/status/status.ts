/** The status of a cluster, and whether a change of it is worth a write. */
import {
  type BlockedStatus,
  type Blocker,
  type ClusterStatus,
  type CoordinationCluster,
  compareVersions,
  type Failure,
  hasVolume,
  type MemberRow,
  type Observed,
  type Plan,
  type Slot,
} from "../plan/index.ts";
import { type Assessment, assess, type Surroundings } from "./assessment.ts";
import { backupSummaryOf } from "./backup.ts";
import { conditionsOf, conditionsOfFailedReconcile } from "./conditions.ts";
import { clipped, timeText } from "./messages.ts";
import { phaseOf } from "./phase.ts";

/** A smaller lag is not worth a write. */
const LAG_MS_SHOWN = 1_000;
/** Limit of the definition. */
const MEMBERS_MAX = 16;
/**
 * Pause between writes for values that change all the time: the term after elections, and the progress of the archive.
 */
const DRIFT_PAUSE_MS = 30_000;
/** The shown time of the last pass may be this old. It costs a write each time. */
const OBSERVED_MS = 300_000;

/** A pure function of the pass and of the previous status, from which it only takes times. */
export function statusOf(observed: Observed, plan: Plan, surroundings: Surroundings): ClusterStatus {
  const assessment = assess(observed, plan, surroundings);
  const { cluster, configuration, identity, known, pods } = observed;
  const shown = configuration ?? known;
  const past = cluster.status;
  const slots = slotsShown(observed);
  const voters = slots.filter(({ voter }) => voter).length;
  const current = lowestVersion(observed);
  const clusterId = identity?.clusterId ?? past?.clusterId;
  const blocked = blockedOf(assessment);
  const conditions = conditionsOf(assessment, past?.conditions ?? []);
  const backup = surroundings.backup === null ? undefined : backupSummaryOf(surroundings.backup, past?.backup);
  return {
    observedGeneration: cluster.metadata.generation ?? 0,
    lastObservedTime: observedTime(past?.lastObservedTime, observed.now),
    ...(clusterId === undefined ? {} : { clusterId }),
    replicas: pods.length,
    readyReplicas: pods.filter((pod) => pod.readySince !== null).length,
    selector: `quoin.dev/cluster=${cluster.metadata.name}`,
    voters,
    learners: slots.length - voters,
    membersSummary: `${assessment.healthy.length}/${assessment.wanted}`,
    ...(assessment.leaderName === undefined ? {} : { leader: assessment.leaderName }),
    ...(shown === null ? {} : { term: shown.term }),
    version: {
      ...(current === undefined ? {} : { current }),
      ...(cluster.spec.version === undefined ? {} : { target: cluster.spec.version }),
    },
    phase: phaseOf(conditions, plan, isDeleted(cluster)),
    ...(blocked === undefined ? {} : { blocked }),
    ...volumesOf(observed),
    ...(surroundings.tls === null ? {} : { tls: surroundings.tls }),
    ...(backup === undefined ? {} : { backup }),
    conditions,
    members: membersOf(assessment),
  };
}

/** @returns the time before, unless it is too old to stand for now */
function observedTime(before: string | undefined, now: number): string {
  const beforeMs = Date.parse(before ?? "");
  return before !== undefined && beforeMs <= now && now - beforeMs < OBSERVED_MS ? before : timeText(now);
}

/** Status after a pass that could not observe the cluster: the previous status, and why it is not newer. */
export function statusOfFailedReconcile(cluster: CoordinationCluster, failure: Failure, now: number): ClusterStatus {
  const past = cluster.status ?? {};
  const conditions = conditionsOfFailedReconcile(failure, past.conditions ?? [], cluster.metadata.generation ?? 0, now);
  const phase = phaseOf(conditions, null, isDeleted(cluster));
  return { ...past, phase, blocked: blockedBy(failure, failure.since), conditions };
}

/** @returns whether to write the new status; values that change all the time wait until the last write is old */
export function isWorthWriting(before: ClusterStatus | undefined, after: ClusterStatus, sinceWriteMs: number): boolean {
  if (textOf(before ?? {}) === textOf(after)) {
    return false;
  }
  return textOf(withoutDrift(before ?? {})) !== textOf(withoutDrift(after)) || sinceWriteMs >= DRIFT_PAUSE_MS;
}

function withoutDrift({ term: _term, backup, ...rest }: ClusterStatus): object {
  const { lastSuccessTime: _success, archivedRevision: _revision, archivedTime: _time, ...summary } = backup ?? {};
  return { ...rest, backup: summary };
}

/** The same text for the same status, whatever the order of the fields that the API server returns. */
function textOf(value: object): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function isDeleted({ metadata }: CoordinationCluster): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function blockedOf({ observed, plan, blockedForMs }: Assessment): BlockedStatus | undefined {
  const { blocker } = plan;
  return blocker === null ? undefined : blockedBy(blocker, observed.now - blockedForMs);
}

function blockedBy({ gate, reason, target, message }: Blocker, since: number): BlockedStatus {
  return { gate, reason, target, message: clipped(message), since: timeText(since) };
}

/**
 * The fields by which the definition decides whether size and class of the volumes may change. The size is in bytes.
 */
function volumesOf({
  claims,
  pods,
}: Observed): Pick<ClusterStatus, "volumeSize" | "volumesBound" | "storageClassName"> {
  const requested = claims.filter(({ ours }) => ours).map((claim) => claim.requested);
  const volumesBound = hasVolume(claims, pods);
  const storageClassName = claims.find(({ bound }) => bound)?.storageClassName ?? null;
  return {
    ...(requested.length === 0 ? {} : { volumeSize: String(Math.max(...requested)) }),
    volumesBound,
    ...(volumesBound && storageClassName !== null ? { storageClassName } : {}),
  };
}

function lowestVersion({ pods, reports }: Observed): string | undefined {
  const versions = pods.flatMap((pod) => {
    const version = reports.get(pod.ordinal)?.version ?? (pod.runningSince === null ? undefined : pod.version);
    return version === undefined ? [] : [version];
  });
  return versions.toSorted(compareVersions)[0];
}

/** While no member answers, the members of the previous status: their pods still have facts to show. */
function slotsShown({ configuration, known, cluster }: Observed): readonly Slot[] {
  const shown = configuration ?? known;
  const past = cluster.status?.members ?? [];
  return (
    shown?.members ??
    past.map(({ id, name, role }) => {
      const unknown = { lagMs: 0, contactAgeMs: Number.POSITIVE_INFINITY, promotable: false };
      return { id: Number(id), name, voter: role === "Voter", ...unknown };
    })
  );
}

function membersOf({ observed, facts }: Assessment): MemberRow[] {
  const { configuration } = observed;
  const rows = slotsShown(observed).map((slot): MemberRow => {
    const ordinal = facts.ordinalOf(slot);
    const [pod, report] = [facts.podOf(ordinal), facts.reportOf(ordinal)];
    return {
      id: String(slot.id),
      name: slot.name,
      role: slot.voter ? "Voter" : "Learner",
      leader: configuration !== null && slot.id === configuration.leaderId,
      ready: pod !== undefined && pod.readySince !== null,
      updated: pod !== undefined && !facts.isOutdated(pod),
      ...(report === undefined ? {} : { state: report.state, version: report.version }),
      ...(pod === undefined || pod.node === null ? {} : { node: pod.node }),
      ...(pod === undefined || pod.restarts === 0 ? {} : { restarts: pod.restarts }),
      ...(pod === undefined || pod.failedExit === null
        ? {}
        : { lastTermination: pod.failedExit.reason, lastTerminationAt: timeText(pod.failedExit.at) }),
      ...(slot.lagMs > LAG_MS_SHOWN ? { lagMs: slot.lagMs } : {}),
    };
  });
  return rows.toSorted((a, b) => Number(a.id) - Number(b.id)).slice(0, MEMBERS_MAX);
}
