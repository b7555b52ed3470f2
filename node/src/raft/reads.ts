/**
 * Pending linearizable read points (ReadIndex, Ongaro 2014 §6.4).
 *
 * Each request, of this member or of a follower that asks its leader, gets a position. Positions only grow; a retry
 * gets a new position (P9). One confirmation answers every position up to it. A leader's read point is its commit index
 * when the request arrives, but never below the first entry of its term: only from there on does it know everything
 * that was committed before (P7). A follower's read point comes from the leader.
 */

import { invariant, safeCount } from "../primitives/index.ts";

interface Request {
  readonly position: number;
  /** The leader's commit index when the request arrived; 0 at a follower. */
  readonly index: number;
  /** The follower that asks, 0 = this member itself. */
  readonly peer: number;
  readonly boot: number;
  readonly peerPosition: number;
  readonly requestedTick: number;
}

/** A follower's request that is confirmed. */
export interface ConfirmedRequest {
  readonly peer: number;
  readonly boot: number;
  readonly position: number;
  readonly index: number;
}

export class Reads {
  readonly #max: number;
  #position = 0;
  #requests: Request[] = [];
  #confirmed: { position: number; index: number } | null = null;
  #failed = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** The newest position. */
  get position(): number {
    return this.#position;
  }

  get isEmpty(): boolean {
    return this.#requests.length === 0;
  }

  /** Returns a new position of this member itself. Only a leader uses `commit`. */
  request(commit: number, tick: number): number {
    return this.#add({ index: commit, peer: 0, boot: 0, peerPosition: 0, requestedTick: tick });
  }

  /** Adds a new position for a follower's request. Its confirmation also answers the follower's earlier requests. */
  requestFor(peer: number, boot: number, peerPosition: number, commit: number, tick: number): void {
    this.#add({ index: commit, peer, boot, peerPosition, requestedTick: tick });
  }

  /** A quorum of the leader confirmed all positions up to this one. Returns the followers' requests among them. */
  confirm(position: number, termStart: number, commit: number): ConfirmedRequest[] {
    const replies: ConfirmedRequest[] = [];
    let count = 0;
    for (const request of this.#requests) {
      if (request.position > position) {
        break;
      }
      count++;
      const index = Math.max(request.index, termStart);
      invariant(index <= commit, "read points are committed", () => `${index} > ${commit}`);
      if (request.peer === 0) {
        this.#confirmOwn(request.position, index);
      } else {
        replies.push({ peer: request.peer, boot: request.boot, position: request.peerPosition, index });
      }
    }
    this.#requests = this.#requests.slice(count);
    return replies;
  }

  /** The leader has confirmed this follower's positions up to this one at the index. */
  confirmAt(position: number, index: number): void {
    const waiting = this.#requests.filter((request) => request.position > position);
    if (waiting.length < this.#requests.length) {
      const last = this.#requests[this.#requests.length - waiting.length - 1] as Request;
      this.#requests = waiting;
      this.#confirmOwn(last.position, index);
    }
  }

  /** Whether a request of this member itself has waited for more than this many ticks. */
  hasWaited(tick: number, ticks: number): boolean {
    return this.#requests.some(({ peer, requestedTick }) => peer === 0 && tick - requestedTick > ticks);
  }

  /** The follower has restarted: this member must not answer its earlier requests (P10). */
  forget(peer: number): void {
    this.#requests = this.#requests.filter((request) => request.peer !== peer);
  }

  /** None of the waiting requests will be confirmed; followers ask again by themselves. */
  failAll(): void {
    this.#failOwn();
    this.#requests = [];
  }

  /** Returns a new position that is lost at once, with all earlier ones: no leader can confirm it. */
  refuse(): number {
    this.#position = safeCount(this.#position + 1, "read position");
    this.#failOwn();
    this.#failed = this.#position;
    return this.#position;
  }

  /**
   * This member may serve its own positions up to this one once the index is applied; null if none since the last call.
   */
  takeConfirmed(): { readonly position: number; readonly index: number } | null {
    const confirmed = this.#confirmed;
    this.#confirmed = null;
    return confirmed;
  }

  /** The highest own position lost since the last call, 0 if none. */
  takeFailed(): number {
    const failed = this.#failed;
    this.#failed = 0;
    return failed;
  }

  #add(request: Omit<Request, "position">): number {
    this.#position = safeCount(this.#position + 1, "read position");
    this.#requests.push({ ...request, position: this.#position });
    if (this.#requests.length > this.#max) {
      this.failAll();
    }
    return this.#position;
  }

  /** A loss covers all positions up to one, so this member loses all its own positions together. */
  #failOwn(): void {
    const own = this.#requests.filter(({ peer }) => peer === 0);
    this.#failed = Math.max(this.#failed, own.at(-1)?.position ?? 0);
    this.#requests = this.#requests.filter(({ peer }) => peer !== 0);
  }

  #confirmOwn(position: number, index: number): void {
    this.#confirmed = { position, index: Math.max(index, this.#confirmed?.index ?? 0) };
  }
}
