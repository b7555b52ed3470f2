/** The marks that runs never reach, each with the reason if there is one. A mark without a reason needs a look. */

import { FrameType } from "../../src/peers/index.ts";
import { pairOf } from "./coverage.ts";
import { RELATIONS } from "./log-relation.ts";
import { marksOfProgram } from "./mark-record.ts";

const ROLES = ["follower", "candidate", "leader"];
/** Frames of handshakes and snapshots, which connections handle themselves, and of traces, which these members keep none of. */
const NOT_READ = ["Hello", "Answer", "Ping", "Join", "JoinAnswer", "KeptTrace"];

/** Why a mark is never or hardly ever reached. */
export const REASONS: ReadonlyMap<string, string> = new Map([
  ["raft.loss-proven", "a directory that lies about what it holds is beyond the atlas of damage"],
  [
    "raft.snapshot.older-than-pending",
    "a new leader has to offer an older snapshot while a newer one of the leader before still comes in",
  ],
  ["replica.healing.answer-of-old-term", "an answer and a new leader have to be read in the same turn"],
]);

/**
 * Names of all pairs of a role and a type of frame that members of the role read. Where it matters, a pair also names
 * the relation of the frame to the reader's log.
 */
export function pairsOfProgram(): string[] {
  const types = Object.keys(FrameType).filter((type) => !NOT_READ.includes(type) && !type.startsWith("Snapshot"));
  const frames = types.flatMap((type) => RELATIONS.get(type)?.map((relation) => `${type} ${relation}`) ?? [type]);
  return ROLES.flatMap((role) => frames.map((frame) => pairOf(role, frame)));
}

/** Marks and pairs that could be reached and were not; several lines. */
export function describeUncovered(reached: ReadonlyMap<string, number>): string {
  const [marks, pairs] = [marksOfProgram(), pairsOfProgram()];
  const never = [...marks, ...pairs].filter((name) => !reached.has(name));
  const lines = never.map(
    (name) => `    ${name}: ${REASONS.get(name) ?? "no reason is known, or there were too few runs"}`,
  );
  return [`never reached: ${never.length} of ${marks.length} marks and ${pairs.length} pairs together`, ...lines].join(
    "\n",
  );
}
