/**
 * Who may refuse what makes the state larger, for want of room (P45): a leader whose own disk is short of it, or that of
 * most voters. What a leader has been told may be old, so that whose disk was short once may be taken for short still.
 */

import type { Configuration } from "../src/raft/index.ts";
import type { ReplicaStatus } from "../src/replica/index.ts";

type Said = Pick<ReplicaStatus, "memberId" | "role" | "alarms">;

const SHORT_OF_ROOM: readonly string[] = ["the disk is full", "the disk is nearly full"];

export class RoomRules {
  /** Members whose disks were short of room at some time. */
  readonly #short = new Set<number>();
  /** There was a leader that had a reason. */
  #hadReason = false;

  /** A member has had a turn, or has found how much room there is, with this configuration applied. */
  onTurn(status: Said, configuration: Configuration): void {
    if (isShort(status)) {
      this.#short.add(status.memberId);
    }
    this.#hadReason ||= status.role === "leader" && this.#hasReason(status, configuration);
  }

  /** Whether the member can have learned from a leader, or as one, that there is too little room. */
  mayRefuse(status: Said, configuration: Configuration): boolean {
    return this.#hadReason || this.#hasReason(status, configuration);
  }

  #hasReason(status: Said, { voters }: Configuration): boolean {
    return isShort(status) || voters.filter((id) => this.#short.has(id)).length > voters.length / 2;
  }
}

function isShort({ alarms }: Said): boolean {
  return alarms.some((alarm) => SHORT_OF_ROOM.includes(alarm));
}
