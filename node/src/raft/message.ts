/**
 * Messages between the consensus cores of a cluster.
 *
 * Every message names the term of its sender. The driver carries messages over connections that have verified the other
 * end, so `from` is the member that the connection names. Messages of one connection arrive in order or not at all.
 * Messages of different connections may overtake each other. A connection that is replaced takes its unread messages
 * with it.
 */

interface Header {
  readonly from: number;
  readonly to: number;
  readonly term: number;
}

/**
 * Requests a vote in `term`. `transfer`: the leader itself requested this election, so contact with it is no obstacle.
 */
export interface Vote extends Header {
  readonly type: "vote";
  readonly lastIndex: number;
  readonly lastTerm: number;
  readonly transfer: boolean;
}

/**
 * Asks whether the receiver would grant a vote in `term`, which the sender has not entered. Changes no state anywhere.
 */
export interface PreVote extends Header {
  readonly type: "pre-vote";
  readonly lastIndex: number;
  readonly lastTerm: number;
}

/**
 * Answers to candidates also name the newest entry that the sender knows to be committed. A candidate that has the
 * entry thereby learns that it is committed. If only a removed member also has the entry, the candidate learns it in no
 * other way.
 */
interface VoteAnswer extends Header {
  readonly granted: boolean;
  readonly commit: number;
  readonly commitTerm: number;
}

export interface VoteReply extends VoteAnswer {
  readonly type: "vote-reply";
}

/** A grant names the requested term; a refusal names the sender's own term. */
export interface PreVoteReply extends VoteAnswer {
  readonly type: "pre-vote-reply";
}

/** Entries after (prevIndex, prevTerm), possibly none, and the sender's commit index. */
export interface Append extends Header {
  readonly type: "append";
  readonly prevIndex: number;
  readonly prevTerm: number;
  readonly commit: number;
  /** False if the message carries only a commit index; then the receiver answers only with a refusal. */
  readonly wantsReply: boolean;
  readonly rows: readonly Uint8Array[];
}

/**
 * Why a follower refused entries. no: it is not busy. busy: too many entries wait to be written or applied. full: its
 * disk is full.
 */
export type Busy = "no" | "busy" | "full";

export interface AppendReply extends Header {
  readonly type: "append-reply";
  /** Accepted: the log equals the leader's up to here. Refused: the prevIndex that did not match. */
  readonly index: number;
  readonly refused: boolean;
  /** Refused: largest own index whose term is at most the leader's prevTerm, and that term. */
  readonly hintIndex: number;
  readonly hintTerm: number;
  readonly commit: number;
  readonly busy: Busy;
}

/**
 * Keeps followers from campaigning and confirms reads up to `readPosition`. `commit` is never above the receiver's
 * match.
 */
export interface Heartbeat extends Header {
  readonly type: "heartbeat";
  readonly commit: number;
  readonly readPosition: number;
}

export interface HeartbeatReply extends Header {
  readonly type: "heartbeat-reply";
  readonly commit: number;
  /** The sender's applied index: it shows whether a learner keeps up. */
  readonly applied: number;
  readonly readPosition: number;
  /** A client at the sender waits for the next commit: the leader must send it each commit index at once. */
  readonly watched: boolean;
}

/** A follower asks for a read point; `boot` and `position` come back unchanged. */
export interface ReadRequest extends Header {
  readonly type: "read-request";
  readonly boot: number;
  readonly position: number;
}

/** Confirms every position of the requester up to this one, in this term and for this start of the requester (P10). */
export interface ReadReply extends Header {
  readonly type: "read-reply";
  readonly boot: number;
  readonly position: number;
  readonly index: number;
}

/** The leader transfers the leadership: start an election now. */
export interface TimeoutNow extends Header {
  readonly type: "timeout-now";
}

export type Message =
  | Vote
  | PreVote
  | VoteReply
  | PreVoteReply
  | Append
  | AppendReply
  | Heartbeat
  | HeartbeatReply
  | ReadRequest
  | ReadReply
  | TimeoutNow;
