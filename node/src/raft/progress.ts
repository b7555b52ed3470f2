/**
 * What the leader knows about one peer, and every transition of it.
 *
 * probe: one Append until the peer answers. replicate: the leader sends entries optimistically within a window of
 * messages and bytes. snapshot: heartbeats only, until the peer has the state that the log no longer covers. `match` is
 * what the peer has durably acknowledged in this term; it falls only after announced damage. `next` is the index that
 * the leader sends next.
 *
 *     probe ──accepted──▶ replicate ──refused, busy, connection lost, stalled──▶ probe
 *     probe, replicate ──next before the log──▶ snapshot ──accepted ≥ first − 1──▶ replicate
 *                                                 └──failed, taken over without an answer──▶ probe
 */

import { invariant } from "../primitives/index.ts";

export type ProgressState = "probe" | "replicate" | "snapshot";

/** How many messages and bytes may be in flight to one peer. */
export interface WindowLimits {
  readonly messagesMax: number;
  readonly bytesMax: number;
}

/** Ticks until the leader retries a failed snapshot: doubled with each failure, between 1 s and 30 s. */
const SNAPSHOT_RETRY_TICKS_MIN = 20;
const SNAPSHOT_RETRY_TICKS_MAX = 600;
/** Ticks (30 s) within which a peer that received a whole snapshot must take it over. */
const SNAPSHOT_TAKEOVER_TICKS_MAX = 600;

export class Progress {
  readonly id: number;
  /** Tick at which the leader last heard the peer; −∞ = never. */
  lastHeardTick = Number.NEGATIVE_INFINITY;
  /** Highest read position that the peer has confirmed in this term. */
  readPosition = 0;
  /** Commit and applied index that the peer last reported. */
  commit = 0;
  applied = 0;
  /** The peer's disk is full: the leader must not transfer the leadership to it. */
  diskFull = false;
  /** As far as the leader knows, a client at the peer waits for the next commit. */
  hasWaiters = true;
  #state: ProgressState = "probe";
  #match = 0;
  #next: number;
  /** Commit index that the leader last sent to the peer. */
  #commitSent = 0;
  /** Highest index that a client at the peer waits for. */
  #awaitedIndex = 0;
  /** The leader must send an Append even if it is empty: the answer shows whether earlier ones were lost (P39). */
  #isReplyRequested = false;
  /** probe: an Append is unanswered. */
  #isProbeSent = false;
  /** snapshot: index of the snapshot that is being sent, 0 = none yet. */
  #snapshotIndex = 0;
  /** snapshot: tick at which all of it was sent, +∞ = not yet. */
  #snapshotSentTick = Number.POSITIVE_INFINITY;
  #snapshotRetryTicks = SNAPSHOT_RETRY_TICKS_MIN;
  #snapshotNotBeforeTick = 0;
  readonly #window: Window;
  /** Tick at which an answer last moved the window, or at which it was last empty. */
  #movedTick = 0;

  constructor(id: number, next: number, limits: WindowLimits) {
    this.id = id;
    this.#next = next;
    this.#window = new Window(limits);
  }

  get state(): ProgressState {
    return this.#state;
  }

  /** Highest index that the peer has durably acknowledged in this term. */
  get match(): number {
    return this.#match;
  }

  /** Index of the entry that the leader sends next. */
  get next(): number {
    return this.#next;
  }

  /** Whether the leader may not send an Append now. */
  get isPaused(): boolean {
    if (this.#state === "snapshot") {
      return true;
    }
    return this.#state === "probe" ? this.#isProbeSent : this.#window.isFull;
  }

  /** Index of the snapshot that is being sent, 0 = none. */
  get snapshotIndex(): number {
    return this.#snapshotIndex;
  }

  /** Messages with entries that are in flight; `inFlightMax` is their limit. */
  get inFlight(): number {
    return this.#window.count;
  }

  get inFlightMax(): number {
    return this.#window.messagesMax;
  }

  /** A heartbeat informs the peer that it has everything up to the index, and that this is committed. */
  commitSentTo(commit: number): void {
    this.#commitSent = Math.max(this.#commitSent, commit);
  }

  /** A client at the peer waits until the entry is committed there. */
  awaits(index: number): void {
    this.#awaitedIndex = Math.max(this.#awaitedIndex, index);
  }

