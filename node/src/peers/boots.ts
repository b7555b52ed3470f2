/**
 * The highest boot seen of each incarnation.
 *
 * A boot below one that was seen belongs to an older copy of a data directory, or to a process that is no more: nothing
 * that it says counts. Lives as long as this process.
 */
export class Boots {
  readonly #seen = new Map<string, number>();

  /** The highest boot seen of the incarnation, 0 for none. */
  seen(incarnation: string): number {
    return this.#seen.get(incarnation) ?? 0;
  }

  /** Takes note of a boot, which is not below the one seen; returns whether a lower one was seen before. */
  note(incarnation: string, boot: number): boolean {
    const before = this.seen(incarnation);
    this.#seen.set(incarnation, Math.max(before, boot));
    return before > 0 && boot > before;
  }

  /** Forgets all incarnations but these, so that those of former members do not pile up. */
  keepOnly(incarnations: ReadonlySet<string>): void {
    for (const incarnation of this.#seen.keys()) {
      if (!incarnations.has(incarnation)) {
        this.#seen.delete(incarnation);
      }
    }
  }
}
