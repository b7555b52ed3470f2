/**
 * The rules of the entries that a member takes from its leader: none while its disk is full (P45), and none while its
 * present write already exceeds the limit (P41).
 */

import type { ReplicaStatus } from "../../src/replica/index.ts";
import { must } from "./rule-violation.ts";

/** A log write in flight. */
export interface Writing {
  readonly writeSeq: number;
  /** Bytes of its rows. */
  readonly bytes: number;
}

type Taking = Pick<ReplicaStatus, "role" | "firstIndex" | "lastIndex" | "alarms">;

export class FollowerRules {
  readonly #id: number;
  readonly #bytesMax: number;
  #before: { readonly status: Taking; readonly writing: Writing | null } | null = null;

  /** `bytesMax`: bytes of unstable and unapplied entries above which a follower takes no more. */
  constructor(id: number, bytesMax: number) {
    this.#id = id;
    this.#bytesMax = bytesMax;
  }

  /** The process has read all its messages; `writing` is the write that was in flight all along. */
  onTurn(status: Taking, writing: Writing | null): void {
    const before = this.#before;
    this.#before = { status, writing };
    // A log that begins elsewhere may be that of a snapshot.
    if (
      before === null ||
      before.status.role === "leader" ||
      status.role === "leader" ||
      status.firstIndex !== before.status.firstIndex ||
      status.lastIndex <= before.status.lastIndex
    ) {
      return;
    }
    const isFull = [status, before.status].every(({ alarms }) => alarms.includes("the disk is full"));
    const what = (): string => `m${this.#id} has taken ${before.status.lastIndex + 1} to ${status.lastIndex}`;
    must(!isFull, "P45 a full disk takes no entries", what);
    const isSame = writing !== null && writing.writeSeq === before.writing?.writeSeq;
    must(!isSame || writing.bytes <= this.#bytesMax, "P41 a follower holds a bounded amount", () => {
      return `${what()}, while it writes ${writing?.bytes} bytes, more than ${this.#bytesMax}`;
    });
  }
}
