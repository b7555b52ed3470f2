/**
 * Adds the names of the members to refusals of membership changes.
 *
 * A refusal says that one of the members is not in the necessary state. The cluster's record usually shows which member
 * that is, and what to do. The reason, which programs use, stays the same.
 */

import { type Cluster, type ClusterMember, CoordinationError } from "../../state/index.ts";

/**
 * Returns the refusal of a change of these members, with the names of the affected members if the record shows them.
 */
export function explainedRefusal(
  refusal: CoordinationError,
  ids: readonly string[],
  cluster: Cluster,
): CoordinationError {
  const named = cluster.members.filter(({ id }) => ids.includes(String(id)));
  switch (refusal.reason) {
    case "MEMBER_NOT_FOUND": {
      const unknown = ids.filter((id) => !named.some((member) => String(member.id) === id));
      return explained(refusal, unknown, (list) => `no member has the id ${list}`);
    }
    case "LEARNER_NOT_READY":
      return explainedNotReady(refusal, named, cluster);
    default:
      return refusal;
  }
}

/** A learner is unclaimed, or it has not caught up yet. Only an unclaimed learner needs an action. */
function explainedNotReady(
  refusal: CoordinationError,
  named: readonly ClusterMember[],
  { configuration }: Cluster,
): CoordinationError {
  const unclaimed = named.filter(({ incarnation }) => incarnation.length === 0);
  if (unclaimed.length > 0) {
    const rest = "no process has claimed it; start one with that name";
    return explained(refusal, unclaimed.map(describe), (list) => `cannot be promoted yet: ${list}: ${rest}`);
  }
  const learners = named.filter(({ id }) => !configuration.voters.includes(id));
  const rest = "not caught up, not in contact or not healthy; retry when ListMembers reports it as promotable";
  return explained(refusal, learners.map(describe), (list) => `cannot be promoted yet: ${list}: ${rest}`);
}

function explained(
  refusal: CoordinationError,
  about: readonly string[],
  message: (list: string) => string,
): CoordinationError {
  if (about.length === 0) {
    return refusal;
  }
  const { reason, details, outcome } = refusal;
  return new CoordinationError(reason, message(about.join(", ")), { details, outcome });
}

function describe({ id, name }: ClusterMember): string {
  return `${name} (id ${id})`;
}
