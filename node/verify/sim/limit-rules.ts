/** The limits of a member that can be seen from outside: on frames, writes, batches and waiting calls. */

import { decodeForward, decodeMessage, type Frame, FrameType } from "../../src/peers/index.ts";
import type { ReplicaLimits } from "../../src/replica/index.ts";
import { must } from "./rule-violation.ts";

const RULE = "I15 everything stays within its limit";

export class LimitRules {
  readonly #limits: ReplicaLimits;

  constructor(limits: ReplicaLimits) {
    this.#limits = limits;
  }

  /** A connection takes a frame from one member to another. */
  onFrameSent(from: number, to: number, { type, body }: Frame): void {
    const { core, proposalsPerTurn, proposalWorkMax } = this.#limits;
    if (type === FrameType.Append) {
      const message = decodeMessage(type, body, from, to);
      const rows = message.type === "append" ? message.rows : [];
      this.#within(from, "bytes of entries in a message", bytesOf(rows), core.messageBytesMax, rows.length > 1);
    }
    if (type === FrameType.Forward) {
      const { attempts } = decodeForward(body);
      const bytes = bytesOf(attempts.map(({ row }) => row));
      this.#within(from, "forwarded attempts", attempts.length, proposalsPerTurn, true);
      this.#within(from, "bytes of forwarded attempts", bytes, proposalWorkMax, attempts.length > 1);
    }
  }

  /** A batch of the state has the effects of this many entries. */
  onApplied(member: number, entries: number): void {
    this.#within(member, "entries in a batch of the state", entries, this.#limits.sliceEntries, true);
  }

  /** This many calls wait at a member; those that it has not seen yet do not count against the limit. */
  onWaiting(member: number, calls: number, unseen: number): void {
    const { waitersMax, queuedWaitsMax } = this.#limits;
    this.#within(member, "calls that wait", calls, waitersMax + queuedWaitsMax + unseen, true);
  }

  /** This many snapshots are on their way from a member. */
  onStreams(member: number, streams: number): void {
    this.#within(member, "snapshots under way", streams, this.#limits.snapshots.streamsMax, true);
  }

  /** `isBound`: false for an item that may have any size because it is alone. */
  #within(member: number, what: string, count: number, max: number, isBound: boolean): void {
    must(!isBound || count <= max, RULE, () => `m${member}: ${count} ${what}, not more than ${max}`);
  }
}

function bytesOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
