/**
 * Snapshots of this member: those that it sends, the one that it receives, and what applying has to do with them.
 *
 * A received state takes the place of the own one while applying rests; the views of it that are being sent end then.
 * What receivers still need is kept in the log for them (P27).
 */

import type { SnapshotManifest } from "../peers/index.ts";
import { invariant, type RaftCore } from "../raft/index.ts";
import { readCluster } from "../state/index.ts";
import type { MemberStateStore } from "../storage/index.ts";
import type { ApplyLoop } from "./apply-loop.ts";
import { OutgoingSnapshots, type OutgoingSnapshotsOptions } from "./outgoing-snapshots.ts";
import { ReadAllowance } from "./read-allowance.ts";
import { ReplicaBackups } from "./replica-backups.ts";
import { SnapshotInstall, type SnapshotInstallOptions } from "./snapshot-install.ts";
import type { IncomingSnapshot } from "./transport.ts";

export interface SnapshotsOptions extends Omit<OutgoingSnapshotsOptions, "allowance">, SnapshotInstallOptions {
  readonly applyLoop: ApplyLoop;
}

/** Entries that a member still needs that was heard this lately are kept, if they are not too many. */
const NEEDED_TICKS = 200;

export class Snapshots {
  /** What backups read. */
  readonly backups: ReplicaBackups;
  readonly #core: RaftCore;
  readonly #state: MemberStateStore;
  readonly #applyLoop: ApplyLoop;
  readonly #outgoing: OutgoingSnapshots;
  readonly #install: SnapshotInstall;

  constructor(options: SnapshotsOptions) {
    this.#core = options.core;
    this.#state = options.state;
    this.#applyLoop = options.applyLoop;
    // One for both: a snapshot for a member and a backup together leave as much room as one of them.
    const allowance = new ReadAllowance(options.limits.bytesPerSecond, options.clock.monotonicMs());
    this.#outgoing = new OutgoingSnapshots({ ...options, allowance });
    this.#install = new SnapshotInstall(options);
    this.backups = new ReplicaBackups({ ...options, allowance, isReplacing: () => this.#install.isPlaced });
  }

  /** Whether the log must not begin anew yet: the next start would still open the former state. */
  get isPlacing(): boolean {
    return this.#install.isPlacing;
  }

  /** Whether this member is being caught up by a snapshot, so that its own state is far behind. */
  get isCatchingUp(): boolean {
    return this.#install.isUnderWay;
  }

  /** The first entry that other members, or the archive, still need and are on the way to get; infinity if none does. */
  get neededFrom(): number {
    let needed = Math.min(this.#outgoing.neededFrom, this.backups.keptFrom);
    for (const { id } of readCluster(this.#state)?.members ?? []) {
      const peer = this.#core.peer(id);
      if (peer === undefined || this.#core.contactTicksOf(id) > NEEDED_TICKS) {
        continue;
      }
      // What it has committed it holds, though it may not have acknowledged it to this leader yet.
      const has = peer.snapshotIndex > 0 ? peer.snapshotIndex : Math.max(peer.match, peer.commit);
      // One that lies before the log is helped by a snapshot alone, which is of the time at which it is sent.
      if (has >= this.#core.firstIndex - 1) {
        needed = Math.min(needed, has + 1);
      }
    }
    return needed;
  }

  /** Sends the state as it is now to the peer. */
  send(peer: number): void {
    // A state that is about to be replaced is not read any more.
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

  /** Puts a received state in its place as soon as the own one does not change any more. */
  placeIfReady(): void {
    if (!this.#install.isReady) {
      // What applying rested for may have been replaced by another, which is not there yet or never will be.
      this.#resumeUnlessPlaced();
      return;
    }
    this.#applyLoop.rest();
    if (this.#applyLoop.isAtRest) {
      this.#install.place();
      this.#resumeUnlessPlaced();
    }
  }

  /** The core wants no snapshot any more. */
  cancelInstall(): void {
    this.#install.cancel();
    this.#resumeUnlessPlaced();
  }

  /** The log has durably followed the placed state: goes on from it. Returns the last entry in it. */
  switchOver(): { readonly index: number; readonly term: number } {
    this.#outgoing.abort();
    this.backups.abort("the state of this member was replaced by that of another one. Try again");
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
