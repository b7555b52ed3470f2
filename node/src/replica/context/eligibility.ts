/**
 * Whether this member may vote and lead, by the condition of its disk and data, and whether it is about to stop (P45,
 * P46, P59).
 *
 * A leader whose log write takes long hands over. A log write that never returns ends the process, because only that
 * frees its clients. A member with a full disk takes no entries of others, and stops no other member.
 */

import type { MemberEligibility } from "../../raft/index.ts";

/**
 * How full the disk is: with `low` the member refuses commands that grow the state, with `full` it takes no entries.
 */
export type DiskSpaceLevel = "ok" | "low" | "full";

/**
 * In milliseconds: after `STALL_MS` in flight a log write makes the member unfit to lead, after `STUCK_MS` it is stuck.
 */
const STALL_MS = 1_000;
const STUCK_MS = 30_000;

export class Eligibility {
  #damaged: boolean;
  #space: DiskSpaceLevel = "ok";
  #isLeaving = false;
  #writingSinceMs: number | null = null;
  #isStalled = false;

  constructor(damaged: boolean) {
    this.#damaged = damaged;
  }

  get damaged(): boolean {
    return this.#damaged;
  }

  get alarms(): string[] {
    const alarms: string[] = [];
    if (this.#damaged) {
      alarms.push("acknowledged data was lost: this member follows without a vote until it has it again");
    }
    if (this.#isStalled) {
      alarms.push("the disk does not answer");
    }
    if (this.#space !== "ok") {
      alarms.push(`the disk is ${this.#space === "full" ? "full" : "nearly full"}`);
    }
    return alarms;
  }

  /** Whether the disk and the data allow this member to serve. A nearly full disk does. */
  get mayServe(): boolean {
    return !this.#damaged && !this.#isStalled && this.#space !== "full";
  }

  /** The fitness for the consensus core. A sole voter cannot hand over, so only damage keeps it from leading. */
  memberEligibility(isSoleVoter: boolean): MemberEligibility {
    const diskFull = this.#space === "full";
    const isHindered = this.#isStalled || diskFull || this.#isLeaving;
    const mayLead = !this.#damaged && (isSoleVoter || !isHindered);
    return { mayVote: !this.#damaged, mayLead, damaged: this.#damaged, diskFull };
  }

  onDataRecovered(): void {
    this.#damaged = false;
  }

  onSpace(space: DiskSpaceLevel): void {
    this.#space = space;
  }

  /** This member is about to stop and must not lead again. */
  onLeaving(): void {
    this.#isLeaving = true;
  }

  onWriteBegun(nowMs: number): void {
    this.#writingSinceMs = nowMs;
  }

  onWritten(): void {
    this.#writingSinceMs = null;
    this.#isStalled = false;
  }

  /** Checks the write in flight. Returns whether it is stuck, so that the process must end. */
  isStuck(nowMs: number): boolean {
    const sinceMs = this.#writingSinceMs;
    this.#isStalled = sinceMs !== null && nowMs - sinceMs > STALL_MS;
    return sinceMs !== null && nowMs - sinceMs > STUCK_MS;
  }
}
