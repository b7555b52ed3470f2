/**
 * Snapshots of this member: those that it sends, and the one that it receives.
 *
 * A received state replaces the own one while applying is paused. Streams that send the old state end then. The log
 * keeps the entries that receivers still need (P27).
 */

import type { SnapshotManifest } from "../../peers/index.ts";
import { invariant } from "../../primitives/index.ts";
import type { RaftCore } from "../../raft/index.ts";
import { readCluster } from "../../state/index.ts";
import type { MemberStateStore } from "../../storage/index.ts";
import type { ApplyLoop } from "../apply/index.ts";
import { type IncomingSnapshot, ReadAllowance } from "../context/index.ts";
import { OutgoingSnapshots, type OutgoingSnapshotsContext } from "./outgoing-snapshots.ts";
import { ReplicaBackups, type ReplicaBackupsContext } from "./replica-backups.ts";
import { SnapshotInstall, type SnapshotInstallContext } from "./snapshot-install.ts";

/** What this part shares with others. */
export type SnapshotsContext = OutgoingSnapshotsContext & SnapshotInstallContext & ReplicaBackupsContext;

/** The log keeps entries that a member needs if that member was heard within this many ticks, up to a limit. */
const NEEDED_TICKS = 200;

export class Snapshots {
  /** The interface for backups. */
  readonly backups: ReplicaBackups;
  readonly #core: RaftCore;
  readonly #state: MemberStateStore;
  readonly #applyLoop: ApplyLoop;
  readonly #outgoing: OutgoingSnapshots;
  readonly #install: SnapshotInstall;

  constructor(context: SnapshotsContext, applyLoop: ApplyLoop) {
    this.#core = context.core;
    this.#state = context.state;
    this.#applyLoop = applyLoop;
    // Snapshots for members and backups share one rate limit.
    const allowance = new ReadAllowance(context.limits.snapshots.bytesPerSecond, context.clock.monotonicMs());
    this.#outgoing = new OutgoingSnapshots(context, allowance);
    this.#install = new SnapshotInstall(context);
    this.backups = new ReplicaBackups(context, { applyLoop, allowance, isReplacing: () => this.#install.isPlaced });
  }

  /** Whether the log must not be reset yet, because the next start would still open the old state. */
  get isPlacing(): boolean {
    return this.#install.isPlacing;
  }

  /** Whether this member catches up by a snapshot, so that its own state is far behind. */
  get isCatchingUp(): boolean {
    return this.#install.isUnderWay;
  }

  /** The first entry that other members, or the archive, still need from this log; infinity if there is none. */
  get neededFrom(): number {
    let needed = Math.min(this.#outgoing.neededFrom, this.backups.retainedFrom);
    for (const { id } of readCluster(this.#state)?.members ?? []) {
      const peer = this.#core.peer(id);
      if (peer === undefined || this.#core.contactTicksOf(id) > NEEDED_TICKS) {
        continue;
      }
      // The peer has everything up to its commit index, even if it has not acknowledged that to this leader yet.
      const has = peer.snapshotIndex > 0 ? peer.snapshotIndex : Math.max(peer.match, peer.commit);
      // A member that needs entries from before the log needs a snapshot, and that contains the newest state.
      if (has >= this.#core.firstIndex - 1) {
        needed = Math.min(needed, has + 1);
      }
    }
    return needed;
  }

  /** Begins to send the current state to the peer. */
  send(peer: number): void {
    // Do not read a state that is about to be replaced.
    if (!this.#install.isPlaced) {
      this.#outgoing.start(peer, () => this.#aboutState());
    }
  }

  #aboutState(): Omit<SnapshotManifest, "format"> {
    const { appliedIndex, appliedTerm } = this.#applyLoop.progress;
    const cluster = readCluster(this.#state);
    invariant(cluster !== undefined, "a leader knows its cluster");
    return {
      clusterId: cluster.clusterId,
      term: this.#core.term,
      index: appliedIndex,
      entryTerm: appliedTerm,
      clusterVersion: cluster.version,
    };
  }

  /** A verified peer sends its state. */
  receive(peer: number, incoming: IncomingSnapshot): void {
    this.#install.onSnapshot(peer, incoming);
  }

  onTick(nowMs: number): void {
    this.#outgoing.onTick(nowMs);
    this.backups.onTick(nowMs);
  }

  /** Puts a received state in place as soon as the own one does not change any more. */
  placeIfReady(): void {
    if (!this.#install.isReady) {
      // Applying may be paused for a snapshot that another one has replaced, and that one may never complete.
      this.#resumeUnlessPlaced();
      return;
    }
    this.#applyLoop.rest();
    if (this.#applyLoop.isAtRest) {
      this.#install.place();
      this.#resumeUnlessPlaced();
    }
  }

  /** The core does not need a snapshot any more. */
  cancelInstall(): void {
    this.#install.cancel();
    this.#resumeUnlessPlaced();
  }

  /** The log is durably reset to the new state: continues from it. Returns its last entry. */
  switchOver(): { readonly index: number; readonly term: number } {
    this.#outgoing.abort();
    this.backups.abort("this member replaced its state with a snapshot of another member. Try again");
    const last = this.#install.switchOver();
    this.#applyLoop.restart();
    return last;
  }

  stop(): void {
    this.#outgoing.abort();
    this.backups.abort("this member stops. Try again, or use another member");
    this.#install.stop();
  }

  #resumeUnlessPlaced(): void {
    if (!this.#install.isPlaced) {
      this.#applyLoop.resume();
    }
  }
}
