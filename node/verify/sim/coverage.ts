/** What runs have reached: marks of the program, and types of frames by the role of their reader. */

export class Coverage {
  readonly #counts = new Map<string, number>();

  /** Names with the number of times each was reached. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  onMark(name: string): void {
    this.#add(name, 1);
  }

  /** A member of the role gets a frame of the type. */
  onFrame(role: string, type: string): void {
    this.#add(pairOf(role, type), 1);
  }

  /** Adds what another run has reached. */
  add(counts: ReadonlyMap<string, number>): void {
    for (const [name, count] of counts) {
      this.#add(name, count);
    }
  }

  #add(name: string, count: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }
}

/** The name of a pair. */
export function pairOf(role: string, type: string): string {
  return `${role} reads ${type}`;
}
