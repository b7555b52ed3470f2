/**
 * Judges the holds of one lock, one after the other: that nobody was granted the lock before the one ahead gave it back.
 * As each hold has a token that is no older than its grant, tokens strictly grow then.
 */
export class HoldOrder {
  #releasedAt = 0n;

  /**
   * The next hold, in the order of the grants. Raises an error if it overlaps the one before.
   *
   * @param token a revision at which it was held.
   * @param releasedAt the revision after it was given back.
   */
  add(token: bigint, releasedAt: bigint): void {
    if (token < this.#releasedAt) {
      throw new Error(`a lock was held at revision ${token}, but the hold before it ended at ${this.#releasedAt}`);
    }
    if (releasedAt <= token) {
      throw new Error(`a lock was held at revision ${token}, but given back at ${releasedAt}`);
    }
    this.#releasedAt = releasedAt;
  }
}
