/** Upkeep: idempotent work of every pass. It never changes the membership. */

import type { ClusterSpec } from "../generated/coordination-cluster.ts";
import { parseQuantity } from "../quantity/index.ts";
import { type Facts, votersOf } from "./facts.ts";
import type { ClaimView, Configuration, Drift, MemberRole, PodView } from "./observed.ts";
import type { Blocker, Upkeep } from "./plan.ts";
import { minAvailableOf } from "./quorum.ts";
import { compareVersions, isSkewed } from "./version.ts";
import { objectOf } from "./volume-rules.ts";

export function upkeepOf(facts: Facts): Upkeep[] {
  const { configuration, drift } = facts.observed;
  const templateHold = blockerOfTemplate(facts);
  const applied = drift.filter((object) => templateHold === null || !isTemplate(object));
  return [
    ...applied.map((object) => ({ kind: "apply", object }) as const),
    ...facts.observed.claims.flatMap((claim) => [...annotate(facts, claim), ...grow(facts, claim)]),
    ...(configuration === null ? [] : ofConfiguration(facts, configuration)),
  ];
}

/** The set is applied as a whole; the template is what differs in it. */
function isTemplate({ kind }: Drift): boolean {
  return kind === "StatefulSet";
}

/** Why a new template must wait; null if it may be written, or if there is none. */
export function blockerOfTemplate(facts: Facts): Blocker | null {
  const { cluster, drift, pods, set } = facts.observed;
  const { version } = cluster.spec;
  if (set === null || version === undefined || !drift.some(isTemplate)) {
    return null;
  }
  const target = cluster.metadata.name;
  const skewed = pods.find((pod) => isSkewed(pod.version, version));
  if (skewed !== undefined) {
    const name = facts.nameOf(skewed.ordinal);
    const message = `${name} runs ${skewed.version}: go to ${version} by one minor version at a time`;
    return { gate: "Template", reason: "VersionSkew", target, message };
  }
  for (const { ordinal } of pods) {
    const floor = facts.reportOf(ordinal)?.downgradeFloor ?? "";
    if (compareVersions(version, floor) < 0) {
      const message = `${facts.nameOf(ordinal)} has data that ${version} cannot read: it needs at least ${floor}`;
      return { gate: "Template", reason: "DowngradeBelowFloor", target, message };
    }
  }
  return null;
}

function ofConfiguration(facts: Facts, configuration: Configuration): Upkeep[] {
  const { minAvailable, set, cluster } = facts.observed;
  const upkeep: Upkeep[] = [];
  const budget = cluster.spec.podDisruptionBudget.enabled
    ? minAvailableOf(facts.wanted, votersOf(configuration).length)
    : null;
  if (budget !== minAvailable) {
    upkeep.push({ kind: "budget", minAvailable: budget });
  }
  if (set !== null && (set.configIndex ?? -1) < configuration.index) {
    upkeep.push({ kind: "note-config-index", index: configuration.index, resourceVersion: set.resourceVersion });
  }
  if (facts.observed.ownerPending) {
    upkeep.push({ kind: "reset-owner" });
  }
  return [...upkeep, ...labels(facts, configuration), ...settings(facts, configuration)];
}

/** The old leader loses the label before the new one gets it: for a moment none has it, but never two. */
function labels(facts: Facts, { term, members, leaderId }: Configuration): Upkeep[] {
  const roleOf = (pod: PodView): MemberRole => {
    const slot = members.find((candidate) => facts.ordinalOf(candidate) === pod.ordinal);
    if (slot === undefined) {
      return "none";
    }
    return slot.id === leaderId ? "leader" : slot.voter ? "follower" : "learner";
  };
  return facts.observed.pods
    .map((pod) => ({ pod, role: roleOf(pod) }))
    .filter(({ pod, role }) => pod.role !== role && (pod.term ?? 0) <= term)
    .toSorted((a, b) => Number(a.role === "leader") - Number(b.role === "leader"))
    .map(({ pod, role }) => ({ kind: "label-pod", role, term, ...objectOf(pod) }) as const);
}

/** Annotates a claim with the member whose data it has, for times without answers. An id never changes back to none. */
function annotate(facts: Facts, claim: ClaimView): Upkeep[] {
  const { identity } = facts.observed;
  const report = facts.reportOf(claim.ordinal);
  if (identity === null || report === undefined || claim.terminating || !claim.ours) {
    return [];
  }
  const none = report.state === "EMPTY" && claim.memberId === null ? "none" : undefined;
  const memberId = report.clusterId === identity.clusterId ? (report.memberId ?? none) : none;
  if (memberId === undefined || (memberId === claim.memberId && claim.clusterId === identity.clusterId)) {
    return [];
  }
  return [{ kind: "annotate-claim", clusterId: identity.clusterId, memberId, ...objectOf(claim) }];
}

function grow({ observed }: Facts, claim: ClaimView): Upkeep[] {
  const { size } = observed.cluster.spec.storage;
  const isWanted = claim.ours && !claim.terminating && claim.expandable !== false && claim.capacity !== null;
  return isWanted && claim.requested < (parseQuantity(size) ?? 0)
    ? [{ kind: "grow-claim", size, ...objectOf(claim) }]
    : [];
}

/** Also after someone else has changed the settings: the revision shows it. */
function settings(facts: Facts, { members, leaderId }: Configuration): Upkeep[] {
  const { cluster, set } = facts.observed;
  const values = settingsOf(cluster.spec);
  const leader = members.find((slot) => slot.id === leaderId);
  const report = leader === undefined ? undefined : facts.reportOf(facts.ordinalOf(leader));
  if (values.size === 0 || report?.memberId !== leaderId) {
    return [];
  }
  const applied = set?.settings ?? null;
  const isCurrent =
    applied !== null &&
    applied.revision === report.settingsRevision &&
    applied.values.size === values.size &&
    [...values].every(([name, value]) => applied.values.get(name) === value);
  return isCurrent ? [] : [{ kind: "put-settings", values, ifSettingsRevision: report.settingsRevision }];
}

/** @returns the replicated settings in the specification, by the members' names for them */
function settingsOf({ settings: spec }: ClusterSpec): ReadonlyMap<string, string> {
  const named: [string, number | undefined][] = [
    ["queue.duplicate_window_secs", spec.duplicateWindowSeconds],
    ["token.lifetime_secs", spec.tokenSeconds],
  ];
  for (const transport of ["http", "grpc"] as const) {
    const limit = spec.rateLimits?.[transport];
    named.push(
      [`ratelimit.${transport}.requests`, limit?.requests],
      [`ratelimit.${transport}.window_secs`, limit?.windowSeconds],
      [`ratelimit.${transport}.burst`, limit?.burst],
    );
  }
  return new Map(named.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])));
}
