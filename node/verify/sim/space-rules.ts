/**
 * Which member may refuse a write that makes the state larger, for lack of space (P45). A leader may, if its own disk
 * or the disks of most voters are short of space. A leader's knowledge may be old, so a disk that was short once may
 * still count as short.
 */

import type { Configuration } from "../../src/raft/index.ts";
import type { ReplicaStatus } from "../../src/replica/index.ts";

type SpaceStatus = Pick<ReplicaStatus, "memberId" | "role" | "alarms">;

const SPACE_ALARMS: readonly string[] = ["the disk is full", "the disk is nearly full"];

export class SpaceRules {
  /** Members whose disks were short of space at some time. */
  readonly #short = new Set<number>();
  /** Some leader had a reason. */
  #hadReason = false;

  /** A member has had a turn, or has found its free space, with this configuration applied. */
  onTurn(status: SpaceStatus, configuration: Configuration): void {
    if (isShort(status)) {
      this.#short.add(status.memberId);
    }
    this.#hadReason ||= status.role === "leader" && this.#hasReason(status, configuration);
  }

  /** Whether the member can have learned from a leader, or as a leader, that there is too little space. */
  mayRefuse(status: SpaceStatus, configuration: Configuration): boolean {
    return this.#hadReason || this.#hasReason(status, configuration);
  }

  #hasReason(status: SpaceStatus, { voters }: Configuration): boolean {
    return isShort(status) || voters.filter((id) => this.#short.has(id)).length > voters.length / 2;
  }
}

function isShort({ alarms }: SpaceStatus): boolean {
  return alarms.some((alarm) => SPACE_ALARMS.includes(alarm));
}
