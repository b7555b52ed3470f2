/**
 * The free disk space of the cluster's members, as reported to this member (P45).
 *
 * Every member reports to the leader how full its disk is, together with the digest of its state. While the leader or
 * most voters have little space left, the leader refuses commands that make the state grow; deletes still work. When
 * the disks of most voters are full, the cluster cannot even delete: the leader then lets all members release their
 * reserve. One full member stops no other member.
 */

import { encodeMemberReport, FrameType, type MemberReport } from "../../peers/index.ts";
import { members } from "../../raft/index.ts";
import type { DiskSpaceLevel, ReplicaContext } from "../context/index.ts";
import type { ApplyLoop } from "./apply-loop.ts";

/** What this part shares with others. */
export type ClusterSpaceContext = Pick<ReplicaContext, "memberId" | "core" | "transport">;

export interface ClusterDiskSpaceOptions {
  /** Has the digests of this member's state, for its reports to the leader. */
  readonly applyLoop: Pick<ApplyLoop, "checkpoints">;
  /** Called when the disks of most voters are full: this member must release its reserve. */
  readonly onCritical: () => void;
}

/** Interval between two reports of a member, in milliseconds. */
const REPORT_INTERVAL_MS = 1_000;

export class ClusterDiskSpace {
  readonly #context: ClusterSpaceContext;
  readonly #options: ClusterDiskSpaceOptions;
  #own: DiskSpaceLevel = "ok";
  /** The last report of each peer, by id. */
  readonly #peers = new Map<number, DiskSpaceLevel>();
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(context: ClusterSpaceContext, options: ClusterDiskSpaceOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Whether this member, as leader, may append commands that make the state larger. */
  get hasCapacity(): boolean {
    return this.#own === "ok" && !this.#isMost((space) => space !== "ok");
  }

  onOwnSpace(space: DiskSpaceLevel): void {
    this.#own = space;
    this.#reportedMs = Number.NEGATIVE_INFINITY;
  }

  onReport(peer: number, { diskSpace, isCritical }: MemberReport): void {
    this.#peers.set(peer, diskSpace);
    if (isCritical && peer === this.#context.core.leader) {
      this.#options.onCritical();
    }
  }

  /** Called at every tick. */
  onTick(nowMs: number): void {
    if (nowMs - this.#reportedMs < REPORT_INTERVAL_MS) {
      return;
    }
    this.#reportedMs = nowMs;
    const { core, memberId } = this.#context;
    if (core.role !== "leader") {
      this.#peers.clear();
      this.#send(core.leader, false);
    } else if (this.#isMost((space) => space === "full")) {
      this.#options.onCritical();
      for (const id of members(core.configuration)) {
        if (id !== memberId) {
          this.#send(id, true);
        }
      }
    }
  }

  #send(to: number, isCritical: boolean): void {
    const { transport } = this.#context;
    if (to !== 0 && transport.isConnected(to, "control")) {
      const report = { diskSpace: this.#own, isCritical, checkpoint: this.#options.applyLoop.checkpoints.newest };
      transport.send(to, "control", FrameType.MemberReport, encodeMemberReport(report));
    }
  }

  #isMost(isSuch: (space: DiskSpaceLevel) => boolean): boolean {
    const { core, memberId } = this.#context;
    const { voters } = core.configuration;
    const such = voters.filter((id) => isSuch(id === memberId ? this.#own : (this.#peers.get(id) ?? "ok")));
    return such.length * 2 > voters.length;
  }
}