  /**
   * Whether an Append without entries is useful: as a probe, or to send the commit index to clients that wait at the
   * peer. If none waits, the next entries or the next heartbeat carry the commit index.
   */
  mayWantEmptyAppend(commit: number): boolean {
    const isAwaited = this.hasWaiters || this.#commitSent < this.#awaitedIndex;
    return this.wantsReply || (isAwaited && this.#commitSent < commit);
  }

  /** Whether an empty Append needs an answer: the leader does not know the peer's log, or messages may be lost. */
  get wantsReply(): boolean {
    return this.#state === "probe" || this.#isReplyRequested;
  }

  // ---- Entries ----

  /** Messages in flight are lost: continue after the last acknowledged entry, or else at the last attempted one. */
  becomeProbe(): void {
    if (this.#state === "replicate") {
      this.#next = this.#match + 1;
    }
    this.#reset("probe");
  }

  /** The leader sent an Append up to this index, with this many bytes of entries and this commit index. */
  sent(lastIndex: number, bytes: number, commit: number, tick: number): void {
    invariant(!this.isPaused, "a peer that is paused is sent no entries", () => `${this.id} ${this.#state}`);
    this.#isReplyRequested = false;
    this.#commitSent = commit;
    if (this.#state === "probe") {
      this.#isProbeSent = true;
      return;
    }
    if (bytes > 0) {
      if (this.#window.count === 0) {
        this.#movedTick = tick;
      }
      this.#window.add(lastIndex, bytes);
      this.#next = lastIndex + 1;
    }
  }

  /**
   * The peer has acknowledged everything up to the index in this term. `first` is the first index of the leader's log.
   * Returns whether match grew.
   */
  acknowledged(index: number, first: number, tick: number): boolean {
    const grew = index > this.#match;
    this.#match = Math.max(this.#match, index);
    this.#next = Math.max(this.#next, index + 1);
    this.#window.freeUpTo(index);
    this.#movedTick = tick;
    if (this.#state === "snapshot") {
      this.#leaveSnapshot(this.#match, first, "replicate");
    } else if (this.#state === "probe" && index === this.#match) {
      this.#becomeReplicate();
    }
    return grew;
  }

  /**
   * The peer's log does not contain the entry at `index`; it may match at `hint`. Returns whether the answer is new. A
   * refusal below the known match, or of an earlier probe, is old (P34).
   */
  rejected(index: number, hint: number): boolean {
    if (index <= this.#match || this.#state === "snapshot") {
      return false;
    }
    if (this.#state === "probe" && index !== this.#next - 1) {
      return false;
    }
    this.#reset("probe");
    this.#next = Math.max(this.#match + 1, Math.min(index, hint + 1));
    return true;
  }

  /** The peer answered a heartbeat and reported `commit`; the leader's log contains first..last. */
  onHeartbeatReply(first: number, last: number): void {
    switch (this.#state) {
      case "probe":
        // The probe may be lost, or may have found the peer busy (P40).
        this.#isProbeSent = false;
        this.#next = Math.max(this.#next, this.#committedPart(last) + 1);
        return;
      case "snapshot":
        this.#leaveSnapshot(this.#committedPart(last), first, "probe");
        return;
      case "replicate":
        if (this.#match < last) {
          // All messages in flight may be lost: the answer to one more Append shows it (P39).
          this.#window.freeOneIfFull();
          this.#isReplyRequested = true;
        }
        return;
    }
  }

  /** The peer is too busy to take entries. Halves the window and sends nothing more until the peer's next answer. */
  slowDown(): void {
    if (this.#state === "replicate") {
      this.#window.halve();
      this.becomeProbe();
      this.#isProbeSent = true;
    }
  }

  /** Whether a full window has not moved for this many ticks. */
  isStalled(tick: number, ticks: number): boolean {
    return this.#state === "replicate" && this.#window.isFull && tick - this.#movedTick >= ticks;
  }

  // ---- Connections ----

  /** The connection was replaced or could not take a message: messages in flight are lost. */
  disconnected(): void {
    const isStreaming = this.#snapshotIndex > 0 && this.#snapshotSentTick === Number.POSITIVE_INFINITY;
    if (!isStreaming) {
      this.becomeProbe();
    }
  }

  /** The peer has lost acknowledged data: its earlier acknowledgements and reports no longer count. */
  forgetMatch(): void {
    this.#match = 0;
    this.commit = 0;
    this.applied = 0;
    // It may still have most of its log, so the leader probes where it was.
    this.#reset("probe");
  }

  // ---- Snapshots ----

  /** The log no longer reaches back to the entries that the peer needs. */
  becomeSnapshot(): void {
    this.#reset("snapshot");
  }

  /**
   * Whether the leader should send a snapshot now: none is in progress, and the backoff after the last failure is over.
   */
  wantsSnapshot(tick: number): boolean {
    return this.#state === "snapshot" && this.#snapshotIndex === 0 && !this.isBackingOff(tick);
  }

  /** Whether a snapshot failed so recently that the next one must wait. */
  isBackingOff(tick: number): boolean {
    return tick < this.#snapshotNotBeforeTick;
  }

  /** A snapshot at the index is being sent. */
  snapshotStarted(index: number): void {
    if (this.#state === "snapshot") {
      this.#snapshotIndex = index;
      this.#snapshotSentTick = Number.POSITIVE_INFINITY;
    }
  }

  /** All of the snapshot was sent; the peer's next report shows whether the peer took it over. */
  snapshotSent(tick: number): void {
    if (this.#snapshotIndex > 0) {
      this.#snapshotSentTick = tick;
    }
  }

  /** The peer did not take the snapshot over. The leader sends another one later; each failure doubles the delay. */
  snapshotFailed(tick: number): void {
    if (this.#state === "snapshot") {
      this.#snapshotNotBeforeTick = tick + this.#snapshotRetryTicks;
      this.#snapshotRetryTicks = Math.min(this.#snapshotRetryTicks * 2, SNAPSHOT_RETRY_TICKS_MAX);
      this.becomeProbe();
    }
  }

  /** Whether the peer received a whole snapshot long ago and still does not report its index. */
  isSnapshotOverdue(tick: number): boolean {
    return this.#state === "snapshot" && tick - this.#snapshotSentTick >= SNAPSHOT_TAKEOVER_TICKS_MAX;
  }

  /**
   * Up to where the peer's log certainly equals the leader's, which ends at `last`. Not durable there, so it is no
   * match.
   */
  #committedPart(last: number): number {
    return Math.min(this.commit, last);
  }

