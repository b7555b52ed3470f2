/**
 * How much room the disks of the cluster have, as far as this member is told (P45).
 *
 * Every member tells the leader how its own disk is, and with it what its state is. The leader refuses what makes the
 * state grow while it or most voters have little left; deleting goes on. When most voters have nothing left, it tells all
 * of them to give back what they keep in reserve, because then the cluster cannot even delete. One full member stops
 * nobody.
 */

import { encodeMemberReport, FrameType, type MemberReport } from "../peers/index.ts";
import { members, type RaftCore } from "../raft/index.ts";
import type { Checkpoints } from "../state/index.ts";
import type { DiskSpace } from "./fitness.ts";
import type { Transport } from "./transport.ts";

export interface ClusterSpaceOptions {
  readonly memberId: number;
  readonly core: RaftCore;
  readonly transport: Transport;
  /** What the state of this member was, for what it tells the leader. */
  readonly checkpoints: () => Checkpoints;
  /** Most voters have no room left: what is kept in reserve is to be given back. */
  readonly onCritical: () => void;
}

/** Members tell how their disks are that often, in milliseconds. */
const REPORT_INTERVAL_MS = 1_000;

export class ClusterSpace {
  readonly #options: ClusterSpaceOptions;
  #own: DiskSpace = "ok";
  /** What peers said last, by id. */
  readonly #peers = new Map<number, DiskSpace>();
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ClusterSpaceOptions) {
    this.#options = options;
  }

  /** Whether this member, leading, may take commands that make the state larger. */
  get hasRoom(): boolean {
    return this.#own === "ok" && !this.#isMost((space) => space !== "ok");
  }

  onOwnSpace(space: DiskSpace): void {
    this.#own = space;
    this.#reportedMs = Number.NEGATIVE_INFINITY;
  }

  onReport(peer: number, { room, isCritical }: MemberReport): void {
    this.#peers.set(peer, room);
    if (isCritical && peer === this.#options.core.leader) {
      this.#options.onCritical();
    }
  }

  /** A tick has passed. */
  onTick(nowMs: number): void {
    if (nowMs - this.#reportedMs < REPORT_INTERVAL_MS) {
      return;
    }
    this.#reportedMs = nowMs;
    const { core, memberId, onCritical } = this.#options;
    if (core.role !== "leader") {
      this.#peers.clear();
      this.#send(core.leader, false);
    } else if (this.#isMost((space) => space === "full")) {
      onCritical();
      for (const id of members(core.configuration)) {
        if (id !== memberId) {
          this.#send(id, true);
        }
      }
    }
  }

  #send(to: number, isCritical: boolean): void {
    const { transport, checkpoints } = this.#options;
    if (to !== 0 && transport.isConnected(to, "control")) {
      const report = { room: this.#own, isCritical, checkpoint: checkpoints().newest };
      transport.send(to, "control", FrameType.MemberReport, encodeMemberReport(report));
    }
  }

  #isMost(isSuch: (space: DiskSpace) => boolean): boolean {
    const { core, memberId } = this.#options;
    const { voters } = core.configuration;
    const such = voters.filter((id) => isSuch(id === memberId ? this.#own : (this.#peers.get(id) ?? "ok")));
    return such.length * 2 > voters.length;
  }
}
