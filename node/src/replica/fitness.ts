/**
 * Whether this member may vote and lead, as far as its disk, its data and its plans say (P45, P46, P59).
 *
 * A log write that takes long makes a leader hand over, one that never ends ends the process: only a process that is
 * gone frees its clients. A full disk takes no entries of others and stops nobody else.
 */

import type { MemberFitness } from "../raft/index.ts";

/** How much room the disk has: low refuses what grows, full takes no entries at all. */
export type DiskSpace = "ok" | "low" | "full";

/** A log write in flight for longer, in milliseconds, makes the member unfit to lead; and ends the process. */
const STALL_MS = 1_000;
const STUCK_MS = 30_000;

export class Fitness {
  #damaged: boolean;
  #space: DiskSpace = "ok";
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

  /** Whether the disk and the data let this member serve; little room alone does. */
  get isFit(): boolean {
    return !this.#damaged && !this.#isStalled && this.#space !== "full";
  }

  /** What the consensus core is told. A sole voter has nobody to hand over to, so only damage keeps it from leading. */
  memberFitness(isSole: boolean): MemberFitness {
    const diskFull = this.#space === "full";
    const isHindered = this.#isStalled || diskFull || this.#isLeaving;
    const mayLead = !this.#damaged && (isSole || !isHindered);
    return { mayVote: !this.#damaged, mayLead, damaged: this.#damaged, diskFull };
  }

  onHealed(): void {
    this.#damaged = false;
  }

  onSpace(space: DiskSpace): void {
    this.#space = space;
  }

  /** This member is about to stop: it leads no more. */
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

  /** Looks at the write in flight; returns whether it will never end. */
  isStuck(nowMs: number): boolean {
    const sinceMs = this.#writingSinceMs;
    this.#isStalled = sinceMs !== null && nowMs - sinceMs > STALL_MS;
    return sinceMs !== null && nowMs - sinceMs > STUCK_MS;
  }
}
