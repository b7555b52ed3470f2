/**
 * Whether a learner keeps up, so that the leader may promote it (Ongaro 2014 §4.2.1).
 *
 * A round begins at the leader's last index of that moment and ends when the learner has acknowledged it. Two
 * consecutive rounds of less than a second each show that the learner follows at the pace of the log.
 */

/** Rounds must be shorter than this, in ticks of 50 ms. */
const ROUND_TICKS_MAX = 20;
const ROUNDS_NEEDED = 2;

export class CatchUp {
  #target = 0;
  #startedTick = 0;
  #shortRounds = 0;

  /** Whether enough consecutive rounds were short. */
  get isReady(): boolean {
    return this.#shortRounds >= ROUNDS_NEEDED;
  }

  /** The learner has acknowledged everything up to `match`; the leader's log ends at `last`. */
  observe(match: number, last: number, tick: number): void {
    if (this.#target === 0) {
      this.#begin(last, tick);
      return;
    }
    if (match >= this.#target) {
      this.#shortRounds = tick - this.#startedTick < ROUND_TICKS_MAX ? this.#shortRounds + 1 : 0;
      this.#begin(last, tick);
    } else if (tick - this.#startedTick >= ROUND_TICKS_MAX) {
      this.#shortRounds = 0;
    }
  }

  /** Discards all rounds so far. */
  restart(): void {
    this.#target = 0;
    this.#shortRounds = 0;
  }

  #begin(last: number, tick: number): void {
    this.#target = last;
    this.#startedTick = tick;
  }
}
