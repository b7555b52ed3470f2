/**
 * Majorities: what a quorum has reached, and how a quorum has voted.
 *
 * These are pure functions over the voters of a configuration. A joint configuration needs both its majorities. An
 * empty set of voters agrees to everything, so the outgoing half of a configuration that is not joint has no effect.
 */

import type { Configuration } from "./configuration.ts";

/**
 * Scratch space for the values of a majority. By design no configuration is larger; a larger one gets its own array.
 */
const VOTERS_USUAL_MAX = 16;
const scratch = new Float64Array(VOTERS_USUAL_MAX);

/** The state of an election. */
export type ElectionState = "pending" | "won" | "lost";

/** The highest value that a quorum has reached; `reached` returns each voter's value, 0 if unknown. */
export function quorumReached(configuration: Configuration, reached: (voter: number) => number): number {
  return Math.min(majorityReached(configuration.voters, reached), majorityReached(configuration.outgoing, reached));
}

/** The state of an election; `vote` returns each voter's answer, undefined if there is none yet. */
export function election(configuration: Configuration, vote: (voter: number) => boolean | undefined): ElectionState {
  const halves = [majorityVote(configuration.voters, vote), majorityVote(configuration.outgoing, vote)];
  if (halves.includes("lost")) {
    return "lost";
  }
  return halves.includes("pending") ? "pending" : "won";
}

/** The highest value that a majority of the voters has reached; infinity without voters. */
export function majorityReached(voters: readonly number[], reached: (voter: number) => number): number {
  const count = voters.length;
  if (count === 0) {
    return Number.POSITIVE_INFINITY;
  }
  if (count === 1) {
    return reached(voters[0] as number);
  }
  // Insertion sort: a handful of voters, nearly always almost in order.
  const values = count <= VOTERS_USUAL_MAX ? scratch : new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const value = reached(voters[at] as number);
    let slot = at;
    while (slot > 0 && (values[slot - 1] as number) > value) {
      values[slot] = values[slot - 1] as number;
      slot--;
    }
    values[slot] = value;
  }
  return values[count - majorityOf(count)] as number;
}

/** The state of an election among these voters; won without voters. */
export function majorityVote(voters: readonly number[], vote: (voter: number) => boolean | undefined): ElectionState {
  if (voters.length === 0) {
    return "won";
  }
  let granted = 0;
  let refused = 0;
  for (const voter of voters) {
    const answer = vote(voter);
    granted += answer === true ? 1 : 0;
    refused += answer === false ? 1 : 0;
  }
  const majority = majorityOf(voters.length);
  if (granted >= majority) {
    return "won";
  }
  return voters.length - refused < majority ? "lost" : "pending";
}

function majorityOf(count: number): number {
  return Math.floor(count / 2) + 1;
}
