/**
 * The event loop of one simulated process, with its clocks.
 *
 * A round is that of Node: due timers, then arrived events, then callbacks that have requested a turn. While the
 * process is paused or busy, everything waits in the same order. A process can be made to die at any of its steps: the
 * callbacks, and the points at which it touches the world.
 */

import { InvariantViolation } from "../../src/primitives/index.ts";
import type { Clock, Scheduler } from "../../src/replica/index.ts";
import type { EventHeap } from "./event-heap.ts";
import type { RandomStream } from "./random.ts";

interface Timer {
  readonly intervalMs: number;
  readonly callback: () => void;
  dueMs: number;
}

export interface ProcessLoopOptions {
  readonly heap: EventHeap;
  readonly random: RandomStream;
  /** Milliseconds of its monotonic clock in one of the run. */
  readonly rate: number;
  /** Its wall clock at the beginning of the run. */
  readonly wallStartMs: number;
  /** The process dies here and now, in the middle of its work. */
  readonly onCrash: () => void;
  /** A round is over. */
  readonly onRound: () => void;
  /** The program has passed a mark. */
  readonly onMark: (name: string) => void;
}

/** Ends all work of a process when it dies. */
class Death extends Error {}

/** Shortest duration of a round, in milliseconds. */
const ROUND_MS_MIN = 0.005;
const ROUND_MS_MAX = 0.08;
/** The monotonic clock of a process begins at an arbitrary time. */
const MONOTONIC_START_MS = 5_000.25;

let running: ProcessLoop | null = null;

/** The process of the running callback passes a point at which it may be killed. */
export function passPoint(): void {
  running?.passPoint();
}

/** Does something outside the process of the running callback: its marks and points belong to no process. */
export function unwatched(action: () => void): void {
  const outer = running;
  running = null;
  try {
    action();
  } finally {
    running = outer;
  }
}

/** Ends the process of the running callback, because it cannot go on. */
export function die(): never {
  throw new Death();
}

/** The process of the running callback has passed a mark of the program. */
export function passMark(name: string): void {
  running?.passMark(name);
}

export class ProcessLoop implements Clock, Scheduler {
  readonly #options: ProcessLoopOptions;
  readonly #startedMs: number;
  #wallJumpMs = 0;
  #immediates: (() => void)[] = [];
  #arrived: (() => void)[] = [];
  #deferred: (() => void)[] = [];
  readonly #timers = new Set<Timer>();
  /** When the next round is due; infinity = none is. */
  #armedMs = Number.POSITIVE_INFINITY;
  #busyUntilMs: number;
  /** The last time at which it could not do its due work. */
  #hinderedMs = Number.NEGATIVE_INFINITY;
  /** Until when its rounds are slow, and how long each takes at most. */
  #slowUntilMs = 0;
  #slowRoundMs = 0;
  /** Its pause in the next round. */
  #roundPauseMs = 0;
  /** When the last round began, by the monotonic clock. */
  #roundMs = MONOTONIC_START_MS;
  /** The round that has begun is not over. */
  #isInRound = false;
  #isDead = false;
  /** Points until it dies; infinity = it lives. */
  #pointsLeft = Number.POSITIVE_INFINITY;

