/** Waits for the members of a cluster that is left in peace, at the pace of their snapshots. */

/**
 * Number of snapshots for which a wait allows. While members get theirs one after the other, the log goes on, and some
 * need a second one.
 */
export const SNAPSHOTS_MAX = 24;

export interface TogetherOptions {
  /** Lets time pass until the condition holds. Throws if that takes too long. */
  readonly until: (isReached: () => boolean) => Promise<void>;
  readonly isTogether: () => boolean;
  /** The number of snapshots that members have taken over so far. */
  readonly installs: () => number;
}

/**
 * Waits until the members are together. A leader sends a few snapshots at a time, at a limited rate, which some runs
 * make very low. So the limit of `until` is for the next snapshot, and not for all of them.
 */
export async function untilTogether({ until, isTogether, installs }: TogetherOptions): Promise<void> {
  let isDone = false;
  for (let left = SNAPSHOTS_MAX; !isDone; left--) {
    const before = installs();
    await until(() => {
      isDone = isTogether();
      return isDone || (left > 0 && installs() > before);
    });
  }
}
