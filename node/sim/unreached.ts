/** What runs never reach, each with the reason if there is one: everything else in it is to be looked at. */

import { FrameType } from "../src/peers/index.ts";
import { RELATIONS } from "./log-relation.ts";
import { marksOfProgram } from "./mark-record.ts";
import { pairOf } from "./reach.ts";

const ROLES = ["follower", "candidate", "leader"];
/** Of handshakes and snapshots, which connections deal with by themselves. */
const NOT_READ = ["Hello", "Answer", "Ping", "Join", "JoinAnswer"];

/** Why something is not reached, or hardly ever. */
export const REASONS: ReadonlyMap<string, string> = new Map([
  ["raft.loss-proven", "a directory that lies about what it holds is beyond the atlas of damage"],
  [
    "raft.snapshot.older-than-pending",
    "a new leader has to offer an older snapshot while a newer one of the leader before still comes in",
  ],
  ["replica.healing.answer-of-old-term", "an answer and a new leader have to be read in the same turn"],
]);

/**
 * Names of all pairs of a role and a type of frames that members of it read, apart by how a frame stands to the log of
 * its reader where that matters.
 */
export function pairsOfProgram(): string[] {
  const types = Object.keys(FrameType).filter((type) => !NOT_READ.includes(type) && !type.startsWith("Snapshot"));
  const frames = types.flatMap((type) => RELATIONS.get(type)?.map((relation) => `${type} ${relation}`) ?? [type]);
  return ROLES.flatMap((role) => frames.map((frame) => pairOf(role, frame)));
}

/** Marks and pairs that could be reached and were not; several lines. */
export function describeUnreached(reached: ReadonlyMap<string, number>): string {
  const [marks, pairs] = [marksOfProgram(), pairsOfProgram()];
  const never = [...marks, ...pairs].filter((name) => !reached.has(name));
  const lines = never.map(
    (name) => `    ${name}: ${REASONS.get(name) ?? "no reason is known, or there were too few runs"}`,
  );
  return [`never reached: ${never.length} of ${marks.length} marks and ${pairs.length} pairs together`, ...lines].join(
    "\n",
  );
}
