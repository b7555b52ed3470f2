/** The status of a cluster, as users see it, and whether a change of it is worth a write. */
import {
  type BlockedStatus,
  type ClusterStatus,
  compareVersions,
  type MemberRow,
  type Observed,
  type Plan,
  type Rule,
  votersOf,
} from "../plan/index.ts";
import { type Assessment, assess, type Surroundings, timeOf } from "./assessment.ts";
import { conditionsOf } from "./conditions.ts";

/** A member that is less behind than this is not worth a write. */
const LAG_MS_SHOWN = 1_000;
/** The definition allows no more. */
const MEMBERS_MAX = 16;
/** Elections that change nothing but the term. */
const TERM_PAUSE_MS = 30_000;

const PHASES: ReadonlyMap<Rule, string> = new Map([
  ["Adopt", "Starting"],
  ["Found", "Starting"],
  ["RecreateBroken", "Repairing"],
  ["ReplaceLost", "Repairing"],
  ["RecycleVolume", "Repairing"],
  ["GrowSet", "Scaling"],
  ["CancelSlot", "Scaling"],
  ["ShrinkSet", "Scaling"],
  ["DropClaim", "Scaling"],
  ["Promote", "Scaling"],
  ["AddSlot", "Scaling"],
  ["ScaleDown", "Scaling"],
  ["AwaitLearner", "Scaling"],
  ["Roll", "Updating"],
  ["Template", "Updating"],
  ["ResizeRestart", "Updating"],
]);

/** A pure function of the pass and of the status before, which only dates what still holds. */
export function statusOf(observed: Observed, plan: Plan, surroundings: Surroundings): ClusterStatus {
  const assessment = assess(observed, plan, surroundings);
  const { cluster, configuration, identity, known, pods } = observed;
  const shown = configuration ?? known;
  const past = cluster.status;
  const voters = votersOf(shown).length;
  const current = lowestVersion(observed);
  const clusterId = identity?.clusterId ?? past?.clusterId;
  const blocked = blockedOf(assessment);
  return {
    observedGeneration: cluster.metadata.generation ?? 0,
    ...(clusterId === undefined ? {} : { clusterId }),
    replicas: pods.length,
    readyReplicas: pods.filter((pod) => pod.readySince !== null).length,
    selector: `quoin.dev/cluster=${cluster.metadata.name}`,
    voters,
    learners: (shown?.members.length ?? 0) - voters,
    membersSummary: `${assessment.healthy.length}/${assessment.wanted}`,
    ...(assessment.leaderName === undefined ? {} : { leader: assessment.leaderName }),
    ...(shown === null ? {} : { term: shown.term }),
    version: {
      ...(current === undefined ? {} : { current }),
      ...(cluster.spec.version === undefined ? {} : { target: cluster.spec.version }),
    },
    phase: phaseOf(assessment),
    ...(blocked === undefined ? {} : { blocked }),
    ...(surroundings.tls === null ? {} : { tls: surroundings.tls }),
    conditions: conditionsOf(assessment, past?.conditions ?? []),
    members: membersOf(assessment),
  };
}

/** @returns whether the new status should be written; what differs in the term alone waits until the last write is old */
export function isWorthWriting(before: ClusterStatus | undefined, after: ClusterStatus, sinceWriteMs: number): boolean {
  if (textOf(before ?? {}) === textOf(after)) {
    return false;
  }
  const { term: _past, ...rest } = before ?? {};
  const { term: _present, ...present } = after;
  return textOf(rest) !== textOf(present) || sinceWriteMs >= TERM_PAUSE_MS;
}

/** The same for the same status, in whatever order the API server returns its fields. */
function textOf(value: object): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function phaseOf({ observed, plan, quorumLoss, isPaused, unreadiness }: Assessment): string {
  if (observed.cluster.metadata.deletionTimestamp !== undefined) {
    return "Deleting";
  }
  if (isPaused) {
    return "Paused";
  }
  if (observed.refusal !== null) {
    return "Refused";
  }
  if (quorumLoss !== null) {
    return "QuorumLost";
  }
  const rule = plan.step?.rule ?? plan.hold?.gate;
  const phase = rule === undefined ? undefined : PHASES.get(rule);
  return phase ?? (unreadiness === null ? "Ready" : observed.configuration === null ? "Unavailable" : "Degraded");
}

function blockedOf({ observed, plan, heldForMs }: Assessment): BlockedStatus | undefined {
  const { hold } = plan;
  return hold === null ? undefined : { ...hold, since: timeOf(observed.now - heldForMs) };
}

function lowestVersion({ pods, reports }: Observed): string | undefined {
  const versions = pods.flatMap((pod) => {
    const version = reports.get(pod.ordinal)?.version ?? (pod.runningSince === null ? undefined : pod.version);
    return version === undefined ? [] : [version];
  });
  return versions.toSorted(compareVersions)[0];
}

function membersOf({ observed, facts }: Assessment): MemberRow[] {
  const { configuration, known } = observed;
  const shown = configuration ?? known;
  const rows = (shown?.members ?? []).map((slot): MemberRow => {
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
      ...(slot.lagMs > LAG_MS_SHOWN ? { lagMs: slot.lagMs } : {}),
    };
  });
  return rows.toSorted((a, b) => Number(a.id) - Number(b.id)).slice(0, MEMBERS_MAX);
}
