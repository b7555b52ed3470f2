/**
 * A replica as far as joining needs one: a real state machine to which every claim is applied at once, without a log, a
 * disk or other members. The spec adds slots, and says when there is no majority.
 */

import { invariant } from "../src/primitives/index.ts";
import { type Configuration, EntryType } from "../src/raft/index.ts";
import { type ClusterOperation, CoordinationError, encodeMembershipEntry, type Outcome } from "../src/state/index.ts";
import { AppliedLog } from "./applied-log.ts";

export class AppliedReplica {
  readonly log = new AppliedLog();
  /** Operations that were proposed, oldest first. */
  readonly proposed: ClusterOperation[] = [];
  /** Without a majority, no entry is applied and no barrier is passed. */
  hasMajority = true;
  /** Whether a majority knows durably that the configuration is committed. */
  isLasting = true;
  /**
   * Called instead of a read barrier's first step, so that the spec can apply something before the barrier is passed.
   */
  beforeBarrier: () => void = () => undefined;
  #configuration: Configuration = {
    index: 1,
    voters: [1],
    outgoing: [],
    learners: [],
    learnersNext: [],
    autoLeave: false,
  };

  get state() {
    return this.log.store;
  }

  get quorumKnownConfigIndex() {
    return this.isLasting ? this.#configuration.index : 0;
  }

  status() {
    return { appliedIndex: this.log.progress.appliedIndex };
  }

  readBarrier(_deadlineMs: number, done: (error: CoordinationError | null) => void): void {
    this.beforeBarrier();
    const error = this.hasMajority ? null : new CoordinationError("NO_LEADER", "there is no majority");
    queueMicrotask(() => done(error));
  }

  proposeClusterOperation(
    operation: ClusterOperation,
    _deadlineMs: number,
    done: (error: CoordinationError | null, outcome: Outcome | null) => void,
  ): void {
    this.proposed.push(operation);
    if (this.hasMajority) {
      const outcome = this.log.lead(operation);
      queueMicrotask(() => done(null, outcome));
    } else {
      queueMicrotask(() => done(new CoordinationError("NO_LEADER", "there is no majority"), null));
    }
  }

  /** Adds a slot, and returns the id of its member. */
  addSlot(name: string): number {
    const operation = { kind: "add-slot", name } as const;
    return this.#change(EntryType.AddSlot, operation, (index) => ({
      ...this.#configuration,
      index,
      learners: [...this.#configuration.learners, index],
    }));
  }

  promote(id: number): void {
    const operation = { kind: "reconfigure", promote: [id], demote: [], remove: [] } as const;
    this.#change(EntryType.Reconfigure, operation, (index) => ({
      ...this.#configuration,
      index,
      voters: [...this.#configuration.voters, id],
      learners: this.#configuration.learners.filter((learner) => learner !== id),
    }));
  }

  remove(id: number): void {
    const operation = { kind: "reconfigure", promote: [], demote: [], remove: [id] } as const;
    this.#change(EntryType.Reconfigure, operation, (index) => ({
      ...this.#configuration,
      index,
      voters: this.#configuration.voters.filter((voter) => voter !== id),
      learners: this.#configuration.learners.filter((learner) => learner !== id),
    }));
  }

  #change(
    type: number,
    operation: Parameters<typeof encodeMembershipEntry>[0]["operation"],
    next: (index: number) => Configuration,
  ): number {
    const payload = encodeMembershipEntry({ subject: "admin", request: null, expectIndex: 0, operation });
    const outcome = this.log.append(type as EntryType, payload, (index) => {
      this.#configuration = next(index);
      return this.#configuration;
    });
    invariant(!(outcome?.answer instanceof CoordinationError), "the change is allowed");
    return this.#configuration.index;
  }
}