  /**
   * The peer has everything up to `reached`. The log continues from there; if the log begins later, the peer needs
   * another snapshot.
   */
  #leaveSnapshot(reached: number, first: number, next: "probe" | "replicate"): void {
    if (reached >= first - 1) {
      if (next === "replicate") {
        this.#becomeReplicate();
      } else {
        this.becomeProbe();
        this.#next = Math.max(this.#next, reached + 1);
      }
    } else if (this.#snapshotIndex > 0 && reached >= this.#snapshotIndex) {
      this.#reset("snapshot");
    }
  }

  #becomeReplicate(): void {
    this.#reset("replicate");
    this.#next = this.#match + 1;
    this.#snapshotRetryTicks = SNAPSHOT_RETRY_TICKS_MIN;
    this.#snapshotNotBeforeTick = 0;
  }

  #reset(state: ProgressState): void {
    this.#state = state;
    this.#isProbeSent = false;
    this.#isReplyRequested = false;
    this.#snapshotIndex = 0;
    this.#snapshotSentTick = Number.POSITIVE_INFINITY;
    this.#window.clear();
  }
}

/** The messages in flight to a peer: last index and bytes of each, oldest first, in rings. */
export class Window {
  readonly #limits: WindowLimits;
  readonly #indexes: Float64Array;
  readonly #sizes: Float64Array;
  #start = 0;
  #count = 0;
  #bytes = 0;
  #messagesMax: number;

  constructor(limits: WindowLimits) {
    invariant(limits.messagesMax >= 1 && limits.bytesMax >= 1, "a window takes a message");
    this.#limits = limits;
    this.#messagesMax = limits.messagesMax;
    this.#indexes = new Float64Array(limits.messagesMax);
    this.#sizes = new Float64Array(limits.messagesMax);
  }

  /** How many messages may be under way now. */
  get messagesMax(): number {
    return this.#messagesMax;
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= this.#messagesMax || this.#bytes >= this.#limits.bytesMax;
  }

  add(index: number, bytes: number): void {
    invariant(!this.isFull, "a full window takes no message");
    const slot = (this.#start + this.#count) % this.#limits.messagesMax;
    this.#indexes[slot] = index;
    this.#sizes[slot] = bytes;
    this.#count++;
    this.#bytes += bytes;
  }

  /** Frees the messages up to the index; a halved window grows again as it moves. */
  freeUpTo(index: number): void {
    while (this.#count > 0 && (this.#indexes[this.#start] as number) <= index) {
      this.#freeFirst();
      this.#messagesMax = Math.min(this.#messagesMax + 1, this.#limits.messagesMax);
    }
  }

  freeOneIfFull(): void {
    if (this.isFull) {
      this.#freeFirst();
    }
  }

  /** Halves the number of messages that may be in flight, to at least one. */
  halve(): void {
    this.#messagesMax = Math.max(1, this.#messagesMax >> 1);
  }

  clear(): void {
    this.#start = 0;
    this.#count = 0;
    this.#bytes = 0;
  }

  #freeFirst(): void {
    this.#bytes -= this.#sizes[this.#start] as number;
    this.#start = (this.#start + 1) % this.#limits.messagesMax;
    this.#count--;
  }
}
