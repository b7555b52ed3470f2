/**
 * How a process with an empty data directory joins a cluster: it asks the seeds for the slot of its name until it gets
 * it.
 *
 * Until then the answers say why not: the slot does not exist yet, the slot belongs to another data directory (so the
 * data of this member is lost), or the seeds belong to another cluster. The process keeps asking in each case, so that
 * a fix by an administrator takes effect without a restart.
 */

import type { JoinAnswer, PeerLog, SuccessorCluster } from "../../peers/index.ts";
import type { Scheduler } from "../context/index.ts";
import { JoinPoller, type PollDecision } from "./join-poller.ts";

export type AcceptedJoin = JoinAnswer & { readonly result: "ACCEPTED" };

/** State of a process that has no slot. */
export type WaitingState = "EMPTY" | "MEMBER_DATA_LOST" | "WRONG_CLUSTER";

export interface JoiningOptions {
  readonly name: string;
  readonly clusterName: string;
  /** Peer endpoints of members that may know the cluster, without the endpoint of this process. */
  readonly seeds: readonly string[];
  /** Rejects with a ConnectionError if there is no answer. */
  readonly requestJoin: (address: string) => Promise<JoinAnswer>;
  readonly scheduler: Scheduler;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: PeerLog;
  /** Why this process must not enter the cluster of this id, in which it got a slot; null if it may. */
  readonly objectionTo: (clusterId: string) => string | null;
  /** Called when the answers of the seeds change. */
  readonly onWaiting: (state: WaitingState, reason: string) => void;
  /** Called once, when this process gets the slot. It stops asking then. */
  readonly onAccepted: (answer: AcceptedJoin) => void;
}

export class Joining {
  readonly #options: JoiningOptions;
  readonly #poller: JoinPoller;
  /** Seeds that gave an answer about the slot; the others belong to another cluster or run another version. */
  readonly #informed = new Set<string>();
  #hasSlot = false;

  constructor(options: JoiningOptions) {
    this.#options = options;
    const { seeds, requestJoin, scheduler, random, log } = options;
    this.#poller = new JoinPoller({
      requestJoin,
      scheduler,
      random,
      log,
      addresses: () => seeds,
      onAnswer: (seed, answer) => this.#onAnswer(seed, answer),
    });
  }

  start(): void {
    if (!this.#hasSlot) {
      this.#poller.start();
    }
  }

  /** Stops asking; resolves when no request is in flight. */
  stop(): Promise<void> {
    return this.#poller.stop();
  }

  /**
   * Why this process must not found a cluster: a seed that answers belongs to one already (P47). Null if none does;
   * then asking stops until `start`. This process may get its slot during the call.
   */
  async objection(): Promise<string | null> {
    // Wait for the request in flight first: whichever of joining and founding began first wins.
    await this.#poller.stop();
    const answers = this.#hasSlot ? new Map<string, JoinAnswer>() : await this.#poller.pollAll();
    let objection: string | null = null;
    for (const [seed, answer] of answers) {
      if (answer.result !== "NO_CLUSTER") {
        objection ??= `the seed ${seed} belongs to a cluster already (it answers ${answer.result})`;
        this.#onAnswer(seed, answer);
      }
    }
    return this.#hasSlot ? "this member has got a slot of a cluster" : objection;
  }

  #onAnswer(seed: string, answer: JoinAnswer): PollDecision {
    const { name, clusterName } = this.#options;
    switch (answer.result) {
      case "ACCEPTED":
        return this.#onSlotGranted(seed, answer);
      case "NO_SLOT":
        this.#reportWaiting(seed, "EMPTY", `waiting to be added: cluster "${clusterName}" has no slot named "${name}"`);
        return "ask-later";
      case "SLOT_TAKEN":
        this.#reportWaiting(seed, "MEMBER_DATA_LOST", lossOf(name, answer.memberId));
        return "ask-later";
      case "WRONG_CLUSTER":
        this.#reportUnlessInformed(
          "WRONG_CLUSTER",
          answer.successor === undefined
            ? `the seed ${seed} belongs to a cluster with another name or id than "${clusterName}"`
            : succeeded(answer.successor),
        );
        return "ask-next";
      case "VERSION":
        this.#reportUnlessInformed("EMPTY", `the seed ${seed} runs an incompatible version`);
        return "ask-next";
      case "REMOVED":
      case "NO_CLUSTER":
      case "TRY_LATER":
        return "ask-next";
    }
  }

  #onSlotGranted(seed: string, answer: AcceptedJoin): PollDecision {
    const { objectionTo, onAccepted } = this.#options;
    if (this.#hasSlot) {
      return "enough";
    }
    const objection = objectionTo(answer.clusterId);
    if (objection !== null) {
      this.#reportWaiting(seed, "WRONG_CLUSTER", objection);
      return "ask-later";
    }
    this.#hasSlot = true;
    onAccepted(answer);
    return "enough";
  }

  #reportWaiting(seed: string, state: WaitingState, reason: string): void {
    this.#informed.add(seed);
    this.#options.onWaiting(state, reason);
  }

  /** A seed that knows nothing about the slot does not outweigh one that does. */
  #reportUnlessInformed(state: WaitingState, reason: string): void {
    if (this.#informed.size === 0) {
      this.#options.onWaiting(state, reason);
    }
  }
}

/** The message for a member whose cluster has a successor. */
export function succeeded({ clusterId, sinceMs }: SuccessorCluster): string {
  return (
    `the cluster of this member was recovered or restored as cluster ${clusterId} on ${new Date(sinceMs).toISOString()}; ` +
    "this member belongs to the cluster from before, which every member of the new one refuses. To join the new one, stop " +
    "this member, empty its data directory, and add its name to the new cluster"
  );
}

function lossOf(name: string, memberId: number): string {
  return (
    `the slot "${name}" was given to another data directory, as member ${memberId}, and this one is empty. If the data ` +
    `of member ${memberId} is lost, remove member ${memberId} and add "${name}" again: this process then joins with a ` +
    "new id"
  );
}
