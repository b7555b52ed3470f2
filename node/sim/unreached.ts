/** What runs never reach, each with the reason if there is one: everything else in it is to be looked at. */

import { FrameType } from "../src/peers/index.ts";
import { RELATIONS } from "./log-relation.ts";
import { marksOfProgram } from "./mark-record.ts";
import { pairOf } from "./reach.ts";

const ROLES = ["follower", "candidate", "leader"];
/** Of handshakes and snapshots, which connections deal with by themselves. */
const NOT_READ = ["Hello", "Answer", "Ping", "Join", "JoinAnswer"];

const LATE = "an answer that is so late that its reader has lost its leader, or leads itself";

/** Why something is not reached, or hardly ever. */
export const REASONS: ReadonlyMap<string, string> = new Map([
  ["raft.loss-proven", "a directory that lies about what it holds is beyond the atlas of damage"],
  ["raft.append.during-install", "a leader that waits for an install sends no entries; only a new one may"],
  ["raft.campaign.unapplied-configuration", "applying has to lag for a whole election timeout behind a change"],
  ["raft.snapshot.matches", "the entries of the snapshot have to come from another leader while it is on its way"],
  ["raft.snapshot.older-than-pending", "two snapshots have to be under way to a member, the older one offered last"],
  ["raft.snapshot.overdue", "a member that is sent a whole state takes it over or dies within 30 s"],
  ["raft.transfer.target-gone", "one administrator does one thing at a time: no transfer meets a removal"],
  ["raft.removed-leader-steps-down", "the administrator never removes the leader; only one that led before it"],
  ["replica.attempt.refuted-by-snapshot", "an attempt has to be lost by its leader, and the log of its member with it"],
  ["replica.healing.answer-of-old-term", "an answer and a new leader have to be read in the same turn"],
  [pairOf("candidate", "AppendReply"), LATE],
  [pairOf("candidate", "HeartbeatReply"), LATE],
  [pairOf("candidate", "ReadRequest"), "a follower has to take it for its leader still"],
  [pairOf("candidate", "ReadReply"), LATE],
  [pairOf("candidate", "TimeoutNow"), "its leader has to be lost and to hand over to it at the same time"],
  [pairOf("candidate", "Forwarded"), LATE],
  [pairOf("candidate", "Refused"), LATE],
  [pairOf("candidate", "Reply"), LATE],
  [pairOf("leader", "ReadReply"), LATE],
  [pairOf("leader", "TimeoutNow"), "it has to be elected while the word that it is to be is on its way"],
  [pairOf("leader", "Forwarded"), LATE],
  [pairOf("leader", "Reply"), LATE],
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
