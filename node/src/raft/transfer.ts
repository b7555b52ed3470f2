/**
 * Handing the leadership to another voter (Ongaro 2014 §3.10).
 *
 * While it is under way the leader takes no proposals, so that the target can catch up; once it has everything it is
 * told to start its election. It ends with the term, with the target's vote, with a second transfer, or after a while;
 * it is part of the leadership and so cannot outlive it.
 */

import type { CoreState } from "./core-state.ts";
import { mark } from "./mark.ts";
import type { Progress } from "./progress.ts";

/** Why a leader did not hand over. */
export type TransferRefusal =
  | "self"
  | "unknown-member"
  | "not-voter"
  | "not-in-contact"
  | "damaged"
  | "disk-full"
  | "behind";

export class Transfer {
  readonly #state: CoreState;
  readonly #peers: ReadonlyMap<number, Progress>;
  /** Who is to lead, 0 = no transfer is under way. */
  #target = 0;
  #untilTick = 0;
  #isTargetTold = false;

  constructor(state: CoreState, peers: ReadonlyMap<number, Progress>) {
    this.#state = state;
    this.#peers = peers;
  }

  get isUnderWay(): boolean {
    return this.#target !== 0;
  }

  /** Hands over to this voter instead of any other, or says why not. */
  begin(target: number): TransferRefusal | null {
    const refusal = this.#refusal(target);
    if (refusal === null) {
      mark("raft.transfer.begun");
      this.#target = target;
      this.#untilTick = this.#state.tick + this.#state.limits.transferTicks;
      this.#isTargetTold = false;
      this.proceed();
    }
    return refusal;
  }

  /** Hands over to the voter that is furthest among those that can take over, or says why nobody can. */
  beginWithBest(): TransferRefusal | null {
    let best: Progress | null = null;
    let why: TransferRefusal = "not-in-contact";
    for (const progress of this.#peers.values()) {
      const refusal = this.#refusal(progress.id);
      if (refusal === null && (best === null || progress.match > best.match)) {
        best = progress;
      } else if (refusal !== null && refusal !== "not-voter") {
        why = refusal;
      }
    }
    return best === null ? why : this.begin(best.id);
  }

  /** A target that has everything is told, once, to start its election. */
  proceed(): void {
    const { id, term, log } = this.#state;
    if (this.#target === 0 || this.#isTargetTold || this.#peers.get(this.#target)?.match !== log.lastIndex) {
      return;
    }
    this.#isTargetTold = true;
    this.#state.send({ type: "timeout-now", from: id, to: this.#target, term });
    mark("raft.transfer.told");
  }

  /** One tick passed: the target has had its time. */
  tick(): void {
    if (this.#target !== 0 && this.#state.tick >= this.#untilTick) {
      mark("raft.transfer.given-up");
      this.#target = 0;
    }
  }

  /** The configuration has changed: a target that will not vote any more cannot lead. */
  onConfiguration(): void {
    if (this.#target !== 0 && !this.#state.configuration.voters.includes(this.#target)) {
      mark("raft.transfer.target-gone");
      this.#target = 0;
    }
  }

  #refusal(target: number): TransferRefusal | null {
    const { id, configuration, tick, log, limits, damagedPeers } = this.#state;
    if (target === id) {
      return "self";
    }
    const progress = this.#peers.get(target);
    if (progress === undefined) {
      return "unknown-member";
    }
    if (!configuration.voters.includes(target)) {
      return "not-voter";
    }
    if (tick - progress.lastHeardTick > limits.noQuorumTicks) {
      return "not-in-contact";
    }
    if (damagedPeers.has(target)) {
      return "damaged";
    }
    if (progress.diskFull) {
      return "disk-full";
    }
    // Entries that are not in memory any more are not counted in bytes; their number still bounds them.
    const isFar =
      log.lastIndex - progress.match > limits.transferLagEntriesMax ||
      log.bytesInMemory(progress.match + 1, log.lastIndex) > limits.transferLagBytesMax;
    return isFar ? "behind" : null;
  }
}