  constructor(options: ProcessLoopOptions) {
    this.#options = options;
    this.#startedMs = options.heap.nowMs;
    this.#busyUntilMs = options.heap.nowMs;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Whether it is paused now. */
  get isPaused(): boolean {
    return this.#busyUntilMs > this.#options.heap.nowMs + ROUND_MS_MAX;
  }

  /** Callbacks that wait for their turn. */
  get waiting(): number {
    return this.#immediates.length + this.#arrived.length + this.#deferred.length;
  }

  /** Milliseconds of the run since it could last not do its due work. */
  get unhinderedMs(): number {
    return this.isPaused ? 0 : this.#options.heap.nowMs - this.#hinderedMs;
  }

  /** When timers were last checked, by the monotonic clock. */
  get roundMs(): number {
    return this.#roundMs;
  }

  monotonicMs(): number {
    const { heap, rate } = this.#options;
    return MONOTONIC_START_MS + (heap.nowMs - this.#startedMs) * rate;
  }

  wallMs(): number {
    const { heap, wallStartMs } = this.#options;
    return Math.floor(wallStartMs + heap.nowMs + this.#wallJumpMs);
  }

  jumpWall(byMs: number): void {
    this.#wallJumpMs += byMs;
  }

  immediate(callback: () => void): void {
    if (!this.#isDead) {
      this.#immediates.push(callback);
      this.#arm(this.#options.heap.nowMs);
    }
  }

  every(intervalMs: number, callback: () => void): () => void {
    const { heap, rate } = this.#options;
    const timer = { intervalMs: intervalMs / rate, callback, dueMs: heap.nowMs + intervalMs / rate };
    this.#timers.add(timer);
    this.#arm(timer.dueMs);
    return () => this.#timers.delete(timer);
  }

  /** Something arrives from outside: a frame or an acknowledgement. */
  arrive(callback: () => void): void {
    if (!this.#isDead) {
      this.#arrived.push(callback);
      this.#arm(this.#options.heap.nowMs);
    }
  }

  /** Calls back as soon as the present callback is over. */
  defer(callback: () => void): void {
    if (running === this) {
      this.#deferred.push(callback);
    } else {
      this.arrive(callback);
    }
  }

  /** The process does nothing for this long. */
  pause(durationMs: number): void {
    this.#busyUntilMs = Math.max(this.#busyUntilMs, this.#options.heap.nowMs + durationMs);
    this.#hinderedMs = this.#busyUntilMs;
  }

  /** The same in the middle of its next round, before requested turns. */
  pauseInRound(durationMs: number): void {
    this.#roundPauseMs = durationMs;
  }

  /** Each round takes up to `roundMs` milliseconds, for `durationMs`. */
  slow(durationMs: number, roundMs: number): void {
    this.#slowUntilMs = this.#options.heap.nowMs + durationMs;
    this.#slowRoundMs = roundMs;
    this.#hinderedMs = Math.max(this.#hinderedMs, this.#slowUntilMs);
  }

  /** It resumes at once, at its usual speed. */
  endPause(): void {
    this.#slowUntilMs = 0;
    this.#hinderedMs = Math.min(this.#hinderedMs, this.#options.heap.nowMs);
    this.#roundPauseMs = 0;
    this.#busyUntilMs = this.#options.heap.nowMs;
    this.#arm(this.#busyUntilMs);
  }

  /** It dies after it has passed this number of points. */
  dieAfter(points: number): void {
    this.#pointsLeft = points;
  }

  passMark(name: string): void {
    this.#options.onMark(name);
    this.passPoint();
  }

  passPoint(): void {
    this.#pointsLeft--;
    if (this.#pointsLeft <= 0) {
      throw new Death();
    }
  }

  /** Ends all activity in it. */
  kill(): void {
    this.#isDead = true;
    this.#timers.clear();
    this.#immediates = [];
    this.#arrived = [];
    this.#deferred = [];
  }

  /** Does something in the process at once, as a callback of its own. */
  run(callback: () => void): void {
    if (this.#isDead) {
      return;
    }
    const outer = running;
    running = this;
    try {
      this.passPoint();
      callback();
      while (this.#deferred.length > 0 && !this.#isDead) {
        (this.#deferred.shift() as () => void)();
      }
    } catch (error) {
      if (!(error instanceof Death)) {
        throw error;
      }
      this.#options.onCrash();
    } finally {
      running = outer;
    }
  }

  /** Does something outside of its callbacks, where code goes on after an `await`; null if the process dies of it. */
  attempt<Result>(action: () => Result): Result | null {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof Death)) {
        throw error;
      }
      this.#options.onCrash();
      return null;
    }
  }

  #arm(atMs: number): void {
    const dueMs = Math.max(atMs, this.#busyUntilMs);
    if (dueMs < this.#armedMs) {
      this.#armedMs = dueMs;
      this.#options.heap.at(dueMs, () => {
        if (this.#armedMs === dueMs) {
          this.#armedMs = Number.POSITIVE_INFINITY;
          this.#round();
        }
      });
    }
  }

  #round(): void {
    const { heap, random, onRound } = this.#options;
    if (this.#isDead) {
      return;
    }
    if (heap.nowMs < this.#busyUntilMs) {
      this.#arm(this.#busyUntilMs);
      return;
    }
    const roundMs = heap.nowMs < this.#slowUntilMs ? this.#slowRoundMs : ROUND_MS_MAX;
    this.#busyUntilMs = heap.nowMs + random.between(ROUND_MS_MIN, roundMs);
    if (!this.#isInRound) {
      this.#beginRound();
    }
    if (this.#roundPauseMs > 0 && !this.#isDead) {
      this.#isInRound = true;
      this.pause(this.#roundPauseMs);
      this.#roundPauseMs = 0;
      this.#arm(this.#busyUntilMs);
      return;
    }
    this.#isInRound = false;
    for (const callback of this.#immediates.splice(0)) {
      this.run(callback);
    }
    if (this.#isDead) {
      return;
    }
    onRound();
    if (this.#immediates.length + this.#arrived.length > 0) {
      this.#arm(heap.nowMs);
    }
    for (const { dueMs } of this.#timers) {
      this.#arm(dueMs);
    }
  }

  /** Runs the due timers, then the arrived events. */
  #beginRound(): void {
    const { heap } = this.#options;
    this.#roundMs = this.monotonicMs();
    for (const timer of [...this.#timers]) {
      if (timer.dueMs <= heap.nowMs && this.#timers.has(timer)) {
        timer.dueMs = heap.nowMs + timer.intervalMs;
        this.run(timer.callback);
      }
    }
    for (const callback of this.#arrived.splice(0)) {
      this.run(callback);
    }
  }
}

/** The kind of failure that an error of the program is, in words. */
export function failureOf(error: unknown): { readonly rule: string; readonly details: string } {
  if (error instanceof InvariantViolation) {
    return { rule: `invariant: ${error.rule}`, details: `${error.details}\n${error.stack ?? ""}` };
  }
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { rule: "an error was raised", details };
}
