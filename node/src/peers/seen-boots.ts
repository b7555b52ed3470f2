/**
 * The highest boot seen for each incarnation.
 *
 * A lower boot belongs to an older copy of a data directory, or to a process that no longer exists: this member ignores
 * everything that it says. The record lives as long as this process.
 */
export class SeenBoots {
  readonly #seen = new Map<string, number>();

  /** The highest boot seen for the incarnation, 0 for none. */
  seen(incarnation: string): number {
    return this.#seen.get(incarnation) ?? 0;
  }

  /** Records a boot, which must not be below the one seen. Returns whether a lower one was seen before. */
  note(incarnation: string, boot: number): boolean {
    const before = this.seen(incarnation);
    this.#seen.set(incarnation, Math.max(before, boot));
    return before > 0 && boot > before;
  }

  /** Forgets all other incarnations, so that those of former members do not accumulate. */
  retainOnly(incarnations: ReadonlySet<string>): void {
    for (const incarnation of this.#seen.keys()) {
      if (!incarnations.has(incarnation)) {
        this.#seen.delete(incarnation);
      }
    }
  }
}
