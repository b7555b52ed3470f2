/**
 * How far the leaders of each term have committed: a leader of a later term must have that, and no more.
 *
 * Votes and acknowledgements may arrive late. So there may be a leader of an earlier term than that of the newest
 * commit, which lacks later commits. And a leader may commit entries that a later leader has committed long before.
 */
export class CommitRecord {
  readonly #indexes = new Map<number, number>();

  /** The leader of the term has committed up to this index. Returns whether it is the first leader to do so. */
  onCommit(term: number, index: number): boolean {
    const isNew = index > this.below(Number.POSITIVE_INFINITY);
    this.#indexes.set(term, Math.max(index, this.#indexes.get(term) ?? 0));
    return isNew;
  }

  /**
   * How far the leaders of all terms below this one have committed; 0 = not at all (Raft §5.4, leader completeness).
   */
  below(term: number): number {
    const indexes = [...this.#indexes].filter(([one]) => one < term).map(([, index]) => index);
    return Math.max(0, ...indexes);
  }
}
