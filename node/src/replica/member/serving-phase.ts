/**
 * A member that serves its data: the driver runs, and the connections to the other members pass their frames to it.
 *
 * It asks the others for the list of members while its log does not have the list, and while they may not know its
 * address. The answer that the cluster has a successor is only an alarm: a backup that is restored elsewhere must not end
 * the cluster from which it was made.
 */

import type { JoinAnswer } from "../../peers/index.ts";
import { CLUSTER_VERSIONS, type MemberAddress, readCluster } from "../../state/index.ts";
import { Replica } from "../driver/index.ts";
import { AddressPublisher } from "./address-publisher.ts";
import { FOUNDER_ID } from "./founding-backup.ts";
import { JoinPoller, type PollDecision } from "./join-poller.ts";
import { succeeded } from "./joining.ts";
import type { MemberConnections, MemberContext, OwnData } from "./member-context.ts";
import type { JoiningProcess, MemberPeersUser } from "./member-peers.ts";
import type { MemberStatus } from "./member-status.ts";
import { LONE_TRANSPORT } from "./member-transport.ts";
import type { MemberList } from "./peer-directory.ts";

type ServingStatus = MemberStatus<"JOINING" | "RUNNING" | "MEMBER_DAMAGED">;

/** Marks the data as unusable; called in an event of its own, possibly more than once. */
type OnUnusable = (end: "removed" | "refused", reason: string) => void;

/** What a member has once the address of its process is known. */
interface Introduction {
  readonly addressPublisher: AddressPublisher;
  /** Asks for the other members, and announces this member's address. Null without connections to others. */
  readonly poller: JoinPoller | null;
}

/** The driver has stopped, and the stores are still open. */
export interface HaltedPhase {
  readonly kind: "halted";
  /** As it was while the member served. */
  readonly status: MemberStatus;
  readonly own: OwnData;
  /** Resolves when no request to another member is in flight. */
  readonly asked: Promise<void>;
}

export class ServingPhase implements MemberPeersUser {
  readonly kind = "serving";
  readonly own: OwnData;
  readonly replica: Replica;
  readonly #context: MemberContext;
  readonly #onUnusable: OnUnusable;
  #status: ServingStatus;
  /** Null until the address of this process is known. */
  #introduction: Introduction | null = null;
  #isTooOld = false;
  #isHalted = false;

  /** Starts the driver. */
  constructor(context: MemberContext, own: OwnData, onUnusable: OnUnusable) {
    this.own = own;
    this.#context = context;
    this.#onUnusable = onUnusable;
    const { options, connections, disk } = context;
    const { data } = own;
    const { clusterId, memberId, incarnation } = data.identity;
    const { boot, damaged } = data;
    this.replica = new Replica({
      memberId,
      clusterId,
      clusterVersionMax: CLUSTER_VERSIONS.max,
      boot,
      damaged,
      term: data.term,
      vote: data.vote,
      commit: data.commit,
      writeSeq: data.writeSeq,
      bounds: data.bounds,
      log: data.log,
      state: data.state,
      transport: connections?.peers.transport ?? LONE_TRANSPORT,
      clock: options.clock,
      scheduler: options.scheduler,
      limits: options.limits,
      timeline: options.tracer?.timeline ?? null,
      onRole: options.onRole,
      onMembers: () => this.#onMembers(),
      onLoss: (reason) => onUnusable("refused", reason),
      onDiverged: (reason) => onUnusable("refused", reason),
      onDataRecovered: () => this.#onHealed(),
      onDiskCritical: () => void disk.release(),
      onDiskStuck: options.onDiskStuck,
      onMemberCall: options.onMemberCall,
    });
    this.replica.setDiskSpace(disk.space);
    connections?.peers.serve({ clusterId, memberId, incarnation, boot, damaged }, this.replica, this);
    const state = damaged ? "MEMBER_DAMAGED" : this.#isListed ? "RUNNING" : "JOINING";
    this.#status = { state, reason: data.loss };
  }

  get status(): MemberStatus {
    return this.#status;
  }

