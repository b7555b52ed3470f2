/**
 * Majorities: the highest value that a quorum has reached.
 *
 * Used for log indexes that members have stored, and for every other count of which "a majority has reached it" is
 * asked. Pure functions over the voters of one configuration.
 */

/**
 * The highest value that a majority of the voters has reached; `reached` gives each voter's value, 0 if unknown.
 * Without voters nothing was reached: 0.
 */
export function majorityReached(voters: readonly number[], reached: (voter: number) => number): number {
  const count = voters.length;
  if (count === 0) {
    return 0;
  }
  if (count === 1) {
    return reached(voters[0] as number);
  }
  // Insertion sort: a handful of voters, nearly always almost in order.
  const values = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const value = reached(voters[at] as number);
    let slot = at;
    while (slot > 0 && (values[slot - 1] as number) > value) {
      values[slot] = values[slot - 1] as number;
      slot--;
    }
    values[slot] = value;
  }
  const majority = Math.floor(count / 2) + 1;
  return values[count - majority] as number;
}
