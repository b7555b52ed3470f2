/**
 * Which member may refuse a write that makes the state larger, for lack of space (P45). A leader may, if its own disk
 * or the disks of most voters are short of space. A leader's knowledge may be old, so a disk that was short once may
 * still count as short.
 */

import type { Configuration } from "../src/raft/index.ts";
import type { ReplicaStatus } from "../src/replica/index.ts";

type Said = Pick<ReplicaStatus, "memberId" | "role" | "alarms">;

const SHORT_OF_ROOM: readonly string[] = ["the disk is full", "the disk is nearly full"];

export class RoomRules {
  /** Members whose disks were short of space at some time. */
  readonly #short = new Set<number>();
  /** Some leader had a reason. */
  #hadReason = false;

  /** A member has had a turn, or has found its free space, with this configuration applied. */
  onTurn(status: Said, configuration: Configuration): void {
    if (isShort(status)) {
      this.#short.add(status.memberId);
    }
    this.#hadReason ||= status.role === "leader" && this.#hasReason(status, configuration);
  }

  /** Whether the member can have learned from a leader, or as a leader, that there is too little space. */
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
