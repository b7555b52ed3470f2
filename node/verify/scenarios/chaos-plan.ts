/** What a random run draws at its beginning (fault rates, limits), and what it counts. */

import { type CoreLimits, DEFAULT_CORE_LIMITS } from "../../src/raft/index.ts";

/** How many of ten thousand events are this fault; for duplicates: how many of a thousand deliveries. */
export interface Faults {
  readonly crash: number;
  readonly reset: number;
  readonly partition: number;
  readonly duplicate: number;
  readonly damage: number;
  readonly stall: number;
  readonly pause: number;
}

/** What happened in a run: a run in which nothing happens proves nothing. */
export interface ChaosSummary {
  commits: number;
  terms: number;
  leaders: number;
  reads: number;
  snapshots: number;
  changes: number;
  transfers: number;
  crashes: number;
  damaged: number;
}

/** An empty summary. */
export function newSummary(): ChaosSummary {
  return {
    commits: 0,
    terms: 0,
    leaders: 0,
    reads: 0,
    snapshots: 0,
    changes: 0,
    transfers: 0,
    crashes: 0,
    damaged: 0,
  };
}

/** Whole numbers from a seed (splitmix32). */
export function seeded(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % bound;
  };
}

/** Some faults never happen, the others seldom or often. */
export function drawFaults(random: (bound: number) => number): Faults {
  const rate = (max: number): number => (random(3) === 0 ? 0 : random(max));
  return {
    crash: rate(80),
    reset: rate(80),
    partition: rate(20),
    duplicate: rate(20),
    damage: rate(20),
    stall: rate(20),
    pause: rate(30),
  };
}

/** Short times, so that a run sees many elections. In one run of three all other limits are near their minimum. */
export function drawLimits(random: (bound: number) => number): CoreLimits {
  const election = 3 + random(14);
  const contactTicks = 2 + random(election - 1);
  const times: CoreLimits = {
    ...DEFAULT_CORE_LIMITS,
    electionTicksMin: election,
    electionTicksMax: 2 * election,
    heartbeatTicks: contactTicks < 4 ? 1 : 2,
    contactTicks,
    noQuorumTicks: 1 + random(contactTicks),
    transferTicks: election,
    stallTicks: election,
  };
  if (random(3) !== 0) {
    return { ...times, tailBytesMax: random(2) === 0 ? 200 : DEFAULT_CORE_LIMITS.tailBytesMax };
  }
  return {
    ...times,
    windowMessagesMax: 1 + random(3),
    windowBytesMax: 1 + random(300),
    messageBytesMax: 1 + random(200),
    uncommittedBytesMax: 1 + random(500),
    unappliedEntriesMax: 1 + random(20),
    followerBytesMax: 1 + random(600),
    tailBytesMax: 0,
    readsMax: 1 + random(4),
  };
}
