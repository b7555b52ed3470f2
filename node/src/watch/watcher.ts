/** One watch: how far it has come, and what it is doing. Its transitions are those of the hub. */

import type { Subscriber, WatchRequest } from "./subscriber.ts";

export class Watcher {
  readonly request: WatchRequest;
  readonly subscriber: Subscriber;
  /** The first revision that it is told of. */
  readonly start: number;
  /** Everything it asked for below this revision has been told. */
  #next: number;
  /** Whether nothing that it watches was published since; then everything that was published counts as told. */
  #isLive: boolean;
  isCreated = false;
  /** A message is on its way: nothing else is sent before it is taken. */
  isSending = false;
  /** When it was last told something, in monotonic milliseconds. */
  toldMs: number;

  constructor(request: WatchRequest, subscriber: Subscriber, next: number, isLive: boolean, nowMs: number) {
    this.request = request;
    this.subscriber = subscriber;
    this.start = next;
    this.#next = next;
    this.#isLive = isLive;
    this.toldMs = nowMs;
  }

  get next(): number {
    return this.#next;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** Everything that it asked for up to this revision has been told, given what has been published. */
  toldRevision(publishedRevision: number): number {
    return this.#isLive ? Math.max(publishedRevision, this.#next - 1) : this.#next - 1;
  }

  /** A change at this revision concerns it, or may: it has to be read from there on. */
  fallBehind(revision: number): void {
    if (this.#isLive && revision >= this.#next) {
      this.#next = revision;
      this.#isLive = false;
    }
  }

  /** Everything up to the revision has been read for it, which is all that was published if `isAll`. */
  onRead(revision: number, isAll: boolean): void {
    this.#next = revision + 1;
    this.#isLive = isAll;
  }
}
