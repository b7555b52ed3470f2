/**
 * Type numbers of frames, final, and which connection carries which.
 *
 * Heartbeats, votes and reads have a connection of their own, so that they never wait behind entries; whatever may be
 * large or many travels on the log connection; a snapshot has one for itself.
 */

/** What a connection carries, from the member that opened it to the one that accepted it. */
export type ConnectionKind = "control" | "log" | "snapshot";

/** The kinds of connection that every pair of members keeps open. */
export type LinkKind = "control" | "log";
export const LINK_KINDS: readonly LinkKind[] = ["control", "log"];

export const FrameType = {
  Vote: 1,
  PreVote: 2,
  VoteReply: 3,
  PreVoteReply: 4,
  Append: 5,
  AppendReply: 6,
  Heartbeat: 7,
  HeartbeatReply: 8,
  ReadRequest: 9,
  ReadReply: 10,
  TimeoutNow: 11,
  /** The leader's cluster tick, beside its heartbeats. */
  ClusterTick: 12,
  /** How a member's disk and state are, told to the leader; and, by the leader, that most voters have no room. */
  MemberReport: 13,
  /** A follower asks the leader to log attempts; and what became of them. */
  Forward: 16,
  Forwarded: 17,
  Refused: 18,
  /** A member asks the leader what only the leader knows, or to hand over; and the answer. */
  Question: 20,
  Reply: 21,
  Hello: 32,
  Answer: 33,
  Ping: 34,
  Join: 35,
  JoinAnswer: 36,
  SnapshotManifest: 48,
  SnapshotChunk: 49,
  SnapshotTrailer: 50,
  /** The sender has sent everything; and the receiver has read it to this end. Transport's own. */
  SnapshotEnd: 51,
  SnapshotTaken: 52,
} as const;

const CONTROL_TYPES: ReadonlySet<number> = new Set([
  FrameType.Vote,
  FrameType.PreVote,
  FrameType.VoteReply,
  FrameType.PreVoteReply,
  FrameType.Heartbeat,
  FrameType.HeartbeatReply,
  FrameType.ReadRequest,
  FrameType.ReadReply,
  FrameType.TimeoutNow,
  FrameType.ClusterTick,
  FrameType.MemberReport,
  FrameType.Question,
  FrameType.Reply,
]);
const LOG_TYPES: ReadonlySet<number> = new Set([
  FrameType.Append,
  FrameType.AppendReply,
  FrameType.Forward,
  FrameType.Forwarded,
  FrameType.Refused,
]);
const SNAPSHOT_TYPES: ReadonlySet<number> = new Set([
  FrameType.SnapshotManifest,
  FrameType.SnapshotChunk,
  FrameType.SnapshotTrailer,
]);

/** Whether connections of the kind carry frames of the type for those who use the transport. */
export function carries(kind: ConnectionKind, type: number): boolean {
  switch (kind) {
    case "control":
      return CONTROL_TYPES.has(type);
    case "log":
      return LOG_TYPES.has(type);
    case "snapshot":
      return SNAPSHOT_TYPES.has(type);
  }
}
