/** The beginning of a cluster: set, identity, founding. These rules found a cluster, and only once. */
import type { Facts } from "./facts.ts";
import type { ClaimView } from "./observed.ts";
import type { Blocker, Step } from "./plan.ts";
import { objectOf } from "./volume-rules.ts";

/** Founder of an identity that was written again for an existing cluster: no member may found a cluster with it. */
const NO_FOUNDER = "-";

/** Pause between restore requests to a member. */
const RESTORE_PAUSE_MS = 10_000;

/** Adopts existing volumes before anything new is created. */
export function adopt(facts: Facts): Step | Blocker | null {
  const { claims, identity, set } = facts.observed;
  if (set !== null && identity !== null) {
    return null;
  }
  const doubtful = claims.find((claim) => claim.terminating || claim.foreign);
  if (doubtful !== undefined) {
    const name = facts.claimNameOf(doubtful.ordinal);
    const why = doubtful.foreign ? "belongs to another CoordinationCluster" : "is being deleted";
    return {
      gate: "Adopt",
      reason: "ClaimTerminating",
      target: name,
      message: `${name} ${why}: waiting until it is gone`,
    };
  }
  if (identity === null) {
    const found = restoreIdentity(facts);
    if (found !== null) {
      return found;
    }
  }
  return set === null ? (restoreBlocker(facts, "Adopt") ?? createSet(facts, claims)) : null;
}

/**
 * A cluster that is founded from a backup gets no pod before the backup is usable: the pod would have nothing to do.
 */
function restoreBlocker({ observed }: Facts, gate: "Adopt" | "Found"): Blocker | null {
  const { claims, cluster, restore } = observed;
  const problem = restore?.isInForce === true ? null : (restore?.problem ?? null);
  const isFounded = claims.some(({ memberId }) => typeof memberId === "number");
  return problem === null || isFounded
    ? null
    : { gate, reason: "RestoreNotReady", target: cluster.metadata.name, message: problem.message };
}

function restoreIdentity(facts: Facts): Step | Blocker | null {
  const { claims, cluster, reports } = facts.observed;
  const running = [...reports.values()].filter((report) => report.state === "RUNNING");
  const ids = new Set(
    [...claims, ...running].flatMap(({ clusterId }) =>
      clusterId === null || clusterId === undefined ? [] : [clusterId],
    ),
  );
  const target = `${cluster.metadata.name}-identity`;
  const [clusterId, ...others] = ids;
  if (others.length > 0) {
    const message = `volumes and members name ${ids.size} clusters (${[...ids].join(", ")}): delete the volumes of the other clusters`;
    return { gate: "Adopt", reason: "IdentityConflict", target, message };
  }
  if (clusterId !== undefined) {
    const message = `volumes or members belong to cluster ${clusterId}`;
    const action = { kind: "create-identity", clusterId, founder: NO_FOUNDER, founderIncarnation: NO_FOUNDER } as const;
    return { rule: "Adopt", target, message, action };
  }
  const past = cluster.status?.clusterId;
  return past === undefined
    ? null
    : {
        gate: "Adopt",
        reason: "IdentityConflict",
        target,
        message: `cluster ${past} existed, but neither its identity nor a volume is left: bring back ConfigMap ${target}, or delete and create the CoordinationCluster`,
      };
}

function createSet(facts: Facts, claims: readonly ClaimView[]): Step {
  const { cluster, identity } = facts.observed;
  const ours = claims.filter(({ clusterId }) => clusterId !== null && clusterId === identity?.clusterId);
  const replicas = Math.max(1, ...ours.map(({ ordinal }) => ordinal + 1));
  const { name } = cluster.metadata;
  return {
    rule: "Adopt",
    target: name,
    message: `${name} has no StatefulSet`,
    action: { kind: "create-set", replicas },
  };
}

