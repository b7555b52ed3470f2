/** Majorities as the operator counts them. The leader's own guards decide; these only ask sooner. */

/** @returns how many of so many voters are a majority */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/**
 * How many pods a drain must leave ready; null where no number would help. A budget counts ready pods, and only voters in
 * contact with a leader are ready, so a learner that waits for a node blocks nobody. An even number of voters must lose none more.
 */
export function minAvailableOf(wanted: number, voters: number): number | null {
  return Math.max(wanted, voters) < 2 ? null : Math.max(quorumOf(voters), voters - 1);
}
