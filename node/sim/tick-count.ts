/**
 * The ticks that a process may have counted, as far as its clock shows: never fewer than it has.
 *
 * A tick is due every 50 ms of its monotonic clock, and after a stall no more than 19 are made up for (P55), so that
 * nobody gives a leader up before it has looked at what that has sent meanwhile.
 */

export interface TickClock {
  monotonicMs(): number;
  /** When timers were looked at last. */
  readonly roundMs: number;
  /** Milliseconds since the process could not do what was due; not more than there are. */
  readonly unhinderedMs: number;
}

/** Milliseconds of a tick, by the clock of the process. */
export const TICK_MS = 50;
const CATCH_UP_TICKS_MAX = 19;
/** What clocks run wrong by, and a little: what is longer than this share of a time by one is longer by any other. */
const CLOCK_SHARE = 0.9;

/** Whether nothing has hindered the process for so long, by its own clock. */
export function isUnhindered({ unhinderedMs }: TickClock, spanMs: number): boolean {
  return unhinderedMs * CLOCK_SHARE > spanMs;
}

export class TickCount {
  readonly clock: TickClock;
  readonly #startMs: number;
  #past = 0;
  #due = 0;

  constructor(clock: TickClock) {
    this.clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  /** Those of all turns that are over. */
  get past(): number {
    return this.#past;
  }

  /** Those of the present turn with them: they were counted when timers were looked at (P55). */
  get present(): number {
    return this.#past + Math.min(this.#dueNow() - this.#due, CATCH_UP_TICKS_MAX);
  }

  /** A turn is over. */
  onTurn(): void {
    this.#past = this.present;
    this.#due = this.#dueNow();
  }

  #dueNow(): number {
    return Math.floor((this.clock.roundMs - this.#startMs) / TICK_MS);
  }
}
