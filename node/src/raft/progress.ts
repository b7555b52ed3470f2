/**
 * What the leader knows of one peer, and every transition of it.
 *
 * probe: one Append until it is answered. replicate: entries are sent optimistically within a window of messages and
 * bytes. snapshot: heartbeats only, until the peer has the state that the log no longer reaches back to. `match` is
 * what the peer has durably acknowledged in this term and never falls but for announced damage; `next` is the index
 * that is sent next.
 *
 *     probe ──accepted──▶ replicate ──refused, busy, connection lost, stalled──▶ probe
 *     probe, replicate ──next before the log──▶ snapshot ──accepted ≥ first − 1──▶ replicate
 *                                                 └──failed, taken over without an answer──▶ probe
 */

import { invariant } from "./violation.ts";

export type ProgressState = "probe" | "replicate" | "snapshot";

/** How much may be under way to one peer. */
export interface WindowLimits {
  readonly messagesMax: number;
  readonly bytesMax: number;
}

/** Ticks after which a failed snapshot is tried again: doubled with each failure, between 1 s and 30 s. */
const SNAPSHOT_RETRY_TICKS_MIN = 20;
const SNAPSHOT_RETRY_TICKS_MAX = 600;
/** Ticks (30 s) that a peer has, once it was sent everything, to take the snapshot over. */
const SNAPSHOT_TAKEOVER_TICKS_MAX = 600;

export class Progress {
  readonly id: number;
  /** Tick at which anything was last heard of the peer; −∞ = never. */
  lastHeardTick = Number.NEGATIVE_INFINITY;
  /** Highest read position that the peer has confirmed in this term. */
  readPosition = 0;
  /** Commit and applied index that the peer last reported. */
  commit = 0;
  applied = 0;
  /** The peer's disk is full: it must not be asked to lead. */
  diskFull = false;
  /** Somebody at the peer waits for whatever is committed next, as far as is known. */
  isWatched = true;
  #state: ProgressState = "probe";
  #match = 0;
  #next: number;
  /** Commit index that the peer was last told. */
  #commitSent = 0;
  /** Highest index that somebody at the peer waits for. */
  #awaitedIndex = 0;
  /** An Append is to be sent even if it is empty: it shows whether earlier ones were lost (P39). */
  #isAskedAgain = false;
  /** probe: an Append is unanswered. */
  #isProbeSent = false;
  /** snapshot: index of the snapshot that is under way, 0 = none yet. */
  #snapshotIndex = 0;
  /** snapshot: tick at which all of it had been sent, +∞ = not yet. */
  #snapshotSentTick = Number.POSITIVE_INFINITY;
  #snapshotRetryTicks = SNAPSHOT_RETRY_TICKS_MIN;
  #snapshotNotBeforeTick = 0;
  readonly #window: Window;
  /** Tick at which the window last moved by an answer, or was empty. */
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

  /** Index of the entry that is sent next. */
  get next(): number {
    return this.#next;
  }

  /** Whether no Append may be sent now. */
  get isPaused(): boolean {
    if (this.#state === "snapshot") {
      return true;
    }
    return this.#state === "probe" ? this.#isProbeSent : this.#window.isFull;
  }

  /** Index of the snapshot that is under way, 0 = none. */
  get snapshotIndex(): number {
    return this.#snapshotIndex;
  }

  /** Messages with entries under way, and how many may be. */
  get inFlight(): number {
    return this.#window.count;
  }

  get inFlightMax(): number {
    return this.#window.messagesMax;
  }

  /** The peer is told in a heartbeat that it holds everything up to the index, and that this is committed. */
  told(commit: number): void {
    this.#commitSent = Math.max(this.#commitSent, commit);
  }

  /** Somebody at the peer waits for the entry to be committed there. */
  awaits(index: number): void {
    this.#awaitedIndex = Math.max(this.#awaitedIndex, index);
  }

