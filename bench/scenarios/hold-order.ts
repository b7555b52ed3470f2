/**
 * Judges the consecutive holds of one lock: no waiter was granted the lock before the one ahead released it. Each hold
 * has a token that is no older than its grant, so tokens strictly grow.
 */
export class HoldOrder {
  #releasedAt = 0n;

  /**
   * Adds the next hold, in the order of the grants. Raises an error if it overlaps the one before.
   *
   * @param token a revision at which it was held.
   * @param releasedAt the revision after its release.
   */
  add(token: bigint, releasedAt: bigint): void {
    if (token < this.#releasedAt) {
      throw new Error(`a lock was held at revision ${token}, but the hold before it ended at ${this.#releasedAt}`);
    }
    if (releasedAt <= token) {
      throw new Error(`a lock was held at revision ${token}, but released at ${releasedAt}`);
    }
    this.#releasedAt = releasedAt;
  }
}
