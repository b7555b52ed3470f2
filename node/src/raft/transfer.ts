/**
 * Transferring the leadership to another voter (Ongaro 2014 §3.10).
 *
 * During a transfer the leader takes no proposals, so that the target can catch up. Once the target has everything, the
 * leader asks it to start an election. The transfer ends with the term, with the target's vote, with a second transfer,
 * or after a timeout. It is part of the leadership and so cannot outlive it.
 */

import { mark } from "../primitives/index.ts";
import type { CoreState } from "./core-state.ts";
import type { Progress } from "./progress.ts";

/** Why a leader refused to transfer the leadership. */
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
  /** The member that is to lead, 0 = no transfer is under way. */
  #target = 0;
  #untilTick = 0;
  #isTimeoutNowSent = false;

  constructor(state: CoreState, peers: ReadonlyMap<number, Progress>) {
    this.#state = state;
    this.#peers = peers;
  }

  get isUnderWay(): boolean {
    return this.#target !== 0;
  }

  /** Transfers to this voter instead of any other; returns null, or why it refused. */
  begin(target: number): TransferRefusal | null {
    const refusal = this.#refusal(target);
    if (refusal === null) {
      mark("raft.transfer.begun");
      this.#target = target;
      this.#untilTick = this.#state.tick + this.#state.limits.transferTicks;
      this.#isTimeoutNowSent = false;
      this.proceed();
    }
    return refusal;
  }

  /** Transfers to the most up-to-date voter that can take over; returns null, or why no voter can. */
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

  /** Asks a target that has everything, once, to start its election. */
  proceed(): void {
    const { id, term, log } = this.#state;
    if (this.#target === 0 || this.#isTimeoutNowSent || this.#peers.get(this.#target)?.match !== log.lastIndex) {
      return;
    }
    this.#isTimeoutNowSent = true;
    this.#state.send({ type: "timeout-now", from: id, to: this.#target, term });
    mark("raft.transfer.told");
  }

  /** Advances the clock by one tick; gives up a transfer that has taken too long. */
  tick(): void {
    if (this.#target !== 0 && this.#state.tick >= this.#untilTick) {
      mark("raft.transfer.given-up");
      this.#target = 0;
    }
  }

  /** The configuration has changed: a target that is no longer a voter cannot lead. */
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
    // Entries that are not in memory any more do not count in bytes; the limit on their number still applies.
    const isFar =
      log.lastIndex - progress.match > limits.transferLagEntriesMax ||
      log.bytesInMemory(progress.match + 1, log.lastIndex) > limits.transferLagBytesMax;
    return isFar ? "behind" : null;
  }
}
