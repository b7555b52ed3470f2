/** Majorities, as the operator counts them. The leader's own checks are decisive; these only ask earlier. */

/** @returns the majority of this many voters */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/**
 * Number of pods that a drain must leave ready; null if no number would help. A budget counts ready pods, and only
 * voters in contact with a leader are ready. So a learner that waits for a node blocks no drain. An even number of
 * voters may lose none.
 */
export function minAvailableOf(wanted: number, voters: number): number | null {
  return Math.max(wanted, voters) < 2 ? null : Math.max(quorumOf(voters), voters - 1);
}
