/**
 * The number of ticks that a process may have counted, as far as its clock shows: never below the real count.
 *
 * A tick is due every 50 ms of its monotonic clock. After a stall, the process makes up for at most 19 ticks (P55). So
 * no member gives its leader up before it has read what the leader sent meanwhile.
 */

export interface TickClock {
  monotonicMs(): number;
  /** When timers were last checked. */
  readonly roundMs: number;
  /** Milliseconds since the process was last hindered; never more than the real time. */
  readonly unhinderedMs: number;
}

/** Milliseconds of a tick, by the clock of the process. */
export const TICK_MS = 50;
const CATCH_UP_TICKS_MAX = 19;
/**
 * The error of clocks, and a margin: a span that is longer than this share of a time by one clock is longer by any
 * other.
 */
const CLOCK_SHARE = 0.9;

/** Whether the process was not hindered for this long, by its own clock. */
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

  /** Ticks of all turns that are over. */
  get past(): number {
    return this.#past;
  }

  /** The same with the ticks of the present turn, which were counted when timers were checked (P55). */
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
