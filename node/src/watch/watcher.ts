/** One watch: its position and its state. Only the hub changes it. */

import type { Subscriber, WatchRequest } from "./subscriber.ts";

export class Watcher {
  /** Counts the streams of this process. */
  readonly number: number;
  /** When it was opened, in monotonic milliseconds. */
  readonly openedMs: number;
  readonly request: WatchRequest;
  readonly subscriber: Subscriber;
  /** The first revision that it gets. */
  readonly start: number;
  /** All requested changes below this revision have been sent. */
  #next: number;
  /** Changes of the next revision that have been sent, or do not concern it. */
  #nextFrom = 0;
  /** Whether none of its changes is unsent. Then it counts as up to date with everything published. */
  #isLive: boolean;
  isCreated = false;
  /** A message is in flight: the hub sends nothing else until it is taken. */
  isSending = false;
  /** When it got its last message, in monotonic milliseconds. */
  sentMs: number;

  constructor(
    number: number,
    request: WatchRequest,
    subscriber: Subscriber,
    next: number,
    isLive: boolean,
    nowMs: number,
  ) {
    this.number = number;
    this.openedMs = nowMs;
    this.request = request;
    this.subscriber = subscriber;
    this.start = next;
    this.#next = next;
    this.#isLive = isLive;
    this.sentMs = nowMs;
  }

  get next(): number {
    return this.#next;
  }

  get nextFrom(): number {
    return this.#nextFrom;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** All requested changes up to this revision have been sent, given the published revision. */
  sentRevision(publishedRevision: number): number {
    return this.#isLive ? Math.max(publishedRevision, this.#next - 1) : this.#next - 1;
  }

  /** A change at this revision concerns it, or may: the hub must read from there. */
  fallBehind(revision: number): void {
    if (this.#isLive && revision >= this.#next) {
      this.#next = revision;
      this.#isLive = false;
    }
  }

  /** The hub has read everything up to the revision for it; `isAll` = that is all that was published. */
  onRead(revision: number, isAll: boolean): void {
    this.#next = revision + 1;
    this.#nextFrom = 0;
    this.#isLive = isAll;
  }

  /** The hub has read everything below the revision for it, and that many of the changes of the revision. */
  onReadPart(revision: number, changes: number): void {
    this.#next = revision;
    this.#nextFrom = changes;
  }
}
