/** The rules about one start of a member, in one place: passes each event on to the rules that check it. */

import type { SnapshotManifest } from "../../src/peers/index.ts";
import type { AppendEffect, Message } from "../../src/raft/index.ts";
import type { ReplicaLimits, ReplicaStatus } from "../../src/replica/index.ts";
import { ElectionRules, type Elector } from "./election-rules.ts";
import { FollowerRules, type Writing } from "./follower-rules.ts";
import { InstallRules, type Receiving } from "./install-rules.ts";
import { LeadershipRules, type Leading } from "./leadership-rules.ts";
import { TickCount } from "./tick-count.ts";
import type { TimeoutRules } from "./timeout-rules.ts";

export class ProcessRules {
  readonly #ticks: TickCount;
  readonly #election: ElectionRules;
  readonly #leadership: LeadershipRules;
  readonly #follower: FollowerRules;
  readonly #install: InstallRules;

  constructor(process: Elector & Leading & Receiving, limits: ReplicaLimits, timeouts: TimeoutRules) {
    this.#ticks = new TickCount(process.clock);
    this.#election = new ElectionRules(process, this.#ticks, limits.core, timeouts);
    this.#leadership = new LeadershipRules(process, limits);
    this.#install = new InstallRules(process);
    this.#follower = new FollowerRules(process.id, limits.core.followerBytesMax);
  }

  /** The process has got a message, which it reads in its next turn. */
  onRead(message: Message): void {
    this.#election.onRead(message);
    this.#leadership.onRead(message);
  }

  /** A connection has taken a message of the process. */
  onSent(message: Message): void {
    this.#election.onSent(message);
  }

  /** No connection has taken a frame to the peer. */
  onUnsent(peer: number): void {
    this.#election.onUnsent(peer);
  }

  /** The peer has restarted: its unread messages are void. */
  onRestarted(peer: number): void {
    this.#election.onRestarted(peer);
    this.#leadership.onRestarted(peer);
  }

  /** It learns that the process of the peer is gone. */
  onGone(peer: number): void {
    this.#election.onGone(peer);
  }

  /** It receives a snapshot. */
  onSnapshot(): void {
    this.#election.onSnapshot();
  }

  /** A snapshot is offered, and judged in the same callback; null = the offer cannot be decoded. */
  onOffer(manifest: SnapshotManifest | null): void {
    if (manifest !== null) {
      this.#install.onOffer(manifest);
    }
  }

  /** The state of a snapshot, applied up to `after`, has taken the place of its own. */
  onInstalled(before: number, after: number): void {
    this.#install.onInstalled(before, after);
  }

  /** It passes a mark in the middle of a turn, in this term. */
  onMark(name: string, term: () => number): void {
    switch (name) {
      case "raft.pre-campaign":
        this.#election.onPreCandidacy();
        return;
      case "raft.campaign":
        this.#election.onCandidacy(term());
        return;
      case "raft.elected":
        this.#election.onElected(term());
        this.#leadership.onElected(term());
        return;
      case "replica.install.begun":
        this.#install.onBegun();
        return;
      default:
        return;
    }
  }

  /** The process hands over a write. */
  onWrite(append: AppendEffect): void {
    this.#leadership.onWrite(append);
  }

  /** The process has read all its messages; `writing` is the log write in flight. */
  onTurn(status: ReplicaStatus, writing: Writing | null): void {
    this.#election.onTurn(status.role, status.term);
    this.#leadership.onTurn(status);
    this.#follower.onTurn(status, writing);
    this.#ticks.onTurn();
  }
}
