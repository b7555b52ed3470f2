/**
 * Stamps: named steps on the way of a write, with what identifies the write at that step.
 *
 * Product code calls `stamp` where a step begins or ends. Without a subscriber a stamp costs one test and allocates
 * nothing. A program that measures subscribes to the channel in each thread, from a module loaded before the member,
 * and takes the time. Nothing in the product subscribes.
 *
 * A stamp holds no time and changes nothing. The marks of `raft/` are for another purpose: they say which places a test
 * has reached.
 */

import { channel } from "node:diagnostics_channel";

/** Name of the diagnostics channel. Its messages are of type Stamp. */
export const STAMP_CHANNEL = "quoin:stamp";

/** Every step. In parentheses: what `first`, `second`, `third` and `text` say. What is left out says nothing. */
export type StampName =
  /** The library hands over a call with its headers (number of its stream). */
  | "call.arrived"
  /** The headers of the call have passed their checks (number of its stream; text: the request id). */
  | "call.admitted"
  /** The request is here whole (text: the request id). */
  | "call.complete"
  /** The answer is with the library, which has sent it to the HTTP/2 session (text: the request id). */
  | "call.answered"
  /** A command waits for the next turn (number of the attempt). */
  | "proposal.queued"
  /** A follower has queued the attempt for the connection to the leader (number of the attempt, member id of the leader). */
  | "proposal.forwarded"
  /** The leader has decoded a forwarded attempt (number of the attempt, member id of the follower). */
  | "proposal.arrived"
  /** The leader has appended the attempt in memory (index, number of the attempt, member id of where it was asked). */
  | "proposal.appended"
  /** The outcome of the attempt is known at the member that was asked (number of the attempt). */
  | "proposal.answered"
  | "turn.begun"
  /** A write goes to the log thread now (number of the write, index of its last entry). */
  | "log.handed"
  /** The log thread begins with the write (number of the write). */
  | "log.begun"
  /** RocksDB has synced the write (number of the write). */
  | "log.synced"
  /** The fence is written behind the write, and synced if it had to be (number of the write). */
  | "log.written"
  /** The main thread learns that the write is durable (number of the write). */
  | "log.durable"
  /**
   * The leader has queued an append or a heartbeat for a follower (index of its last entry, 0 = it has none; commit index;
   * member id of the follower; text: its type).
   */
  | "progress.sent"
  /** The same message, decoded at the follower (index, commit index, member id of the leader; text: its type). */
  | "progress.arrived"
  /** A follower has queued an acknowledgement (index, its own member id, member id of the leader). */
  | "acknowledgement.sent"
  /** The leader has decoded an acknowledgement (index, member id of the follower). */
  | "acknowledgement.arrived"
  /** What is queued for a peer goes to its socket now (member id of the peer; text: kind of the connection). */
  | "peer.written"
  /** Bytes of a peer have arrived, and nothing of them is decoded yet. */
  | "peer.read"
  /** Entries are committed and durable here, so that they may be applied (index of the last one). */
  | "apply.due"
  | "apply.begun"
  /** A slice is applied and can be read (index of its last entry). */
  | "apply.done";

export interface Stamp {
  readonly name: StampName;
  readonly first: number;
  readonly second: number;
  readonly third: number;
  readonly text: string;
}

const stamps = channel(STAMP_CHANNEL);
/** The one message, used for every stamp: a subscriber reads it while it is called and keeps no reference. */
const message: { -readonly [Field in keyof Stamp]: Stamp[Field] } = {
  ...{ name: "turn.begun", first: 0, second: 0, third: 0, text: "" },
};

/** Whether this thread has a subscriber: to be asked before work that is done for stamps alone. */
export function hasStampReader(): boolean {
  return stamps.hasSubscribers;
}

/** Publishes the step, if there is a subscriber in this thread. The arguments must cost nothing to make. */
export function stamp(name: StampName, first = 0, second = 0, third = 0, text = ""): void {
  if (stamps.hasSubscribers) {
    message.name = name;
    message.first = first;
    message.second = second;
    message.third = third;
    message.text = text;
    stamps.publish(message);
  }
}