  /**
   * Others reach this process at this address: dials the other members, and asks for their list if neither the log nor
   * `memberList` has it.
   */
  introduce(address: MemberAddress, memberList: MemberList | null): void {
    const { options, connections, isStopping } = this.#context;
    if (isStopping()) {
      return;
    }
    const { memberId, incarnation } = this.own.data.identity;
    const { clock, scheduler } = options;
    const addressPublisher = new AddressPublisher({
      memberId,
      incarnation,
      address,
      replica: this.replica,
      clock,
      scheduler,
    });
    addressPublisher.publishIfOutdated();
    if (connections === null) {
      this.#introduction = { addressPublisher, poller: null };
      return;
    }
    const poller = this.#directoryPollerFor(address, connections);
    this.#introduction = { addressPublisher, poller };
    if (memberList !== null) {
      connections.peers.onMemberList(memberList);
    }
    connections.peers.dial();
    if (memberList === null && (!this.#isListed || this.#hasUnknaddressPublisher)) {
      poller.start();
    }
  }

  /** Stops asking the other members; resolves when no request is in flight. */
  async stopAsking(): Promise<void> {
    await this.#introduction?.poller?.stop();
  }

  /** Stops everything but the connections and the stores. */
  halt(): HaltedPhase {
    this.#isHalted = true;
    this.#introduction?.addressPublisher.stop();
    this.replica.stop();
    return { kind: "halted", status: this.#status, own: this.own, asked: this.stopAsking() };
  }

  onRemoved(peer: number): void {
    const { memberId } = this.own.data.identity;
    this.replica.onRemoved();
    this.#onUnusable("removed", `member ${peer} says that this member, ${memberId}, was removed from the cluster`);
  }

  onStale(peer: number): void {
    this.#onUnusable(
      "refused",
      `member ${peer} has met a later start of this data directory than this one: the directory is an old copy, ` +
        "without votes and writes that the cluster relies on",
    );
  }

  onTooOld(): void {
    if (!this.#isTooOld) {
      this.#isTooOld = true;
      this.#context.options.onEnd("too-old", "all other members refuse the version of this program");
    }
  }

  onUnlisted(): void {
    this.#introduction?.poller?.start();
  }

  /** Asks for the reason. */
  onWrongCluster(): void {
    if (this.own.succession === null) {
      this.#introduction?.poller?.start();
    }
  }

  #report(status: ServingStatus): void {
    this.#status = status;
    this.#context.statusLog.note(status);
  }

  /** Whether the applied entries have made this process a member. The founder is one from the start. */
  get #isListed(): boolean {
    const { damaged, identity } = this.own.data;
    const { memberId, incarnation } = identity;
    const isFounder = memberId === FOUNDER_ID && !damaged;
    const listed = readCluster(this.replica.state)?.members.find(({ id }) => id === memberId);
    return isFounder || listed?.incarnation.toHex() === incarnation;
  }

  /** Whether some members cannot know the address of this one, or this one cannot know theirs. */
  get #hasUnknaddressPublisher(): boolean {
    return (
      this.#context.connections?.peers.hasUnlisted === true || this.#introduction?.addressPublisher.isOutdated === true
    );
  }

  #directoryPollerFor(address: MemberAddress, { peers, peering }: MemberConnections): JoinPoller {
    const { name, clusterName, scheduler, log } = this.#context.options;
    const { clusterId, memberId, incarnation } = this.own.data.identity;
    const asker: JoiningProcess = { clusterName, clusterId, memberId, name, incarnation, endpoints: address };
    const isOther = (endpoint: string) => endpoint !== address.peerEndpoint;
    return new JoinPoller({
      scheduler,
      log,
      random: peering.random,
      addresses: () => [...new Set([...peers.addresses, ...peering.seeds])].filter(isOther),
      requestJoin: (endpoint) => peers.requestJoin(endpoint, asker),
      onAnswer: (_endpoint, answer) => this.#onInquired(answer, peers),
    });
  }

  /** Processes another member's answer to the poll. */
  #onInquired(answer: JoinAnswer, peers: MemberConnections["peers"]): PollDecision {
    if (answer.result === "REMOVED") {
      this.replica.onRemoved();
      this.#onUnusable("removed", "a member of the cluster says that this one was removed from it");
      return "enough";
    }
    if (answer.result === "WRONG_CLUSTER" && answer.successor !== undefined) {
      this.own.succession = succeeded(answer.successor);
      this.#context.options.log.warn({ successor: answer.successor.clusterId }, this.own.succession);
      return "enough";
    }
    if (answer.result !== "ACCEPTED") {
      return "ask-next";
    }
    peers.onMemberList({ members: answer.directory, index: answer.index });
    // A member that has moved tells every other one until the move is recorded: only then do they dial the new address.
    return this.#hasUnknaddressPublisher ? "ask-next" : "enough";
  }

  #onMembers(): void {
    if (this.#isHalted) {
      return;
    }
    this.#context.connections?.peers.onMembers();
    this.#introduction?.addressPublisher.publishIfOutdated();
    if (this.#isListed) {
      if (this.#status.state === "JOINING") {
        this.#report({ state: "RUNNING", reason: "" });
      }
      if (!this.#hasUnknaddressPublisher) {
        void this.stopAsking();
      }
    }
  }

  #onHealed(): void {
    if (!this.#isHalted) {
      this.#context.connections?.peers.onDataRecovered();
      this.#report({ state: "RUNNING", reason: "" });
    }
  }
}
