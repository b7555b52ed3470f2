/**
 * What answers show of one thing that lives for a time: a hold of a lock, or a session. It begins once, is live until its
 * end, and never comes back. All facts here are certain, whatever the outcome of the unknown operations.
 */

import type { ClockLimits, ExpiryLimits } from "./expiries.ts";

/** The times of an operation, in milliseconds of the recorder's clock. */
interface Timed {
  readonly startMs: number;
  readonly endMs: number;
}

/** One bound of what is known, and the operation that showed it. */
export interface KnownBound<By> {
  readonly at: number;
  readonly by: By | null;
}

const NEVER = { at: Number.NEGATIVE_INFINITY, by: null };
const NOT_YET = { at: Number.POSITIVE_INFINITY, by: null };

export abstract class Life<By extends Timed> {
  /** Operations that may have ended it before its time. */
  readonly enders: By[] = [];
  /** The last revision and the last time at which it was still live. */
  lastRevision: KnownBound<By> = NEVER;
  lastMs: KnownBound<By> = NEVER;
  /** The first time at which it had certainly begun. */
  firstMs: KnownBound<By> = NOT_YET;
  /** The first revision and the first time at which it was no longer live. */
  goneRevision: KnownBound<By> = NOT_YET;
  goneMs: KnownBound<By> = NOT_YET;

  /** The earliest time at which it can expire, unless an operation ends it. */
  abstract earliestExpiryMs(limits: ClockLimits): number;

  /** The latest time at which it can still be live. */
  abstract latestExpiryMs(limits: ExpiryLimits): number;

  /** The operation shows it live: at the revision, if known, and at some time within the operation. */
  see(by: By, revision: number | null): void {
    this.lastMs = later(this.lastMs, { at: by.startMs, by });
    this.firstMs = earlier(this.firstMs, { at: by.endMs, by });
    if (revision !== null) {
      this.lastRevision = later(this.lastRevision, { at: revision, by });
    }
  }

  /** The operation shows it gone: at the revision, if known, and at some time within the operation. */
  miss(by: By, revision: number | null): void {
    this.goneMs = earlier(this.goneMs, { at: by.endMs, by });
    if (revision !== null) {
      this.goneRevision = earlier(this.goneRevision, { at: revision, by });
    }
  }
}

/**
 * The rules that the life breaks, in words: what has ended is never live again, nothing ends before its time unless an
 * operation ends it, and nothing lives long after its time.
 *
 * @param what the kind of the thing, such as "hold"
 */
export function contradictionsOfLife<By extends Timed>(
  what: string,
  name: number,
  life: Life<By>,
  limits: ExpiryLimits,
  describe: (by: By) => string,
): readonly string[] {
  const { lastRevision, lastMs, goneRevision, goneMs, enders } = life;
  const shown = ({ by }: KnownBound<By>): string => (by === null ? "no operation" : describe(by));
  const wrong: string[] = [];
  if (lastRevision.at >= goneRevision.at) {
    wrong.push(
      `a ${what} that has ended is never live again: ${name} was live at ${lastRevision.at} for ` +
        `${shown(lastRevision)}, and gone at ${goneRevision.at} for ${shown(goneRevision)}`,
    );
  }
  if (lastMs.at > goneMs.at) {
    wrong.push(
      `a ${what} that has ended is never live again: ${name} was live for ${shown(lastMs)}, which began when ` +
        `${shown(goneMs)} had ended, for which it was gone`,
    );
  }
  const earliestMs = life.earliestExpiryMs(limits);
  if (goneMs.at < earliestMs && !enders.some(({ startMs }) => startMs <= goneMs.at)) {
    const early = (earliestMs - goneMs.at).toFixed(3);
    wrong.push(`no ${what} ends before its time: ${name} was gone ${early} ms early for ${shown(goneMs)}`);
  }
  if (lastMs.at > life.latestExpiryMs(limits)) {
    wrong.push(`an expired ${what} is gone soon: ${name} was still live for ${shown(lastMs)}`);
  }
  return wrong;
}

export function later<By>(one: KnownBound<By>, other: KnownBound<By>): KnownBound<By> {
  return other.at > one.at ? other : one;
}

export function earlier<By>(one: KnownBound<By>, other: KnownBound<By>): KnownBound<By> {
  return other.at < one.at ? other : one;
}
