/**
 * Messages between the consensus cores of a cluster.
 *
 * Every message names the term of its sender. The driver carries them over connections that have verified who is at
 * the other end, so `from` is what the connection says. Messages of one connection arrive in order or not at all;
 * between connections they may overtake each other, and a connection that is replaced takes its unread ones with it.
 */

interface Header {
  readonly from: number;
  readonly to: number;
  readonly term: number;
}

/** Asks for a vote in `term`. `transfer`: the leader itself asked for this election, so its contact is no obstacle. */
export interface Vote extends Header {
  readonly type: "vote";
  readonly lastIndex: number;
  readonly lastTerm: number;
  readonly transfer: boolean;
}

/** Asks whether a vote in `term`, which the sender has not entered, would be granted. Changes nothing anywhere. */
export interface PreVote extends Header {
  readonly type: "pre-vote";
  readonly lastIndex: number;
  readonly lastTerm: number;
}

/**
 * Answers to candidates also name the newest entry that the sender knows to be committed. A candidate that holds it
 * without knowing that learns it so; where a member that was removed is the only other one that has it, in no other way.
 */
interface VoteAnswer extends Header {
  readonly granted: boolean;
  readonly commit: number;
  readonly commitTerm: number;
}

export interface VoteReply extends VoteAnswer {
  readonly type: "vote-reply";
}

/** A grant names the term that was asked for, a refusal the own one. */
export interface PreVoteReply extends VoteAnswer {
  readonly type: "pre-vote-reply";
}

/** Entries after (prevIndex, prevTerm), possibly none, and the sender's commit index. */
export interface Append extends Header {
  readonly type: "append";
  readonly prevIndex: number;
  readonly prevTerm: number;
  readonly commit: number;
  /** False when all that it tells is the commit index: then only a refusal is sent back. */
  readonly wantsReply: boolean;
  readonly rows: readonly Uint8Array[];
}

/** Why a follower could not take entries: none, too much is waiting to be written or applied, or its disk is full. */
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

/** Keeps followers from electing; confirms reads up to `readPosition`; commit is never above what the peer holds. */
export interface Heartbeat extends Header {
  readonly type: "heartbeat";
  readonly commit: number;
  readonly readPosition: number;
}

export interface HeartbeatReply extends Header {
  readonly type: "heartbeat-reply";
  readonly commit: number;
  /** How far the sender has applied: tells whether a learner keeps up. */
  readonly applied: number;
  readonly readPosition: number;
  /** Somebody at the sender waits for whatever is committed next: it is to be told the commit index at once. */
  readonly watched: boolean;
}

/** A follower asks for a read point; `boot` and `position` come back unchanged. */
export interface ReadRequest extends Header {
  readonly type: "read-request";
  readonly boot: number;
  readonly position: number;
}

/** Confirms every position of the asker up to this one, in this term and for this start of the asker (P10). */
export interface ReadReply extends Header {
  readonly type: "read-reply";
  readonly boot: number;
  readonly position: number;
  readonly index: number;
}

/** The leader hands over: start an election now. */
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
