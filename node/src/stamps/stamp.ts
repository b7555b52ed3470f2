/**
 * Stamps: named steps of a write, each with a number or text that identifies the write at that step.
 *
 * Product code calls `stamp` where a step begins or ends. Without a subscriber a stamp costs one test and allocates
 * nothing. A measuring program subscribes to the channel in each thread, from a module that it loads before the member,
 * and takes the time. Nothing in the product subscribes.
 *
 * A stamp holds no time and changes nothing. The marks of `raft/` have another purpose: they report which places a test
 * has reached.
 */

import { channel } from "node:diagnostics_channel";

/** Name of the diagnostics channel. Its messages are of type Stamp. */
export const STAMP_CHANNEL = "quoin:stamp";

/**
 * All steps. In parentheses: the meaning of `first`, `second`, `third` and `text`. A field that is not listed has no
 * meaning.
 */
export type StampName =
  /** The HTTP/2 library passes a call with its headers to the member (number of its stream). */
  | "call.arrived"
  /** The headers of the call have passed their checks (number of its stream; text: the request id). */
  | "call.admitted"
  /** The whole request has arrived (text: the request id). */
  | "call.complete"
  /** The library has sent the answer to the HTTP/2 session (text: the request id). */
  | "call.answered"
  /** A command waits for the next turn (number of the attempt). */
  | "proposal.queued"
  /** A follower has queued the attempt for the connection to the leader (number of the attempt, member id of the leader). */
  | "proposal.forwarded"
  /** The leader has decoded a forwarded attempt (number of the attempt, member id of the follower). */
  | "proposal.arrived"
  /**
   * The leader has appended the attempt in memory (index, number of the attempt, member id of the member that got the
   * call).
   */
  | "proposal.appended"
  /** The member that got the call knows the outcome of the attempt (number of the attempt). */
  | "proposal.answered"
  | "turn.begun"
  /** The main thread passes a write to the log thread (number of the write, index of its last entry). */
  | "log.handed"
  /** The log thread begins the write (number of the write). */
  | "log.begun"
  /** RocksDB has synced the write (number of the write). */
  | "log.synced"
  /** The mirror behind the write is written, and synced if necessary (number of the write). */
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
  /**
   * The member writes the queued bytes for a peer to its socket (member id of the peer; text: kind of the connection).
   */
  | "peer.written"
  /** Bytes from a peer have arrived; the member has not decoded them yet. */
  | "peer.read"
  /** Entries are committed and durable at this member, so it may apply them (index of the last one). */
  | "apply.due"
  | "apply.begun"
  /** The member has applied a slice, and reads can see it (index of its last entry). */
  | "apply.done";

export interface Stamp {
  readonly name: StampName;
  readonly first: number;
  readonly second: number;
  readonly third: number;
  readonly text: string;
}

const stamps = channel(STAMP_CHANNEL);
/** The only message, reused for every stamp: a subscriber reads it during the call and keeps no reference. */
const message: { -readonly [Field in keyof Stamp]: Stamp[Field] } = {
  name: "turn.begun",
  first: 0,
  second: 0,
  third: 0,
  text: "",
};

/** Whether this thread has a subscriber. Check it before work that only stamps need. */
export function hasStampReader(): boolean {
  return stamps.hasSubscribers;
}

/** Publishes the step if this thread has a subscriber. The arguments must cost nothing to make. */
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