  /**
   * Whether an Append without entries is of use: as a probe, or to tell the commit index to those who wait at the peer.
   * If nobody does, it is told with the next entries, or with the next heartbeat.
   */
  mayWantEmptyAppend(commit: number): boolean {
    const isAwaited = this.isWatched || this.#commitSent < this.#awaitedIndex;
    return this.wantsReply || (isAwaited && this.#commitSent < commit);
  }

  /** Whether an Append without entries is a question: what the peer holds is not known, or may have been lost. */
  get wantsReply(): boolean {
    return this.#state === "probe" || this.#isAskedAgain;
  }

  // ---- Entries ----

  /** What was under way is lost: what the peer acknowledged last is where to go on, or else what was tried last. */
  becomeProbe(): void {
    if (this.#state === "replicate") {
      this.#next = this.#match + 1;
    }
    this.#reset("probe");
  }

  /** An Append up to this index, of so many bytes of entries and with this commit index, was handed out. */
  sent(lastIndex: number, bytes: number, commit: number, tick: number): void {
    invariant(!this.isPaused, "a peer that is paused is sent no entries", () => `${this.id} ${this.#state}`);
    this.#isAskedAgain = false;
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
  accepted(index: number, first: number, tick: number): boolean {
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
   * The peer's log does not hold the entry at `index`; it may match at `hint`. Returns whether the answer is news: a
   * refusal of something that is known to match, or of another probe than the last, is old (P34).
   */
  refused(index: number, hint: number): boolean {
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

  /** A heartbeat was answered by a peer that reports `commit`; the leader's log holds first..last. */
  heartbeatAnswered(first: number, last: number): void {
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
          // What is under way may all be lost: one more Append shows it (P39).
          this.#window.freeOneIfFull();
          this.#isAskedAgain = true;
        }
        return;
    }
  }

  /** The peer took no entries, because too much waits there: half the window, and not before its next sign of life. */
  slowDown(): void {
    if (this.#state === "replicate") {
      this.#window.halve();
      this.becomeProbe();
      this.#isProbeSent = true;
    }
  }

  /** Whether a full window has not moved for so many ticks. */
  isStalled(tick: number, ticks: number): boolean {
    return this.#state === "replicate" && this.#window.isFull && tick - this.#movedTick >= ticks;
  }

  // ---- Connections ----

  /** The connection was replaced or could not take a message: what was under way is lost. */
  disconnected(): void {
    const isStreaming = this.#snapshotIndex > 0 && this.#snapshotSentTick === Number.POSITIVE_INFINITY;
    if (!isStreaming) {
      this.becomeProbe();
    }
  }

  /** The peer has lost acknowledged data: nothing that it said counts any more. */
  forgetMatch(): void {
    this.#match = 0;
    this.commit = 0;
    this.applied = 0;
    // It may still have most of its log, so it is asked where it was.
    this.#reset("probe");
  }

  // ---- Snapshots ----

  /** The log no longer reaches back to what the peer needs. */
  becomeSnapshot(): void {
    this.#reset("snapshot");
  }

  /** Whether a snapshot should be sent now: none is under way, and the last failure is long enough ago. */
  wantsSnapshot(tick: number): boolean {
    return this.#state === "snapshot" && this.#snapshotIndex === 0 && !this.isBackingOff(tick);
  }

  /** Whether a snapshot failed so recently that the next has to wait. */
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

  /** All of the snapshot was sent; what the peer reports next shows whether it took it over. */
  snapshotSent(tick: number): void {
    if (this.#snapshotIndex > 0) {
      this.#snapshotSentTick = tick;
    }
  }

  /** The snapshot was not taken over: another follows later, the later the more have failed. */
  snapshotFailed(tick: number): void {
    if (this.#state === "snapshot") {
      this.#snapshotNotBeforeTick = tick + this.#snapshotRetryTicks;
      this.#snapshotRetryTicks = Math.min(this.#snapshotRetryTicks * 2, SNAPSHOT_RETRY_TICKS_MAX);
      this.becomeProbe();
    }
  }

  /** Whether the peer was sent a whole snapshot long ago and still does not report its index. */
  isSnapshotOverdue(tick: number): boolean {
    return this.#state === "snapshot" && tick - this.#snapshotSentTick >= SNAPSHOT_TAKEOVER_TICKS_MAX;
  }

  /** How far the peer's log surely equals the leader's, which ends at `last`. Not durable there, so it is no match. */
  #committedPart(last: number): number {
    return Math.min(this.commit, last);
  }

  /** The peer has everything up to `reached`: the log goes on from there, or, if it begins later, another snapshot. */
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
    this.#isAskedAgain = false;
    this.#snapshotIndex = 0;
    this.#snapshotSentTick = Number.POSITIVE_INFINITY;
    this.#window.clear();
  }
}

/** The messages under way to a peer: last index and bytes of each, oldest first, in rings. */
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

  /** Frees the messages up to the index; a window that was halved grows again as it moves. */
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

  /** Half as many messages from now on, at least one. */
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