/** The identity names one empty directory. Only then that member gets the request to found the cluster. */
export function foundCluster(facts: Facts): Step | Blocker | null {
  const { claims, identity, reports } = facts.observed;
  const hasForm =
    [...reports.values()].some((report) => (report.configuration?.members.length ?? 0) > 0) ||
    claims.some((claim) => typeof claim.memberId === "number");
  if (hasForm) {
    return null;
  }
  const founder = facts.nameOf(0);
  const pod = facts.podOf(0);
  const report = facts.reportOf(0);
  const waiting = awaitRestore(facts);
  if (waiting !== null) {
    return waiting;
  }
  if (identity === null) {
    const other = claims.find((claim) => claim.ordinal !== 0);
    if (other !== undefined) {
      const name = facts.claimNameOf(other.ordinal);
      const message = `${name} exists before the cluster is founded: delete it with kubectl delete pvc ${name}`;
      return { gate: "Found", reason: "StaleVolumes", target: name, message };
    }
    if (report?.state !== "EMPTY") {
      return waitingForFounder(founder);
    }
    const action = { kind: "create-identity", founder, founderIncarnation: report.incarnation } as const;
    return { rule: "Found", target: founder, message: `${founder} is empty and may found the cluster`, action };
  }
  if (identity.founder !== founder || pod === undefined || report === undefined) {
    return identity.founder === founder ? waitingForFounder(founder) : null;
  }
  if (report.state !== "EMPTY" || report.incarnation !== identity.founderIncarnation) {
    return null;
  }
  const restoring = blockerOfRestore(facts);
  if (restoring !== null) {
    return restoring;
  }
  const { clusterId, founderIncarnation: incarnation } = identity;
  const action = { kind: "bootstrap", ordinal: 0, podUid: pod.uid, clusterId, incarnation } as const;
  const from = facts.observed.restore === null ? "" : " from a backup";
  return { rule: "Found", target: founder, message: `${founder} founds cluster ${clusterId}${from}`, action };
}

/** A member founds the cluster only once its process has the flags of this backup and no other. */
function awaitRestore(facts: Facts): Step | Blocker | null {
  const { cluster, restore, set } = facts.observed;
  if (restore === null || set === null) {
    return null;
  }
  const blocker = restoreBlocker(facts, "Found");
  if (blocker !== null) {
    return blocker;
  }
  const target = facts.nameOf(0);
  const pod = facts.podOf(0);
  if (!restore.isInForce || !set.caughtUp || set.isOverwritten) {
    const message = "the pods do not have the flags of the backup yet";
    return { gate: "Found", reason: "RevisionNotObserved", target: cluster.metadata.name, message };
  }
  if (pod === undefined || !facts.isOutdated(pod) || facts.reportOf(0)?.state === "RUNNING") {
    return null;
  }
  return pod.terminating
    ? waitingForFounder(target)
    : {
        rule: "Found",
        target,
        message: `${target} is empty, but spec.restoreFrom has changed`,
        action: { kind: "delete-pod", ...objectOf(pod) },
      };
}

/** A member continues a restore after the request has timed out. A later request returns the result. */
function blockerOfRestore(facts: Facts): Blocker | null {
  const { attempts, now, restore } = facts.observed;
  const pod = facts.podOf(0);
  const attempt = attempts.restore;
  if (
    restore === null ||
    attempt === undefined ||
    attempt.podUid !== pod?.uid ||
    now - attempt.at >= RESTORE_PAUSE_MS
  ) {
    return null;
  }
  return restoreWaitBlocker(facts.nameOf(0), attempt.failure, facts.reportOf(0)?.alarms.at(-1));
}

/**
 * The hold while a member founds the cluster from a backup.
 *
 * @param failure of the last try
 * @param told the member's report about itself
 */
export function restoreWaitBlocker(target: string, failure: string | null, told: string | undefined): Blocker {
  return failure === null
    ? { gate: "Found", reason: "Restoring", target, message: told ?? `${target} restores the backup` }
    : { gate: "Found", reason: "RestoreFails", target, message: failure };
}

function waitingForFounder(target: string): Blocker {
  const message = `waiting for ${target} to start: see kubectl describe pod ${target}`;
  return { gate: "Found", reason: "WaitingForFounder", target, message };
}
