/**
 * Refusals of changes of the membership, with the members named that they are about.
 *
 * Whoever refuses knows that one of the members is not as it must be; which one that is, and what is to be done about
 * it, the record mostly tells. The reason, and with it what programs go by, stays the same.
 */

import { type Cluster, type ClusterMember, CoordinationError } from "../../state/index.ts";

/** The refusal of a change that names these members, as helpful as the record allows. */
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

/** Nobody has claimed it, or it has not caught up yet: only the first cannot pass by itself. */
function explainedNotReady(
  refusal: CoordinationError,
  named: readonly ClusterMember[],
  { configuration }: Cluster,
): CoordinationError {
  const unclaimed = named.filter(({ incarnation }) => incarnation.length === 0);
  if (unclaimed.length > 0) {
    const rest = "no process has claimed it; start one with that name";
    return explained(refusal, unclaimed.map(describe), (list) => `not to be promoted yet: ${list}: ${rest}`);
  }
  const learners = named.filter(({ id }) => !configuration.voters.includes(id));
  const rest = "not caught up, not in contact or not fit; ask again when ListMembers says that it is promotable";
  return explained(refusal, learners.map(describe), (list) => `not to be promoted yet: ${list}: ${rest}`);
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
