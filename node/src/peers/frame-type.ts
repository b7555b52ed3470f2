/**
 * The type numbers of frames, which are final, and which connection carries which type.
 *
 * Heartbeats, votes and reads have their own connection, so that they never wait behind entries. Large or frequent
 * frames use the log connection. A snapshot has its own connection.
 */

/** What a connection carries, from the member that opened it to the member that accepted it. */
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
  /** The leader's cluster tick, sent with its heartbeats. */
  ClusterTick: 12,
  /**
   * A member reports the state of its disk and data to the leader; the leader reports that most voters have a full
   * disk.
   */
  MemberReport: 13,
  /** A follower asks the leader to log attempts; the other two carry the results. */
  Forward: 16,
  Forwarded: 17,
  Refused: 18,
  /** A trace of a call is kept: the receiver exports its spans of it. Only over protocol 3. */
  KeptTrace: 19,
  /** A member asks the leader for something that only the leader knows, or for a transfer; then the answer. */
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
  /** The sender has sent everything; the receiver has read everything. Only the transport uses these two. */
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
  FrameType.KeptTrace,
]);
const SNAPSHOT_TYPES: ReadonlySet<number> = new Set([
  FrameType.SnapshotManifest,
  FrameType.SnapshotChunk,
  FrameType.SnapshotTrailer,
]);

/** Whether connections of this kind carry frames of this type for users of the transport. */
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
