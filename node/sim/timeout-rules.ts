/**
 * That members wait for different times before they stand for election (P36), seen over a whole run.
 *
 * Each campaign has a timeout of its own. What a member waited before one of them is as long as what it waited before
 * its last one in a few cases only; that it always is, in many, means that timeouts are not drawn anew.
 */

import type { CoreLimits } from "../src/raft/index.ts";
import { must } from "./rule-violation.ts";
import { isUnhindered, TICK_MS, type TickCount } from "./tick-count.ts";

/** Times that differ by no more are the same, in ticks: they are measured from the moment in which something was read. */
const SAME_TICKS = 1.25;
/** A timeout may look shorter by so many ticks from outside than it is. */
const TICKS_OFF = 2;
/**
 * So many pairs of times in a row are never all the same by chance: of two out of twenty, that is one case in seven.
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
    must(this.#isAnyDifferent || this.#same < PAIRS_NEEDED, "P36 timeouts are drawn anew", () => {
      return `m${id} has waited for ${waited.toFixed(1)} ticks, as before, and so did all others`;
    });
  }
}

/** The times that one process waits. */
export class Timeouts {
  readonly #ticks: TickCount;
  readonly #onPair: (beforeTicks: number, waitedTicks: number) => void;
  /** When the present one began, by the clock of the process; null if nobody outside knows. */
  #beganMs: number | null;
  #before: number | null = null;

  constructor(ticks: TickCount, onPair: (beforeTicks: number, waitedTicks: number) => void) {
    this.#ticks = ticks;
    this.#onPair = onPair;
    this.#beganMs = ticks.clock.monotonicMs();
  }

  /** It waits anew from now on. */
  onBegin(): void {
    this.#beganMs = this.#ticks.clock.monotonicMs();
  }

  /** It waits anew since a moment that cannot be seen. */
  onUnknown(): void {
    this.#beganMs = null;
  }

  /** It has waited long enough, and waits anew. */
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
