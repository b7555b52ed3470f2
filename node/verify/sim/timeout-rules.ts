/**
 * Members wait for different times before they become candidates (P36), checked over a whole run.
 *
 * Each campaign has a timeout of its own. Two consecutive waits of a member are equal in a few cases only. If many
 * pairs are all equal, timeouts are not drawn randomly each time.
 */

import type { CoreLimits } from "../../src/raft/index.ts";
import { must } from "./rule-violation.ts";
import { isUnhindered, TICK_MS, type TickCount } from "./tick-count.ts";

/** Times that differ by no more count as equal, in ticks: the start is the moment of the last read. */
const SAME_TICKS = 1.25;
/** A timeout may look shorter by this many ticks from outside than it is. */
const TICKS_OFF = 2;
/**
 * This many pairs are never all equal by chance: two draws of twenty values count as equal in one case of
 * seven.
 */
const PAIRS_NEEDED = 12;

export class TimeoutRules {
  readonly #limits: CoreLimits;
  #same = 0;
  #isAnyDifferent = false;

  constructor(limits: CoreLimits) {
    this.#limits = limits;
  }

  ofProcess(id: number, ticks: TickCount): Timeouts {
    const { electionTicksMin, electionTicksMax } = this.#limits;
    return new Timeouts(ticks, (before, waited) => {
      if (
        Math.max(before, waited) <= electionTicksMax + SAME_TICKS &&
        Math.min(before, waited) >= electionTicksMin - TICKS_OFF
      ) {
        this.#compare(id, before, waited);
      }
    });
  }

  #compare(id: number, before: number, waited: number): void {
    this.#isAnyDifferent ||= Math.abs(before - waited) > SAME_TICKS;
    this.#same++;
    must(this.#isAnyDifferent || this.#same < PAIRS_NEEDED, "P36 each timeout has a new draw", () => {
      return `m${id} has waited for ${waited.toFixed(1)} ticks, as before, and so did all others`;
    });
  }
}

/** The timeouts of one process. */
export class Timeouts {
  readonly #ticks: TickCount;
  readonly #onPair: (beforeTicks: number, waitedTicks: number) => void;
  /** When the present timeout began, by the clock of the process; null if that cannot be seen from outside. */
  #beganMs: number | null;
  #before: number | null = null;

  constructor(ticks: TickCount, onPair: (beforeTicks: number, waitedTicks: number) => void) {
    this.#ticks = ticks;
    this.#onPair = onPair;
    this.#beganMs = ticks.clock.monotonicMs();
  }

  /** A new timeout begins now. */
  onBegin(): void {
    this.#beganMs = this.#ticks.clock.monotonicMs();
  }

  /** A new timeout has begun at a moment that cannot be seen. */
  onUnknown(): void {
    this.#beganMs = null;
  }

  /** Its timeout is over, and a new one begins. */
  onCampaign(): void {
    const { clock } = this.#ticks;
    const nowMs = clock.monotonicMs();
    if (this.#beganMs !== null && isUnhindered(clock, nowMs - this.#beganMs)) {
      const waited = (nowMs - this.#beganMs) / TICK_MS;
      if (this.#before !== null) {
        this.#onPair(this.#before, waited);
      }
      this.#before = waited;
    }
    this.#beganMs = nowMs;
  }
}
