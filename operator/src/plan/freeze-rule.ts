/** Without a configuration that a quorum has just confirmed, the plan removes, promotes, evicts and deletes nothing. */
import type { Facts } from "./facts.ts";
import type { Blocker } from "./plan.ts";
import { quorumLossOf } from "./quorum-loss.ts";

export function freeze(facts: Facts): Blocker | null {
  const { cluster, configuration } = facts.observed;
  const target = cluster.metadata.name;
  if (configuration === null) {
    const loss = quorumLossOf(facts);
    return loss === null
      ? { gate: "Freeze", reason: "NoLeader", target, message: "no leader has confirmed its quorum" }
      : { gate: "Freeze", reason: "QuorumLost", target, message: `${loss.reason}: ${loss.message}` };
  }
  return configuration.changing
    ? { gate: "Freeze", reason: "ConfigurationChanging", target, message: "a change of the members is under way" }
    : null;
}
